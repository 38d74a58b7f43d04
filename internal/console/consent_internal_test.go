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
	for i := range membersMost + 1 {
		many = append(many, fmt.Sprintf(`"m%03d":"x"`, i))
	}
	for _, c := range []struct {
		name, text string
		rest       bool
	}{
		{"what fits", `{` + strings.Join(many[1:], ",") + `}`, false},
		{"one member more", `{` + strings.Join(many, ",") + `}`, true},
		{"a long text", `{"a":"` + strings.Repeat("x", memberMost+1) + `","b":"y"}`, true},
		{"no JSON, and long", strings.Repeat("x", memberMost+1), true},
	} {
		list, rest := readContent([]byte(c.text))
		if rest != c.rest || len(list) > membersMost {
			t.Errorf("%s: rest is %v, with %d members", c.name, rest, len(list))
		}
	}
}
