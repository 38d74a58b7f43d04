package server

import (
	"crypto/sha256"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"plimsoll.dev/internal/auditlog"
	"plimsoll.dev/internal/console"
	"plimsoll.dev/internal/login"
	"plimsoll.dev/internal/pipeline"
)

// Contracts is the use cases of the contracts, for what runs beside the surface.
func (s *Server) Contracts() *pipeline.Service { return s.service }

// newConsole makes the pages of this service.
func (s *Server) newConsole(signer *auditlog.Signer) (*console.Console, error) {
	path, err := s.conf.keyFile()
	if err != nil {
		return nil, err
	}
	key, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the key: %w", err)
	}
	// Every node has the key of the audit log, so a form of one counts at another.
	secret := sha256.Sum256(append([]byte("plimsoll console\x00"), key...))
	conf := console.Config{
		Contracts: s.service, Circle: s.circle, Signer: signer, Log: s.log, Now: time.Now, Version: s.options.Version, Secret: secret[:],
		Client: s.client, Secure: s.secure, Condition: s.measure,
	}
	if s.login != nil {
		conf.SignIn, conf.SignedIn, conf.SignOut = login.Path, s.login.Token, s.login.End
	}
	return console.New(conf)
}

// secure says that a browser came through https: to us, or to a proxy we trust.
func (s *Server) secure(r *http.Request) bool {
	if r.TLS != nil {
		return true
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	return err == nil && within(s.conf.ProxiesFrom, host) && r.Header.Get("X-Forwarded-Proto") == "https"
}
