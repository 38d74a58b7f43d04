package bundle_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"testing/fstest"

	"plimsoll.dev/internal/auditlog"
	"plimsoll.dev/internal/bundle"
	"plimsoll.dev/internal/pipeline/contract"
)

// Any bytes in the place of any file.
func FuzzVerify(f *testing.F) {
	s := newService(f, "test.example/log")
	good := s.bundle(f, load(f, "high"))
	list := paths(good)
	for i, path := range list {
		f.Add(i, good[path].Data)
		f.Add(i, good[path].Data[:len(good[path].Data)/2])
	}
	f.Fuzz(func(t *testing.T, i int, text []byte) {
		path := list[int(uint(i)%uint(len(list)))]
		b := copied(good)
		b[path] = &fstest.MapFile{Data: text}
		if _, err := bundle.Verify(b, s.keys); err == nil && !bytes.Equal(text, good[path].Data) {
			t.Errorf("nobody noticed what stands in %s: %q", path, text)
		}
	})
}

// Whatever a service signs as a manifest and as a contract: what is behind a good
// signature is read as carefully as what is before it.
func FuzzSigned(f *testing.F) {
	s := newService(f, "test.example/log")
	good := s.bundle(f, load(f, "high"))
	var st struct{ Subject json.RawMessage }
	e, err := auditlog.OpenEnvelope(good[bundle.ManifestName].Data, s.keys)
	if err != nil {
		f.Fatal(err)
	}
	if err := json.Unmarshal(e.Payload, &st); err != nil {
		f.Fatal(err)
	}
	about := string(st.Subject)
	f.Add([]byte(lines(f, "high")[0]), []byte(lines(f, "high")[1]))
	f.Add([]byte(`{}`), []byte(`{}`))
	f.Add([]byte(`{"files":[{"path":"contracts/IC-001.v1.dsse.json","kind":"IntentContract"}]}`), []byte(`null`))
	f.Fuzz(func(t *testing.T, manifest, document []byte) {
		const path = "contracts/IC-001.v1.dsse.json"
		b := copied(good)
		b[path] = &fstest.MapFile{Data: seal(t, s, bundle.ContractType, about, document)}
		b[bundle.ManifestName] = &fstest.MapFile{Data: seal(t, s, bundle.ManifestType, about, manifest)}
		if r, err := bundle.Verify(b, s.keys); err == nil {
			t.Errorf("it is good: %+v", r)
		}
	})
}

func seal(t testing.TB, s service, kind, about string, predicate []byte) []byte {
	t.Helper()
	payload := []byte(`{"_type":"` + bundle.StatementType + `","subject":` + about + `,"predicateType":"` + kind + `","predicate":`)
	text, err := s.signer.Envelope(bundle.PayloadType, append(append(payload, predicate...), '}'))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// A document that is no contract makes no bundle look like one, and nothing panics.
func TestADocumentThatIsNoContractIsNamed(t *testing.T) {
	s := newService(t, "test.example/log")
	w := load(t, "high")
	for i, c := range w.Contracts {
		h := c.Document.Head()
		for _, text := range []string{`{}`, `null`, `"x"`, `{"kind":"` + string(h.Kind) + `"}`} {
			lie := w
			lie.Contracts = append([]bundle.Contract{}, w.Contracts...)
			lie.Contracts[i].Text = []byte(text)
			dir := "contracts/"
			if h.Kind == contract.KindEvidence {
				dir = "evidence/"
			}
			items := []string{}
			for path := range s.bundle(t, lie) {
				if bytes.HasPrefix([]byte(path), []byte(dir+string(h.ID)+".")) {
					items = append(items, path)
				}
			}
			if kind := found(t, text, s.bundle(t, lie), s.keys, items...); kind != bundle.Malformed {
				t.Errorf("%s: %v", text, kind)
			}
		}
	}
}
