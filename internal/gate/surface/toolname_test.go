package surface_test

import (
	"strings"
	"testing"

	"plimsoll.dev/internal/gate/surface"
)

func TestTheNameOfAToolSaysWhetherItActs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		risky bool
	}{
		{"writeFile", true},
		{"write_file", true},
		{"WRITE-FILE", true},
		{"list_deploys", true}, // a third-person form of an action counts before the reading word
		{"get_refund", false},
		{"refund_status", true},
		{"payment", true},
		{"describe_payment", false},
		{"payments_total", false}, // only the two words themselves
		{"summarize", false},
		{"", false},
		{"___", false},
		// The forms of a word.
		{"created", true},
		{"merged", true},
		{"pushed", true},
		{"deleting", true},
		{"sending", true},
		{"executing", true},
		{"dropped", false}, // doubled letters are not undone
		{"used", false},
		{"red", false},
		{"king", false},
		{"listed_refund", false},
		{"listing_refund", false},
		{"searches_refund", true}, // reading words have no third-person form here
		// What joins and what splits.
		{"v2Delete", true},
		{"HTTPDelete", false}, // one run of capitals is one word
		{"getHTTPPost", false},
		{"update2fa", false},
		{"2_update", true},
		{"löschen_delete", true},
		{"deletе", false}, // the last letter is Cyrillic
	} {
		if got := surface.RiskyToolName(c.name); got != c.risky {
			t.Errorf("RiskyToolName(%q) = %v", c.name, got)
		}
	}
}

func TestEveryActionWordAndItsThirdPersonIsRisky(t *testing.T) {
	t.Parallel()
	const actions = "apply approve cancel commit create delete deploy destroy drop edit exec execute grant kill merge overwrite " +
		"patch post publish purge push put release remove revoke run send terminate transfer truncate update wipe write"
	const third = "approves cancels commits creates deletes deploys destroys drops edits executes grants kills merges overwrites " +
		"patches posts publishes purges pushes puts releases removes revokes sends terminates transfers truncates updates wipes writes"
	for _, w := range strings.Fields(actions + " " + third) {
		if !surface.RiskyToolName("the_" + w + "_x") {
			t.Errorf("%s is not risky", w)
		}
	}
	for _, w := range strings.Fields("applies applys execs runs patchs publishs pushs createes") {
		if surface.RiskyToolName(w) {
			t.Errorf("%s is risky and is on no list", w)
		}
	}
}
