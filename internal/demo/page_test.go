package demo_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll.dev/internal/demo"
)

// docs/demo.md is the story as it is played.
func TestThePageIsTheStory(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	b.WriteString("# What `plimsoll demo` shows\n\nThis page is printed from the story itself (`PLIMSOLL_GOLDEN=1 go test ./internal/demo -run Page`). What stands in braces is looked up\n" +
		"in the service when a step is taken: the contract, its digest, the sample repository, the program that plays the agents.\n\n| Who | |\n|---|---|\n")
	for _, p := range demo.People() {
		fmt.Fprintf(&b, "| %s | %s (%s) |\n", p.Name, p.About, strings.Join(p.Roles, ", "))
	}
	b.WriteString("\n| # | Who | What | Command |\n|---|---|---|---|\n")
	names := map[string]bool{}
	for i, s := range demo.Story() {
		if names[s.Name] || demo.NameOf(s.Who) == s.Who || s.What == "" || s.Done == nil {
			t.Errorf("step %d is not complete, or there is another of its name: %s", i+1, s.Name)
		}
		names[s.Name] = true
		line := make([]string, len(s.Line))
		for i, word := range s.Line {
			if strings.ContainsAny(word, " ") {
				word = `"` + word + `"`
			}
			line[i] = word
		}
		fmt.Fprintf(&b, "| %d | %s | %s | `plimsoll %s` |\n", i+1, demo.NameOf(s.Who), s.What, strings.Join(line, " "))
	}
	path := filepath.Join("..", "..", "docs", "demo.md")
	if os.Getenv("PLIMSOLL_GOLDEN") == "1" {
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if is, err := os.ReadFile(path); err != nil || !bytes.Equal(is, b.Bytes()) {
		t.Errorf("docs/demo.md is not the story (%v): print it with PLIMSOLL_GOLDEN=1", err)
	}
}
