package identity_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"plimsoll.dev/internal/fault"
	"plimsoll.dev/internal/identity"
	"plimsoll.dev/internal/request"
)

const (
	origin = "https://circle.example"
	rp     = "circle.example"
)

var noon = time.Date(2026, 5, 1, 12, 0, 5, 0, time.UTC)

func key(fill byte) (k identity.Key) {
	for i := range k {
		k[i] = fill
	}
	return k
}

func prover(t *testing.T, fill byte) *identity.Prover {
	t.Helper()
	p, err := identity.New(identity.Config{Key: key(fill), Name: "plimsoll", Origins: []string{origin}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// refused checks that an answer proves nothing and that the error says no more.
func refused(t *testing.T, what string, p request.Proof, err error) {
	t.Helper()
	if p.Factor != nil || fault.KindOf(err) != fault.Denied || err.Error() != "the answer does not prove who you are" {
		t.Errorf("%s: %+v, %v", what, p.Factor, err)
	}
}

func enrol(t *testing.T, p *identity.Prover, kind request.FactorKind, actor, factor string, have ...*request.Factor) (*request.Challenge, request.Offer) {
	t.Helper()
	e, err := p.Enrol(request.Enrolling{Challenge: "ch-" + factor, Factor: factor, Actor: actor, Kind: kind, Name: "mine", Factors: have})
	if err != nil {
		t.Fatal(err)
	}
	return &request.Challenge{ID: "ch-" + factor, Actor: actor, Kind: kind, Material: e.Material}, e.Offer
}

func ask(t *testing.T, p *identity.Prover, id string, kind request.FactorKind, actor string, have ...*request.Factor) (*request.Challenge, request.Asked) {
	t.Helper()
	a, err := p.Ask(request.Asking{Challenge: id, Actor: actor, Kind: kind, Factors: have})
	if err != nil {
		t.Fatal(err)
	}
	return &request.Challenge{ID: id, Actor: actor, Kind: kind, Material: a.Material}, a
}

func code(t *testing.T, secret string, at time.Time) []byte {
	t.Helper()
	c, err := totp.GenerateCode(secret, at)
	if err != nil {
		t.Fatal(err)
	}
	return []byte(c)
}

func enrolled(t *testing.T, p *identity.Prover, actor, factor string) (*request.Factor, string) {
	t.Helper()
	c, offer := enrol(t, p, request.TOTP, actor, factor)
	proof, err := p.Answer(c, nil, code(t, offer.Secret, noon), noon)
	if err != nil || !proof.New || proof.Factor.ID != factor || proof.Factor.Actor != actor || proof.Factor.Name != "mine" || !proof.Factor.Counts() {
		t.Fatalf("%+v, %v", proof.Factor, err)
	}
	return proof.Factor, offer.Secret
}

func TestACodeProvesItsOwnerOnce(t *testing.T) {
	p := prover(t, 1)
	f, secret := enrolled(t, p, "m-olha", "f-1")
	c, asked := ask(t, p, "ch-2", request.TOTP, "m-olha", f)
	if asked.WebAuthn != nil {
		t.Error("a code needs no browser")
	}
	proof, err := p.Answer(c, []*request.Factor{f}, code(t, secret, noon), noon)
	refused(t, "the code that enrolled it", proof, err)

	later := noon.Add(time.Minute)
	first := code(t, secret, later)
	proof, err = p.Answer(c, []*request.Factor{f}, append(append([]byte{}, first[:3]...), append([]byte(" "), first[3:]...)...), later)
	if err != nil || proof.New || proof.Factor.ID != "f-1" || proof.Factor.Counter != later.Unix()/30 {
		t.Fatalf("the code of now, as apps show it: %+v, %v", proof.Factor, err)
	}
	if f.Counter == proof.Factor.Counter {
		t.Error("the factor that was passed in is changed")
	}
	used := proof.Factor
	proof, err = p.Answer(c, []*request.Factor{used}, first, later)
	refused(t, "the same code again", proof, err)
	proof, err = p.Answer(c, []*request.Factor{used}, code(t, secret, later.Add(-30*time.Second)), later)
	refused(t, "an older code that nobody used", proof, err)
	if _, err = p.Answer(c, []*request.Factor{used}, code(t, secret, later.Add(30*time.Second)), later); err != nil {
		t.Errorf("the code of a clock that is half a minute fast: %v", err)
	}
	for name, at := range map[string]time.Duration{"a minute ago": -time.Minute, "in two minutes": 2 * time.Minute} {
		proof, err = p.Answer(c, []*request.Factor{f}, code(t, secret, later.Add(at)), later)
		refused(t, "the code of "+name, proof, err)
	}
}

func TestWhatIsNoCodeProvesNothing(t *testing.T) {
	p := prover(t, 1)
	f, secret := enrolled(t, p, "m-olha", "f-1")
	c, _ := ask(t, p, "ch-2", request.TOTP, "m-olha", f)
	later := noon.Add(time.Hour)
	right := code(t, secret, later)
	revoked := *f
	revoked.RevokedAt = noon
	unconfirmed := *f
	unconfirmed.ConfirmedAt = time.Time{}
	for name, x := range map[string]struct {
		answer  []byte
		factors []*request.Factor
	}{
		"nothing":              {nil, []*request.Factor{f}},
		"five digits":          {right[:5], []*request.Factor{f}},
		"the secret":           {[]byte(secret), []*request.Factor{f}},
		"a long text":          {bytes.Repeat([]byte("1"), 1<<20), []*request.Factor{f}},
		"a revoked factor":     {right, []*request.Factor{&revoked}},
		"one never answered":   {right, []*request.Factor{&unconfirmed}},
		"no factor":            {right, nil},
		"json":                 {[]byte(`{"id":"x"}`), []*request.Factor{f}},
		"a code and a newline": {append(right, "\n000000"...), []*request.Factor{f}},
	} {
		proof, err := p.Answer(c, x.factors, x.answer, later)
		refused(t, name, proof, err)
	}
	if _, err := p.Ask(request.Asking{Challenge: "ch-3", Actor: "m-olha", Kind: request.TOTP, Factors: []*request.Factor{&revoked, &unconfirmed}}); fault.KindOf(err) != fault.NotFound {
		t.Errorf("a factor that does not count is asked for: %v", err)
	}
}

func TestAKeyProvesItsOwner(t *testing.T) {
	p := prover(t, 1)
	d := newDevice(t, origin, rp, "key-of-olha")
	c, offer := enrol(t, p, request.WebAuthn, "m-olha", "f-1")
	if bytes.Contains(offer.Creation, []byte(b64.EncodeToString([]byte("m-olha")))) {
		t.Error("the handle holds the name")
	}
	proof, err := p.Answer(c, nil, d.create(offer.Creation), noon)
	if err != nil || !proof.New || proof.Factor.Kind != request.WebAuthn {
		t.Fatalf("%+v, %v", proof.Factor, err)
	}
	f := proof.Factor
	if bytes.Contains(f.Material, d.id) {
		t.Error("the key lies open")
	}

	asking, asked := ask(t, p, "ch-2", request.WebAuthn, "m-olha", f)
	if asked.WebAuthn.RelyingParty != rp || len(asked.WebAuthn.Credentials) != 1 || asked.WebAuthn.Credentials[0] != b64.EncodeToString(d.id) {
		t.Fatalf("%+v", asked.WebAuthn)
	}
	answer := d.get(asked.WebAuthn.Challenge)
	proof, err = p.Answer(asking, []*request.Factor{f}, answer, noon)
	if err != nil || proof.New || proof.Factor.Counter != 1 {
		t.Fatalf("%+v, %v", proof.Factor, err)
	}
	used := proof.Factor
	proof, err = p.Answer(asking, []*request.Factor{used}, answer, noon)
	refused(t, "the same answer again: its count does not grow", proof, err)

	other, otherAsked := ask(t, p, "ch-3", request.WebAuthn, "m-olha", used)
	proof, err = p.Answer(other, []*request.Factor{used}, d.get(asked.WebAuthn.Challenge), noon)
	refused(t, "an answer to another challenge", proof, err)
	phishing := *d
	phishing.origin = "https://circle.example.evil.test"
	proof, err = p.Answer(other, []*request.Factor{used}, phishing.get(otherAsked.WebAuthn.Challenge), noon)
	refused(t, "an answer over another origin", proof, err)
	elsewhere := *d
	elsewhere.rp = "evil.test"
	proof, err = p.Answer(other, []*request.Factor{used}, elsewhere.get(otherAsked.WebAuthn.Challenge), noon)
	refused(t, "an answer for another service", proof, err)
	stranger := newDevice(t, origin, rp, "key-of-olha")
	stranger.count = 40
	proof, err = p.Answer(other, []*request.Factor{used}, stranger.get(otherAsked.WebAuthn.Challenge), noon)
	refused(t, "a signature of another key", proof, err)
	gone := *used
	gone.RevokedAt = noon
	proof, err = p.Answer(other, []*request.Factor{&gone}, d.get(otherAsked.WebAuthn.Challenge), noon)
	refused(t, "a key that was revoked since", proof, err)
	if _, err = p.Answer(other, []*request.Factor{used}, d.get(otherAsked.WebAuthn.Challenge), noon); err != nil {
		t.Errorf("and the right one after all these: %v", err)
	}

	again, offer := enrol(t, p, request.WebAuthn, "m-olha", "f-2", used)
	if !bytes.Contains(offer.Creation, []byte(b64.EncodeToString(d.id))) {
		t.Error("the browser is not told which keys are enrolled")
	}
	proof, err = p.Answer(again, []*request.Factor{used}, d.create(offer.Creation), noon)
	refused(t, "the same key enrolled twice", proof, err)
}

// Rows of the database mean nothing in the place of others.
func TestARowServesNobodyElse(t *testing.T) {
	p := prover(t, 1)
	f, secret := enrolled(t, p, "m-olha", "f-1")
	later := noon.Add(time.Minute)
	right := code(t, secret, later)
	c, _ := ask(t, p, "ch-2", request.TOTP, "m-olha", f)

	stolen := *f
	stolen.Actor, stolen.ID = "m-taras", "f-9"
	theirs, _ := enrolled(t, p, "m-taras", "f-8")
	his, _ := ask(t, p, "ch-3", request.TOTP, "m-taras", theirs)
	for name, x := range map[string]struct {
		c *request.Challenge
		f *request.Factor
	}{
		"a factor under another id and actor": {his, &stolen},
		"a factor with another's material":    {his, &request.Factor{ID: theirs.ID, Actor: theirs.Actor, Kind: theirs.Kind, Material: f.Material, ConfirmedAt: noon}},
		"a challenge under another id":        {&request.Challenge{ID: "ch-4", Actor: "m-olha", Kind: request.TOTP, Material: c.Material}, f},
		"a challenge of another":              {&request.Challenge{ID: c.ID, Actor: "m-taras", Kind: request.TOTP, Material: c.Material}, theirs},
		"a challenge that was changed":        {&request.Challenge{ID: c.ID, Actor: "m-olha", Kind: request.TOTP, Material: append([]byte{1}, c.Material...)}, f},
		"an empty challenge":                  {&request.Challenge{ID: c.ID, Actor: "m-olha", Kind: request.TOTP}, f},
	} {
		if proof, err := p.Answer(x.c, []*request.Factor{x.f}, right, later); proof.Factor != nil || fault.KindOf(err) != fault.Internal || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %+v, %v", name, proof.Factor, err)
		}
	}
	proof, err := p.Answer(c, []*request.Factor{theirs}, right, later)
	refused(t, "another's factor beside it", proof, err)
	if _, err := prover(t, 2).Answer(c, []*request.Factor{f}, right, later); fault.KindOf(err) != fault.Internal {
		t.Errorf("another service's key opens it: %v", err)
	}
}

func TestWithoutAnOriginThereIsNoWebAuthn(t *testing.T) {
	p, err := identity.New(identity.Config{Key: key(1)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Enrol(request.Enrolling{Challenge: "c", Factor: "f", Actor: "a", Kind: request.WebAuthn}); fault.KindOf(err) != fault.Invalid || p.Offers(request.WebAuthn) || !p.Offers(request.TOTP) {
		t.Errorf("%v", err)
	}
	for _, bad := range []string{"circle.example", "http://circle.example", "https://", "https://circle.example/path", "ftp://circle.example", "https://user@circle.example"} {
		if _, err := identity.New(identity.Config{Key: key(1), Origins: []string{bad}}); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if _, err := identity.New(identity.Config{Key: key(1), Origins: []string{"http://localhost:8080"}}); err != nil {
		t.Errorf("one's own machine: %v", err)
	}
	if _, err := identity.New(identity.Config{}); fault.KindOf(err) != fault.Invalid {
		t.Errorf("without a key: %v", err)
	}
}

func TestTheKeyIsMadeOnceAndForItsOwnerOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data", "identity.key")
	var group sync.WaitGroup
	keys := make([]identity.Key, 8)
	for i := range keys {
		group.Go(func() {
			k, err := identity.OpenKey(path)
			if err != nil {
				t.Error(err)
			}
			keys[i] = k
		})
	}
	group.Wait()
	for _, k := range keys {
		if k != keys[0] || k == (identity.Key{}) {
			t.Fatal("two processes have two keys")
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", info.Mode(), err)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := identity.OpenKey(path); fault.KindOf(err) != fault.Invalid {
		t.Errorf("a key that others may read: %v", err)
	}
	for i, text := range []string{"", "a password\n", "plimsoll-identity-key-1:AAAA\n", "plimsoll-identity-key-1:" + strings.Repeat("A", 43) + "=\n", strings.Repeat("x", 1<<16)} {
		other := filepath.Join(t.TempDir(), fmt.Sprint(i))
		if err := os.WriteFile(other, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := identity.OpenKey(other); fault.KindOf(err) != fault.Invalid || len(text) > 5 && strings.Contains(err.Error(), text[:6]) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte("123456"), false)
	f.Add([]byte(`{"id":"a2V5","rawId":"a2V5","type":"public-key","response":{"clientDataJSON":"e30","attestationObject":"oA"}}`), true)
	p, err := identity.New(identity.Config{Key: key(1), Origins: []string{origin}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, answer []byte, web bool) {
		kind := request.TOTP
		if web {
			kind = request.WebAuthn
		}
		e, err := p.Enrol(request.Enrolling{Challenge: "c", Factor: "f", Actor: "m", Kind: kind})
		if err != nil {
			t.Fatal(err)
		}
		proof, err := p.Answer(&request.Challenge{ID: "c", Actor: "m", Kind: kind, Material: e.Material}, nil, answer, noon)
		if web || len(answer) < 6 { // six digits may be right by chance
			refused(t, "what nobody signed", proof, err)
		}
	})
}
