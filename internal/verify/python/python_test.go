package python_test

import (
	"testing"

	"plimsoll.dev/internal/verify/python"
)

func parse(t *testing.T, text string) *python.File {
	t.Helper()
	f, err := python.Parse([]byte(text))
	if err != nil {
		t.Fatalf("Parse: %v\n%s", err, text)
	}
	return f
}

func TestAnAliasOfAnImportResolvesToWhatWasImported(t *testing.T) {
	f := parse(t, "from agents import function_tool as ft\n@ft(name_override='x')\nasync def g(a: int = 1) -> str:\n  \"\"\"Doc.\"\"\"\n")
	g := f.Body[1].(*python.Function)
	call := g.Decorators[0].(*python.Call)
	if got, ok := f.Resolve(call.Func); !ok || got != "agents.function_tool" {
		t.Errorf("Resolve = %q, %v", got, ok)
	}
	if got, ok := f.Text(call.Arg("name_override")); !ok || got != "x" {
		t.Errorf("Text = %q, %v", got, ok)
	}
}
