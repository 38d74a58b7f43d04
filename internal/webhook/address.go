package webhook

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
)

// Addresses says which subscribers may be called: everybody on the open net
// through https, and whoever the configuration names.
type Addresses struct {
	prefixes []netip.Prefix
	hosts    []string
}

// ParseAddresses reads what the configuration allows beyond the open net: an
// address, a range like 10.1.0.0/16, or a host name.
func ParseAddresses(allowed []string) (*Addresses, error) {
	a := &Addresses{}
	for _, text := range allowed {
		if p, err := netip.ParsePrefix(text); err == nil {
			a.prefixes = append(a.prefixes, p.Masked())
		} else if ip, err := netip.ParseAddr(text); err == nil {
			a.prefixes = append(a.prefixes, netip.PrefixFrom(ip.Unmap(), ip.Unmap().BitLen()))
		} else if text != "" && !strings.ContainsAny(text, "/:@ ") {
			a.hosts = append(a.hosts, strings.ToLower(strings.TrimSuffix(text, ".")))
		} else {
			return nil, fmt.Errorf("%q is no address, range or host name", text)
		}
	}
	return a, nil
}

var errForbidden = errors.New("the address is forbidden")

// Check says why a URL must not be called; the use case gives that its code.
// What a name stands for is found out when it is called.
func (a *Addresses) Check(text string) error {
	forbidden := func(why string) error {
		return errors.New("the address " + why)
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Hostname() == "" || u.Opaque != "" {
		return forbidden("is no URL")
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	named := slices.Contains(a.hosts, host)
	ip, numeric := literal(host)
	allowed := named || numeric && a.inRange(ip)
	switch {
	case u.User != nil:
		return forbidden("holds credentials")
	case u.Fragment != "":
		return forbidden("has a fragment")
	case u.Scheme != "https" && (u.Scheme != "http" || !allowed):
		return forbidden("is not https")
	case allowed:
		return nil
	case numeric && !open(ip):
		return forbidden("is not on the open net")
	case host == "localhost" || strings.HasSuffix(host, ".localhost"):
		return forbidden("is not on the open net")
	case !numeric && looksNumeric(host):
		return forbidden("is a number in a form that resolvers read differently")
	}
	return nil
}

// literal is a host that is an address.
func literal(host string) (netip.Addr, bool) {
	ip, err := netip.ParseAddr(host)
	return ip.WithZone("").Unmap(), err == nil
}

// looksNumeric says whether a host could be taken for an address by an old
// resolver: 2130706433, 0x7f.1 and the like.
func looksNumeric(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	return last != "" && (strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x"))
}

func (a *Addresses) inRange(ip netip.Addr) bool {
	return slices.ContainsFunc(a.prefixes, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// closed is the ranges that are not the open net, besides those that net/netip
// knows by a name.
func closed() []netip.Prefix {
	list := []netip.Prefix{}
	for _, text := range []string{
		"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
		"64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16", "fec0::/10", "::/96",
	} {
		list = append(list, netip.MustParsePrefix(text))
	}
	return list
}

// open says whether an address is on the open net.
func open(ip netip.Addr) bool {
	ip = ip.Unmap()
	if !ip.IsValid() || !ip.IsGlobalUnicast() || ip.IsPrivate() || ip.IsLoopback() || ip.IsLinkLocalUnicast() {
		return false
	}
	return !slices.ContainsFunc(closed(), func(p netip.Prefix) bool { return p.Contains(ip) })
}

type hostKey struct{}

// withHost remembers the name that is dialled, for control, which only sees the
// address it stands for.
func withHost(ctx context.Context, address string) context.Context {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	return context.WithValue(ctx, hostKey{}, strings.ToLower(strings.TrimSuffix(host, ".")))
}

// control looks at every address before it is connected to: a name that resolves
// to another address the second time gains nothing.
func (a *Addresses) control(ctx context.Context, _, address string, _ syscall.RawConn) error {
	port, err := netip.ParseAddrPort(address)
	if err != nil {
		return errForbidden
	}
	ip := port.Addr().WithZone("").Unmap()
	if host, _ := ctx.Value(hostKey{}).(string); slices.Contains(a.hosts, host) {
		return nil
	}
	if open(ip) || a.inRange(ip) {
		return nil
	}
	return errForbidden
}
