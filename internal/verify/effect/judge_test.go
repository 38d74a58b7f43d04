package effect_test

import (
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"plimsoll.dev/internal/verify/effect"
	"plimsoll.dev/internal/verify/manifest"
	"plimsoll.dev/internal/verify/tool"
)

// atOnce does all pieces at once.
func atOnce(n int, do func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { do(i) })
	}
	all.Wait()
}

// resolveLike resolves the other side of what is prepared and judged.
func resolveLike(m *manifest.Manifest, r *tool.Reading, each tool.Each, like *effect.Prepared, other *effect.Surface) (*effect.Surface, error) {
	p, err := effect.PrepareLike(m, r, each, like)
	if err != nil {
		return nil, err
	}
	return p.Judge(other)
}

// readOnce marks the tools of each source as found by one reading.
func readOnce(r *tool.Reading) {
	marks := map[string]*tool.Once{}
	for i := range r.Tools {
		id := r.Tools[i].Origin.SourceID
		if marks[id] == nil {
			marks[id] = new(tool.Once)
		}
		r.Tools[i].Once = marks[id]
	}
}

// otherSide is a reading that takes some sources over and has read others itself.
func otherSide(t *rapid.T, head *tool.Reading) *tool.Reading {
	own := anyReading(t)
	readOnce(own)
	taken := rapid.SliceOfDistinct(rapid.SampledFrom([]string{"kit", "spare", "api", "bot"}), rapid.ID[string]).Draw(t, "taken")
	of := func(yes bool) func(tool.Tool) bool {
		return func(x tool.Tool) bool { return slices.Contains(taken, x.Origin.SourceID) == yes }
	}
	r := &tool.Reading{Tools: slices.Concat(
		slices.DeleteFunc(slices.Clone(own.Tools), of(true)), slices.DeleteFunc(slices.Clone(head.Tools), of(false)),
	)}
	from := head
	if rapid.Bool().Draw(t, "own agents") {
		from = own
	}
	r.Agents, r.Edges, r.Dynamic = from.Agents, from.Edges, from.Dynamic
	return r
}

func TestWhatIsTakenOverIsWhatWouldBeJudged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, head := anyManifest(t), anyReading(t)
		readOnce(head)
		if rapid.Bool().Draw(t, "risk") {
			m.Risks = []manifest.Risk{{Tool: head.Tools[0].Name, Tags: []string{"destructive"}, Owner: "shop"}}
		}
		for n, x := range head.Tools {
			if rapid.IntRange(0, 3).Draw(t, "declared") == 0 {
				m.Surface.Actions = append(m.Surface.Actions, manifest.Action{
					Index: n, Effect: "write", Selector: manifest.Selector{Tool: x.Name, SourceID: x.Origin.SourceID},
				})
			}
		}
		prepared, err := effect.Prepare(m, head, nil)
		if err != nil {
			t.Fatal(err)
		}
		other, err := prepared.Judge(nil)
		if err != nil {
			t.Fatal(err)
		}
		before := written(other)
		base := otherSide(t, head)
		got, err := resolveLike(m, base, atOnce, prepared, other)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := written(resolved(t, m, base)), written(got); a != b {
			t.Fatalf("judged\n%s\ntaken over\n%s", a, b)
		}
		if after := written(other); after != before {
			t.Fatalf("the other side was\n%s\nand is\n%s", before, after)
		}
	})
}

func TestATwinIsOneActionOfBothSides(t *testing.T) {
	m := load(t, bound)
	head := reading(listed("get_stock"), listed("put_stock", in("spare")), operation("GET", "/bins", "bins"))
	readOnce(head)
	base := &tool.Reading{Tools: slices.Clone(head.Tools)}
	base.Tools[1].Once = new(tool.Once)
	a, err := effect.Resolve(m, head)
	if err != nil {
		t.Fatal(err)
	}
	b, err := resolveLike(m, base, nil, nil, a)
	if err != nil {
		t.Fatal(err)
	}
	for name, twin := range map[string]bool{"get_stock": true, "put_stock": false, "bins": true} {
		if got := action(t, a, name) == action(t, b, name); got != twin {
			t.Errorf("%s: one action: %v", name, got)
		}
	}
	// Under another manifest an entry that is about the tool may say something else.
	c, err := resolveLike(load(t, bound), base, nil, nil, a)
	if err != nil {
		t.Fatal(err)
	}
	if action(t, a, "bins") == action(t, c, "bins") {
		t.Error("an action was taken over from another manifest")
	}
}
