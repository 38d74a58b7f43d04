package state_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/state"
)

const document = "../../../docs/states.md"

// docs/states.md is the table, printed. To change it, change the table and run
// make golden.
func TestStatesDocument(t *testing.T) {
	want := print()
	if os.Getenv("PLIMSOLL_GOLDEN") == "1" {
		if err := os.WriteFile(document, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(bytes.ReplaceAll(got, []byte("\r\n"), []byte("\n")), want) {
		t.Error("docs/states.md is not what the table says: make golden")
	}
}

func print() []byte {
	var b bytes.Buffer
	b.WriteString("# States of the contracts\n\n" +
		"<!-- Printed from internal/pipeline/state/table.go by make golden -->\n\n" +
		"What each kind of contract may become. The rules are those of [the specification](spec/contracts.md), section 2;\n" +
		"this file is printed from the one table that the program reads.\n")
	for _, kinds := range [][]contract.Kind{
		{contract.KindIntent}, {contract.KindTaskSeed, contract.KindAcceptance}, {contract.KindPublishGate}, {contract.KindEvidence},
	} {
		b.WriteString("\n## " + join(kinds, " and ") + "\n\n")
		diagram(&b, kinds[0])
		matrix(&b, kinds[0])
	}
	b.WriteString("\n## Edges\n\nChecks run in this order: the pair, whether it is open, the authority, the guards from left to right. A refusal changes nothing.\n\n")
	b.WriteString("| Kinds | From | To | Open | Authority | Guards | Effects |\n|---|---|---|---|---|---|---|\n")
	for _, r := range state.Rows() {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s |\n", join(r.Kinds, ", "), from(r.From), r.To, or(r.Only, "always"),
			r.Authority, or(strings.Join(r.Guards, "; "), "none"), or(strings.Join(r.Effects, ", "), "none"))
	}
	return b.Bytes()
}

func diagram(b *bytes.Buffer, k contract.Kind) {
	b.WriteString("```mermaid\nstateDiagram-v2\n")
	for _, from := range append([]contract.State{""}, contract.States()...) {
		for _, to := range contract.States() {
			if ok, only, _ := state.Cell(k, from, to); ok {
				fmt.Fprintf(b, "    %s --> %s%s\n", or(string(from), "[*]"), to, prefix(" : ", only))
			}
		}
	}
	b.WriteString("```\n\n")
}

func matrix(b *bytes.Buffer, k contract.Kind) {
	b.WriteString("| from \\ to |")
	for _, to := range contract.States() {
		b.WriteString(" " + string(to) + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(contract.States())) + "\n")
	for _, from := range append([]contract.State{""}, contract.States()...) {
		b.WriteString("| " + or(string(from), "(create)") + " |")
		for _, to := range contract.States() {
			ok, only, code := state.Cell(k, from, to)
			cell := "`" + string(code) + "`"
			if ok {
				cell = "**yes**"
				if only != "" {
					cell += ", " + only + "; else `" + string(code) + "`"
				}
			}
			b.WriteString(" " + cell + " |")
		}
		b.WriteString("\n")
	}
}

func join[T ~string](list []T, by string) string {
	texts := make([]string, len(list))
	for i, e := range list {
		texts[i] = string(e)
	}
	return strings.Join(texts, by)
}

func from(list []contract.State) string { return or(join(list, ", "), "(create)") }

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

func prefix(p, text string) string {
	if text == "" {
		return ""
	}
	return p + text
}
