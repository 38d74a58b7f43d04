package main

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed testdata
var files embed.FS

// sample is one text of the set.
type sample struct {
	attack   bool
	kind     string // of attack, or of benign text
	locale   string
	disguise string // "-" when it is plain
	text     string // as it is sent
	plain    string // as it was written
	tuned    bool   // the rules were tuned on it
}

// load reads the set. Within each kind and language every other text is in the
// half that the rules were tuned on.
func load() ([]sample, error) {
	var all []sample
	seen := map[string]int{}
	for _, f := range []struct {
		name   string
		fields int
	}{{"testdata/attacks.txt", 4}, {"testdata/benign.txt", 3}} {
		text, err := files.ReadFile(f.name)
		if err != nil {
			return nil, err
		}
		for n, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
			if strings.HasPrefix(line, "#") {
				continue
			}
			fields := strings.Split(line, "\t")
			if len(fields) != f.fields {
				return nil, fmt.Errorf("%s:%d: %d fields are expected, there are %d", f.name, n+1, f.fields, len(fields))
			}
			s := sample{attack: f.fields == 4, kind: fields[0], locale: fields[1], disguise: "-", plain: fields[f.fields-1]}
			if s.attack {
				s.disguise = fields[2]
			}
			if s.text, err = disguised(s.disguise, s.plain); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", f.name, n+1, err)
			}
			key := fmt.Sprint(s.attack, s.kind, s.locale)
			s.tuned = seen[key]%2 == 0
			seen[key]++
			all = append(all, s)
		}
	}
	return all, nil
}
