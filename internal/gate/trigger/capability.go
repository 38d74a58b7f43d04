package trigger

import "strings"

// CapabilityByPath says whether a path alone, whatever is in the file, makes a
// row of class capability hold.
func CapabilityByPath(path string) bool {
	f := newFacts(Input{ChangedFiles: []string{path}})
	for i := range catalogue {
		e := &catalogue[i]
		if e.Class != ClassCapability {
			continue
		}
		if held, _ := f.holds(e); held {
			return true
		}
	}
	return false
}

// Capability says whether the catalogue, evaluated on this one path with the
// lines it gains and without a manifest, runs and holds a row of class
// capability (docs/spec/boundary.md §6.4).
func Capability(path string, added []string) bool { return len(CapabilityRows(path, added)) > 0 }

// CapabilityRows are the ids of the rows that make Capability hold, in the order
// of the catalogue. They say what the file looks like.
func CapabilityRows(path string, added []string) []string {
	f := newFacts(Input{ChangedFiles: []string{path}, Text: [][]byte{[]byte(strings.Join(added, "\n"))}})
	var rows []string
	outcome := DryRun
	for i := range catalogue {
		e := &catalogue[i]
		if held, _ := f.holds(e); held {
			if e.Class == ClassCapability {
				rows = append(rows, e.ID)
			}
			if outcome.yields(e.Action) {
				outcome = e.Action
			}
		}
	}
	if outcome != RunShipgate {
		return nil
	}
	return rows
}

// Document says whether a path is that of a document or a test and of nothing
// more, whatever is in the file.
func Document(path string) bool { return docsOnly(newFacts(Input{ChangedFiles: []string{path}})) }

// FixturePath says whether a path holds an example that nothing loads: below a
// test folder, a folder of fixtures in the root, or the expected output of a
// sample (docs/spec/boundary.md §6.4). Case counts.
func FixturePath(path string) bool {
	parts := strings.Split(path, "/")
	dirs := parts[:len(parts)-1]
	for _, d := range dirs {
		if d == "test" || d == "tests" {
			return true
		}
	}
	if len(dirs) == 0 {
		return false
	}
	switch dirs[0] {
	case "fixture", "fixtures", "golden", "goldens", "__snapshots__":
		return true
	case "samples":
		return len(dirs) >= 3 && dirs[2] == "expected"
	}
	return false
}
