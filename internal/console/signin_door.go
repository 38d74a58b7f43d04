package console

import (
	"net"
	"net/netip"
	"sync"
	"time"
)

// doors bounds how often an address may try to sign in: a token cannot be
// guessed, and nobody is to try. It bounds as well how many tries that failed are
// audited, of one address and of all.
type doors struct {
	mu    sync.Mutex // guards what follows
	tries map[netip.Prefix]*tried
	all   tried // that were audited
}

type tried struct {
	n, recorded int
	since       time.Time
}

const (
	doorTries   = 30
	doorWindow  = time.Minute
	doorsMost   = 10_000
	doorRecords = 10  // of one address
	allRecords  = 120 // of all together
)

func newDoors() *doors { return &doors{tries: map[netip.Prefix]*tried{}} }

// neighbourhood is what an address is counted as: whoever has one address of
// IPv6 has a network of them.
func neighbourhood(from string) netip.Prefix {
	if host, _, err := net.SplitHostPort(from); err == nil {
		from = host
	}
	ip, err := netip.ParseAddr(from)
	if err != nil {
		return netip.Prefix{}
	}
	ip = ip.Unmap().WithZone("")
	bits := 32
	if ip.Is6() {
		bits = 64
	}
	p, err := ip.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return p
}

// at is what is known of an address in this window.
func (d *doors) at(now time.Time, from string) *tried {
	key := neighbourhood(from)
	t := d.tries[key]
	if t == nil || now.Sub(t.since) > doorWindow {
		if len(d.tries) >= doorsMost {
			clear(d.tries)
		}
		t = &tried{since: now}
		d.tries[key] = t
	}
	return t
}

// admit says whether an address may try.
func (d *doors) admit(now time.Time, from string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.at(now, from)
	t.n++
	return t.n <= doorTries
}

// record says whether a try of an address that failed is to be audited.
func (d *doors) record(now time.Time, from string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if now.Sub(d.all.since) > doorWindow {
		d.all = tried{since: now}
	}
	t := d.at(now, from)
	if t.recorded >= doorRecords || d.all.recorded >= allRecords {
		return false
	}
	t.recorded++
	d.all.recorded++
	return true
}
