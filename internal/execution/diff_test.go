package execution_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"plimsoll.dev/internal/execution"
	"plimsoll.dev/internal/pipeline/artifact"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/phase"
	"plimsoll.dev/internal/pipeline/refusal"
)

func TestTheDiffThatIsDeliveredHasTheDigestOfTheRun(t *testing.T) {
	w := newWorld(t, phase.Build)
	res := w.run(`echo hi >> hello.txt; rm other.txt; printf 'a\377b\n' > latin.txt; echo '"url": "https://pay.example/mcp"' > "a b.json"`)
	r := w.service.only(t)
	diff := r.Artifacts[phase.ChangeDiff]
	patch, err := exec.Command("git", "-C", w.repo, "diff", "--full-index", "--binary", "--no-color", w.base, res.HeadCommit).Output()
	if err != nil || string(diff) != string(patch) {
		t.Errorf("%v\n%s\nwant\n%s", err, diff, patch)
	}
	if got := evidence(t, r.End)["diffHash"]; got != contract.Hash(diff) || got != res.DiffHash {
		t.Errorf("the digest is %v, of what is shown %s", got, contract.Hash(diff))
	}
}

func TestWhereNothingChangedThereIsNoDiff(t *testing.T) {
	w := newWorld(t, phase.Build)
	w.run(`true`)
	if diff, there := w.service.only(t).Artifacts[phase.ChangeDiff]; there {
		t.Errorf("%s", diff)
	}
}

// What is masked says so at its line, and everything else is what git says.
func TestADiffHoldsNoSecretAndSaysWhere(t *testing.T) {
	w := newWorld(t, phase.Build)
	w.conf.Environ = append(slices.Clone(w.conf.Environ), "API_KEY=k3y-k3y-k3y")
	w.conf.Pass = []string{"API_KEY"}
	w.run(`
		printf 'one\nDEPLOY_TOKEN=swordfish\nthe key k3y-k3y-k3y stands\n-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\nlast\n' > a.env
		printf 'a\000swordfish' > b.bin`)
	diff := string(w.service.only(t).Artifacts[phase.ChangeDiff])
	for _, secret := range []string{"swordfish", "k3y-k3y-k3y", "c2VjcmV0", "literal"} {
		if strings.Contains(diff, secret) {
			t.Errorf("%s is in the diff:\n%s", secret, diff)
		}
	}
	want := "+one\n#withheld\n+DEPLOY_TOKEN=<redacted>\n#withheld\n+the key <redacted> stands\n+-----BEGIN PRIVATE KEY-----\n#withheld\n+<redacted>\n+-----END PRIVATE KEY-----\n+last\n"
	if !strings.Contains(diff, want) {
		t.Errorf("%s\nwant\n%s", diff, want)
	}
	lines := strings.Split(strings.TrimSuffix(diff, "\n"), "\n")
	if o, ok := artifact.ReadOmitted(lines[len(lines)-1]); !ok || o.Lines < 3 || !strings.HasPrefix(lines[len(lines)-2], "index ") {
		t.Errorf("of the binary file there is\n%s", diff)
	}
}

// A file that does not fit is named with how much of it is left out; the small
// ones after it are there.
func TestALongDiffSaysWhatItLeavesOut(t *testing.T) {
	w := newWorld(t, phase.Build)
	res := w.run(`
		head -c 3000000 /dev/zero | tr '\0' 'x' | fold -w 99 > large.txt
		head -c 1000000 /dev/zero | tr '\0' 'x' > line.txt
		echo small > small.txt`)
	r := w.service.only(t)
	diff := r.Artifacts[phase.ChangeDiff]
	if res.Outcome != phase.Succeeded || len(diff) > artifact.DiffBound {
		t.Fatalf("%+v: %d bytes", res, len(diff))
	}
	var left []artifact.Omitted
	for line := range strings.Lines(string(diff)) {
		if o, ok := artifact.ReadOmitted(strings.TrimSuffix(line, "\n")); ok {
			left = append(left, o)
		}
	}
	if len(left) != 2 || left[0].Lines != 30306 || left[1].Lines != 3 || left[1].Bytes < 1_000_000 {
		t.Errorf("left out: %+v", left)
	}
	for _, there := range []string{"+++ b/large.txt\n#omitted ", "+++ b/line.txt\n#omitted ", "+++ b/small.txt\n@@ -0,0 +1 @@\n+small\n"} {
		if !strings.Contains(string(diff), there) {
			t.Errorf("%q is not in the diff", there)
		}
	}
	w = newWorld(t, phase.Build)
	w.run(`long=$(printf '%0200d' 0); mkdir -p $long/$long/$long/$long; cd $long/$long/$long/$long; for n in $(seq 1500); do : > $n; done`)
	diff = w.service.only(t).Artifacts[phase.ChangeDiff]
	lines := strings.Split(strings.TrimSuffix(string(diff), "\n"), "\n")
	if o, ok := artifact.ReadOmitted(lines[len(lines)-1]); len(diff) > artifact.DiffBound || !ok || o.Lines < 3 {
		t.Errorf("%d bytes, at the end %q", len(diff), lines[len(lines)-1])
	}
}

func TestAServiceThatTakesNoDiffDoesWithout(t *testing.T) {
	w := newWorld(t, phase.Build)
	w.service.refuse["put change_diff"] = refusal.ContractSchemaInvalid
	res := w.run(`echo hi >> hello.txt`)
	if res.Status != execution.Delivered || res.Outcome != phase.Succeeded {
		t.Errorf("%+v", res)
	}
	if !strings.Contains(w.notes.String(), "does not take the diff") {
		t.Errorf("%s", w.notes.String())
	}
}
