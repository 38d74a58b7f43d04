package manual_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"plimsoll.dev/internal/cli/plimsoll"
	"plimsoll.dev/internal/cli/shipgate"
	"plimsoll.dev/internal/manual"
)

var programs = map[string]func() *cobra.Command{"shipgate": shipgate.Commands, "plimsoll": plimsoll.Commands}

// docs/commands is what the programs print of themselves today; a command that
// is gone leaves no page behind.
func TestPagesOfDocumentation(t *testing.T) {
	dir := filepath.Join("..", "..", "docs", "commands")
	write := os.Getenv("PLIMSOLL_GOLDEN") == "1"
	seen := map[string]bool{"README.md": true}
	for _, commands := range programs {
		pages, err := manual.Pages(commands())
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range pages {
			seen[p.Name] = true
			name := filepath.Join(dir, p.Name)
			if write {
				if err := os.MkdirAll(dir, 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(name, p.Text, 0o644); err != nil {
					t.Fatal(err)
				}
				continue
			}
			if got, err := os.ReadFile(name); err != nil || string(got) != string(p.Text) {
				t.Errorf("docs/commands/%s is not what the command says of itself; rewrite it with: make golden", p.Name)
			}
		}
	}
	present, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range present {
		if seen[f.Name()] {
			continue
		}
		if write {
			if err := os.Remove(filepath.Join(dir, f.Name())); err != nil {
				t.Fatal(err)
			}
			continue
		}
		t.Errorf("docs/commands/%s is a page of no command", f.Name())
	}
}

// A stranger reads the help first: every command says what it is for, how it is
// called and, where it takes something, gives an example.
func TestEveryCommandExplainsItself(t *testing.T) {
	for name, commands := range programs {
		var walk func(c *cobra.Command)
		walk = func(c *cobra.Command) {
			if !c.IsAvailableCommand() || c.Name() == "help" || c.Name() == "completion" {
				return
			}
			if c.Short == "" {
				t.Errorf("%s has no sentence about itself", c.CommandPath())
			}
			if c.Runnable() && !c.HasAvailableSubCommands() && c.LocalNonPersistentFlags().HasAvailableFlags() && c.Example == "" && c.Long == "" {
				t.Errorf("%s has neither an example nor a text", c.CommandPath())
			}
			for line := range strings.SplitSeq(c.Example, "\n") {
				if call, ok := strings.CutPrefix(strings.TrimSpace(line), name+" "); ok {
					tryExample(t, commands(), call)
				}
			}
			for _, below := range c.Commands() {
				walk(below)
			}
		}
		root := commands()
		if root.Name() != name {
			t.Errorf("the root is called %s, want %s", root.Name(), name)
		}
		for _, c := range root.Commands() {
			walk(c)
		}
	}
}

// The same commands and the same day give the same bytes, and the manual names
// what the help names.
func TestManualPagesAndCompletion(t *testing.T) {
	day := time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)
	for name, commands := range programs {
		first, err := manual.Man(commands(), "1.2.3", day)
		if err != nil {
			t.Fatal(err)
		}
		again, err := manual.Man(commands(), "1.2.3", day)
		if err != nil {
			t.Fatal(err)
		}
		if len(first) < 10 {
			t.Errorf("%s has %d manual pages", name, len(first))
		}
		for i, p := range first {
			if string(p.Text) != string(again[i].Text) {
				t.Errorf("%s differs between two prints", p.Name)
			}
			if !strings.HasSuffix(p.Name, ".1") || !strings.HasPrefix(string(p.Text), ".nh\n.TH ") || !strings.Contains(string(p.Text), "Nov 2026") {
				t.Errorf("%s is no manual page of that day:\n%.200s", p.Name, p.Text)
			}
		}
		shells, err := manual.Completions(commands())
		if err != nil {
			t.Fatal(err)
		}
		if len(shells) != 4 {
			t.Errorf("%s has completion for %d shells", name, len(shells))
		}
		for _, s := range shells {
			if !strings.Contains(string(s.Text), name) {
				t.Errorf("%s does not name %s", s.Name, name)
			}
		}
	}
}

var substitution = regexp.MustCompile(`\$\([^)]*\)`)

// tryExample parses a call as its command would, and runs nothing.
func tryExample(t *testing.T, root *cobra.Command, call string) {
	t.Helper()
	for _, ends := range []string{" | ", " > ", " < ", "  #"} {
		call, _, _ = strings.Cut(call, ends)
	}
	call = substitution.ReplaceAllString(call, "VALUE")
	c, rest, err := root.Find(words(call))
	if err == nil {
		err = c.ParseFlags(rest)
	}
	if err == nil {
		err = c.ValidateArgs(c.Flags().Args())
	}
	if err != nil {
		t.Errorf("the example %q of %s: %v", call, root.Name(), err)
	}
}

// words splits a call as a shell does where no variable is in it.
func words(call string) []string {
	var list []string
	quote, word, open := rune(0), "", false
	for _, r := range call {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word += string(r)
		case r == '"' || r == '\'':
			quote, open = r, true
		case r == ' ':
			if open || word != "" {
				list = append(list, word)
			}
			word, open = "", false
		default:
			word += string(r)
		}
	}
	if open || word != "" {
		list = append(list, word)
	}
	return list
}
