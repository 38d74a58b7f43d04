package patch_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"plimsoll.dev/internal/verify/check"
	"plimsoll.dev/internal/verify/patch"
	"plimsoll.dev/internal/verify/tool"
)

// disk is files by their path; what begins with /m/ lies in the manifest
// directory, and /l/ is a link to it.
type disk struct {
	files map[string]string
	reads map[string]int
}

func (d *disk) Within(target string) (path, name string, err error) {
	path = strings.Replace(target, "/l/", "/m/", 1)
	if _, ok := d.files[path]; !ok {
		return "", "", fs.ErrNotExist
	}
	name, ok := strings.CutPrefix(path, "/m/")
	if !ok {
		name = ""
	}
	return path, name, nil
}

func (d *disk) Read(path string) ([]byte, error) {
	if d.reads == nil {
		d.reads = map[string]int{}
	}
	d.reads[path]++
	if d.files[path] == "unreadable" {
		return nil, errors.New("no permission")
	}
	return []byte(d.files[path]), nil
}

// wanted is one suggestion for a file of the disk.
func (d *disk) wanted(target, kind, pointer string, value any) patch.Suggestion {
	sum := sha256.Sum256([]byte(d.files[strings.Replace(target, "/l/", "/m/", 1)]))
	return patch.Suggestion{Finding: &patch.Finding{}, Patch: check.Patch{
		Kind: check.PatchKind(kind + "_pointer"), TargetFile: target, Pointer: pointer, Value: value, Format: "yaml", Confidence: tool.High,
		TargetSHA256: "sha256:" + hex.EncodeToString(sum[:]),
	}}
}

func TestAPlanMakesAllEditsOfAFileAtOnce(t *testing.T) {
	d := &disk{files: map[string]string{"/m/a.yaml": "l: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]\nm: {}\n", "/m/sub/b.yaml": "x: 1\n"}}
	changes, err := patch.Plan([]patch.Suggestion{
		d.wanted("/m/a.yaml", "remove", "/l/2", nil),
		d.wanted("/m/sub/b.yaml", "set", "/x", "y"),
		d.wanted("/l/a.yaml", "remove", "/l/10", nil), // the same file under another name
		d.wanted("/m/a.yaml", "append", "/l", "new"),
		d.wanted("/m/a.yaml", "append", "/l", "new"), // two findings ask for one edit
		d.wanted("/m/a.yaml", "set", "/l/3", "three"),
		d.wanted("/m/a.yaml", "remove", "/l/0", nil),
	}, d)
	if err != nil {
		t.Fatal(err)
	}
	if len(changes) != 2 || changes[0].Name != "a.yaml" || changes[1].Name != "sub/b.yaml" || d.reads["/m/a.yaml"] != 1 {
		t.Fatalf("%+v, %v", changes, d.reads)
	}
	if got, want := string(changes[0].After), "l: [1, three, 4, 5, 6, 7, 8, 9, new]\nm: {}\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if len(changes[0].Patches) != 5 || string(changes[1].After) != "x: \"y\"\n" && string(changes[1].After) != "x: y\n" {
		t.Errorf("%+v", changes)
	}
}

func TestRemovalsMeanWhatTheyMeantBeforeAnyOfThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 14).Draw(t, "entries")
		gone := rapid.SliceOfNDistinct(rapid.IntRange(0, n-1), 1, n-1, rapid.ID[int]).Draw(t, "gone")
		var before, after strings.Builder
		for i := range n {
			row := fmt.Sprintf("  - {i: %d} # c%d\n", i, i)
			before.WriteString(row)
			if !contains(gone, i) {
				after.WriteString(row)
			}
		}
		d := &disk{files: map[string]string{"/m/a.yaml": "l:\n" + before.String()}}
		var asked []patch.Suggestion
		for _, i := range gone {
			asked = append(asked, d.wanted("/m/a.yaml", "remove", "/l/"+strconv.Itoa(i), nil))
			if rapid.Bool().Draw(t, "inside too") {
				asked = append(asked, d.wanted("/m/a.yaml", "remove", "/l/"+strconv.Itoa(i)+"/i", nil))
			}
		}
		changes, err := patch.Plan(asked, d)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(changes[0].After); got != "l:\n"+after.String() {
			t.Fatalf("%q, want %q", got, after.String())
		}
	})
}

func contains(list []int, i int) bool {
	for _, e := range list {
		if e == i {
			return true
		}
	}
	return false
}

