package gate_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// words are the keys and values that the protocol itself looks at.
var words = []string{
	"jsonrpc", "2.0", "id", "method", "params", "_meta", "name", "arguments", "protocolVersion", "capabilities", "clientInfo", "version", "requestId",
	"progressToken", "cursor", "inputResponses", "requestState", "roots", "listChanged", "elicitation", "form", "sampling", "experimental", "task", "level",
	"io.modelcontextprotocol/protocolVersion", "io.modelcontextprotocol/clientInfo", "io.modelcontextprotocol/clientCapabilities", "io.modelcontextprotocol/logLevel",
	"2026-07-28", "2025-11-25", "2024-11-05", "shipgate.check", "shipgate.preflight", "agent", "diff_text", "plan", "", "x",
}

func anything(t *rapid.T, depth int) any {
	kinds := 8
	if depth == 0 {
		kinds = 6
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return nil
	case 1:
		return rapid.Bool().Draw(t, "bool")
	case 2:
		return rapid.Float64Range(-1e20, 1e20).Draw(t, "number")
	case 3:
		return rapid.IntRange(-2, 3).Draw(t, "id")
	case 4, 5:
		return rapid.SampledFrom(words).Draw(t, "word")
	case 6:
		list := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "entries") {
			list = append(list, anything(t, depth-1))
		}
		return list
	}
	object := map[string]any{}
	for range rapid.IntRange(0, 4).Draw(t, "members") {
		object[rapid.SampledFrom(words).Draw(t, "key")] = anything(t, depth-1)
	}
	return object
}

// message is nearly a message of the protocol.
func message(t *rapid.T) any {
	methods := []string{
		"initialize", "ping", "server/discover", "tools/list", "tools/call", "notifications/initialized", "notifications/cancelled", "resources/read",
	}
	m := map[string]any{"jsonrpc": "2.0", "method": rapid.SampledFrom(methods).Draw(t, "method")}
	if rapid.Bool().Draw(t, "call") {
		m["id"] = rapid.IntRange(0, 3).Draw(t, "id")
	}
	switch rapid.IntRange(0, 4).Draw(t, "params") {
	case 0:
	case 1:
		m["params"] = anything(t, 4)
	default:
		params := map[string]any{"name": "shipgate.check", "protocolVersion": "2025-03-26", "clientInfo": map[string]any{"name": "t", "version": "1"}, "capabilities": map[string]any{}}
		for range rapid.IntRange(0, 3).Draw(t, "changes") {
			params[rapid.SampledFrom(words).Draw(t, "key")] = anything(t, 3)
		}
		if rapid.Bool().Draw(t, "modern") {
			params["_meta"] = map[string]any{
				"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": anything(t, 2),
				rapid.SampledFrom(words).Draw(t, "meta"): anything(t, 2),
			}
		}
		m["params"] = params
	}
	if rapid.IntRange(0, 5).Draw(t, "broken") == 0 {
		m[rapid.SampledFrom(words).Draw(t, "broken key")] = anything(t, 3)
	}
	return m
}

// The server outlives a client that nearly speaks the protocol: it answers in JSON,
// and what comes after is answered as ever.
func TestNearlyTheProtocol(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var input bytes.Buffer
		input.WriteString(greeting(rapid.SampledFrom([]string{"2024-11-05", "2025-06-18", "2025-11-25", "1.0"}).Draw(t, "revision")))
		for range rapid.IntRange(1, 8).Draw(t, "messages") {
			line := message(t)
			if rapid.IntRange(0, 6).Draw(t, "batch") == 0 {
				line = []any{line, message(t)}
			}
			text, err := json.Marshal(line)
			if err != nil {
				t.Fatal(err)
			}
			input.Write(append(text, '\n'))
		}
		input.WriteString(ping(`"last"`))
		last := 0
		for _, a := range session(t, &input, nothing) {
			if strings.Contains(string(a.ID), "last") {
				last++
			}
		}
		if last != 1 {
			t.Fatalf("%d answers to the last ping", last)
		}
	})
}
