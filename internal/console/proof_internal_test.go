package console

import (
	"slices"
	"testing"
)

func TestEachPersonHasOneVerificationAtATime(t *testing.T) {
	t.Parallel()
	var p proofs
	if !p.begin("lea") || p.begin("lea") || !p.begin("sam") {
		t.Error("lea has two, or sam none")
	}
	p.end("lea")
	if !p.begin("lea") || p.begin("sam") {
		t.Error("lea's did not end, or sam's did")
	}
}

func TestADigestIsFoundAsAPageShowsIt(t *testing.T) {
	t.Parallel()
	for find, want := range map[string]string{
		"8f3a 91c2 0d77": "8f3a91c20d77", "sha256:8F3A91C20D77": "8f3a91c20d77", "exec-5f-01": "exec-5f-01", "8f3a": "", "short": "", `say "hello"`: "", `C:\shop\x`: "",
	} {
		got, ok := mentioned(find)
		if ok != (want != "") || ok && got != want {
			t.Errorf("%q is looked for as %q (%t), want %q", find, got, ok, want)
		}
	}
}

func TestAPageOfARuleIsReadIntoBlocks(t *testing.T) {
	t.Parallel()
	doc := readDoc("# ID\n\nOne `a*b` and **bold**\nwith [OTHER](OTHER.md).\n\n| A | B |\n|---|---|\n| `x\\|y` | <b> |\n\n## Fires\n\n```txtar\n## no heading\n\nend\n```\n")
	if len(doc) != 4 {
		t.Fatalf("%d blocks: %+v", len(doc), doc)
	}
	want := []docSpan{{Text: "One "}, {Text: "a*b", Code: true}, {Text: " and "}, {Text: "bold", Bold: true}, {Text: " with "}, {Text: "OTHER", Link: "OTHER"}, {Text: "."}}
	if !slices.Equal(doc[0].Lines, want) {
		t.Errorf("the paragraph is %+v", doc[0].Lines)
	}
	if len(doc[1].Rows) != 1 || !slices.Equal(doc[1].Rows[0][0], []docSpan{{Text: "x|y", Code: true}}) || doc[1].Rows[0][1][0].Text != "<b>" {
		t.Errorf("the table is %+v", doc[1])
	}
	if doc[2].Heading != "Fires" || doc[3].Code != "## no heading\n\nend" {
		t.Errorf("the example is %+v", doc[2:])
	}
}