func TestPlansThatAreRefused(t *testing.T) {
	d := &disk{files: map[string]string{"/m/a.yaml": "a: &x {b: 1}\nc: *x\n", "/m/b.yaml": "unreadable", "/o/a.yaml": "a: 1\n", "/m/.GIT/config": "a: 1\n", "/m/bad.yaml": "a: [\n"}}
	bend := func(s patch.Suggestion, how func(*check.Patch)) patch.Suggestion {
		how(&s.Patch)
		return s
	}
	for _, c := range []struct {
		name  string
		asked []patch.Suggestion
		class patch.Class
	}{
		{"outside", []patch.Suggestion{d.wanted("/o/a.yaml", "remove", "/a", nil)}, patch.Outside},
		{"the repository's own data", []patch.Suggestion{d.wanted("/m/.GIT/config", "remove", "/a", nil)}, patch.Outside},
		{"gone", []patch.Suggestion{d.wanted("/m/gone.yaml", "remove", "/a", nil)}, patch.Input},
		{"unreadable", []patch.Suggestion{d.wanted("/m/b.yaml", "remove", "/a", nil)}, patch.Input},
		{"no YAML", []patch.Suggestion{d.wanted("/m/bad.yaml", "remove", "/a", nil)}, patch.Input},
		{"another digest", []patch.Suggestion{bend(d.wanted("/m/a.yaml", "remove", "/a", nil), func(p *check.Patch) { p.TargetSHA256 = strings.Repeat("0", 64) })}, patch.Input},
		{"through an alias", []patch.Suggestion{d.wanted("/m/a.yaml", "set", "/c/b", "2")}, patch.Input},
		{"what an alias stands for", []patch.Suggestion{d.wanted("/m/a.yaml", "set", "/a/b", "2")}, patch.Input},
		{"two formats", []patch.Suggestion{d.wanted("/m/a.yaml", "set", "/d", "2"), bend(d.wanted("/m/a.yaml", "set", "/e", "2"), func(p *check.Patch) { p.Format = "json" })}, patch.Malformed},
		{"two values", []patch.Suggestion{d.wanted("/m/a.yaml", "set", "/d", "2"), d.wanted("/m/a.yaml", "set", "/d", "3")}, patch.Malformed},
		{"nothing there", []patch.Suggestion{d.wanted("/m/a.yaml", "remove", "/zz", nil)}, patch.Malformed},
		{"one of two", []patch.Suggestion{d.wanted("/m/a.yaml", "set", "/d", "2"), d.wanted("/o/a.yaml", "set", "/d", "3")}, patch.Outside},
	} {
		changes, err := patch.Plan(c.asked, d)
		if err == nil || err.Class != c.class || changes != nil {
			t.Errorf("%s: %v, %v", c.name, err, changes)
		}
	}
}

// patched makes a unified diff by its own text.
func patched(t rapid.TB, before, diff string) string {
	t.Helper()
	if diff == "" {
		return before
	}
	old := strings.SplitAfter(before, "\n")
	var out strings.Builder
	at := 0
	rows := strings.SplitAfter(diff, "\n")
	for i := 2; i < len(rows); i++ {
		row := rows[i]
		if i+1 < len(rows) && strings.HasPrefix(rows[i+1], "\\") {
			row = strings.TrimSuffix(row, "\n")
		}
		switch {
		case strings.HasPrefix(row, "@@"):
			var from int
			if _, err := fmt.Sscanf(row, "@@ -%d", &from); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(strings.Fields(row)[1], ",0") {
				from++
			}
			for ; at < from-1; at++ {
				out.WriteString(old[at])
			}
		case row == "" || row[0] == '\\':
		case row[0] == '+':
			out.WriteString(row[1:])
		default:
			if at >= len(old) || old[at] != row[1:] {
				t.Fatalf("the diff does not fit at line %d: %q", at+1, row)
			}
			if row[0] == ' ' {
				out.WriteString(row[1:])
			}
			at++
		}
	}
	for ; at < len(old); at++ {
		out.WriteString(old[at])
	}
	return out.String()
}

func TestADiffLeadsFromOneTextToTheOther(t *testing.T) {
	text := func(t *rapid.T, name string) string {
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "", " x"}), 0, 30).Draw(t, name)
		s := strings.Join(lines, "\n")
		if rapid.Bool().Draw(t, name+" ended") && s != "" {
			s += "\n"
		}
		return s
	}
	rapid.Check(t, func(t *rapid.T) {
		before, after := text(t, "before"), text(t, "after")
		if got := patched(t, before, patch.Diff("f", []byte(before), []byte(after))); got != after {
			t.Fatalf("%q became %q, want %q", before, got, after)
		}
	})
}

func TestADiffHasThreeLinesAroundAChange(t *testing.T) {
	before := "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16"
	after := strings.Replace(strings.Replace(before, "5\n", "five\n", 1), "16", "16\n17\n", 1)
	want := `--- a/d/f.yaml
+++ b/d/f.yaml
@@ -2,7 +2,7 @@
 2
 3
 4
-5
+five
 6
 7
 8
@@ -13,4 +13,5 @@
 13
 14
 15
-16
\ No newline at end of file
+16
+17
`
	if got := patch.Diff("d/f.yaml", []byte(before), []byte(after)); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got := patch.Diff("f", []byte("a\n"), []byte("a\n")); got != "" {
		t.Errorf("%q", got)
	}
}

func TestPointers(t *testing.T) {
	for pointer, want := range map[string]string{"": "", "/": "[]", "/a~1b/~0/": "[a/b ~ ]"} {
		steps, ok := patch.Steps(pointer)
		if got := fmt.Sprint(steps); !ok || pointer != "" && got != want || patch.Pointer(steps...) != pointer {
			t.Errorf("%q: %v, %v", pointer, steps, ok)
		}
	}
	for _, pointer := range []string{"a", "/~", "/~2", "/a~", "\xff", "/\xff"} {
		if steps, ok := patch.Steps(pointer); ok {
			t.Errorf("%q is %q", pointer, steps)
		}
	}
}

func FuzzReport(f *testing.F) {
	f.Add([]byte(`{"manifest_dir":"/m","findings":[{"check_id":"A","patches":[{"kind":"manual","instructions":"x"}]}]}`))
	f.Add([]byte(`{"findings":[{"suppressed":true,"patches":3},{"patches":[{"kind":"set_pointer","target_file":"/m/a.yaml","pointer":"/a","value":null,"target_format":"yaml","confidence":"high","target_sha256":"` + strings.Repeat("0", 64) + `"}]}]}`))
	f.Add([]byte(`{"findings":[{"patches":null},{}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := patch.ParseReport(text)
		if (r == nil) != (err != nil) {
			t.Fatalf("%v and %v", r, err)
		}
		if err != nil {
			return
		}
		chosen, _ := r.Choose(tool.Low, nil)
		if _, err := patch.Plan(chosen, &disk{files: map[string]string{"/m/a.yaml": "a: 1\n"}}); err != nil && err.Msg == "" {
			t.Fatal(err)
		}
	})
}
