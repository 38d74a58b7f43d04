package console

import (
	"fmt"
	"strings"
	"testing"
)

// A content that is not shown whole says so: it is what somebody consents to.
func TestAContentThatIsCutSaysSo(t *testing.T) {
	t.Parallel()
	many := []string{}
	for i := range factsMost {
		many = append(many, fmt.Sprintf(`"m%03d":"x"`, i))
	}
	for _, c := range []struct {
		name, text string
		rest       bool
	}{
		{"what fits", `{` + strings.Join(many[1:], ",") + `}`, false},
		{"one member more", `{` + strings.Join(many, ",") + `}`, true},
		{"a long text", `{"a":"` + strings.Repeat("x", consentTextMost+1) + `","b":"y"}`, true},
		{"no JSON, and long", strings.Repeat("x", consentTextMost+1), true},
	} {
		list, rest := factsOf([]byte(c.text), consentTextMost)
		if rest != c.rest || len(list) > factsMost {
			t.Errorf("%s: rest is %v, with %d members", c.name, rest, len(list))
		}
	}
}

// A question names what it asks about by its title, on one line and with one mark
// at its end.
func TestAQuestionNamesWhatItIsAbout(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		`{"title":"Change of the registry: a quorum"}`: "Change of the registry: a quorum",
		`{"title":" Shall we\n move? "}`:               "Shall we move",
		`{"title":7}`:                                  "",
		`{"text":"without one"}`:                       "",
		`no JSON`:                                      "",
	} {
		if got := subject([]byte(content)); got != want {
			t.Errorf("%s: it is called %q", content, got)
		}
	}
	if got := subject([]byte(`{"title":"` + strings.Repeat("ї", 900) + `"}`)); len(got) > subjectMost+3 {
		t.Errorf("a title of %d bytes", len(got))
	}
}
