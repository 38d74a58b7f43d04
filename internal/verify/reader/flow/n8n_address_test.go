package flow_test

import (
	"strconv"
	"testing"
)

// Whom an HTTP tool calls is part of what it does: one that a run or a model
// chooses is a surface that nobody can list.
func TestAnAddressWhoseHostIsComputedIsNoKnownSurface(t *testing.T) {
	const kit, model = "n8n-nodes-base.httpRequestTool", "@n8n/n8n-nodes-langchain.toolHttpRequest"
	for address, open := range map[string]map[string]bool{
		"https://x.example/beds":                           {kit: false, model: false},
		"https://x.example/beds/{bed}":                     {kit: false, model: false},
		"https://{tenant}.example/beds":                    {kit: false, model: true},
		"={{ $json.url }}":                                 {kit: true, model: true},
		"={{ $fromAI('url') }}":                            {kit: true, model: true},
		"=https://x.example/beds/{{ $fromAI('bed') }}":     {kit: false},
		"=https://x.example/beds?at={{ 'https://' + $x }}": {kit: false},
		"=https://{{ $fromAI('host') }}/beds":              {kit: true},
		"=https://x.example{{ $json.rest }}":               {kit: true},
		"={{ $env.HOUSE_URL }}/beds/{{ $json.bed }}":       {kit: false},
		"=https://{{ $vars.host }}:8080/beds":              {kit: false},
		"={{ $env[$json.name] }}/beds":                     {kit: true},
		"={{ $env.A || $json.b }}/beds":                    {kit: true},
		"={{ 'https://x.example/beds/' + $json.bed }}":     {kit: false},
		"={{ `https://x.example/beds/${$json.bed}` }}":     {kit: false},
		"={{ `https://${$json.host}/beds` }}":              {kit: true},
		"={{ '\\x2f' + $json.host }}":                      {kit: true},
		"={{ $json.unclosed":                               {kit: true},
		"":                                                 {kit: false},
	} {
		for kind, open := range open {
			node := `"type":"` + kind + `","typeVersion":4.2,"parameters":{"url":` + strconv.Quote(address) + `}`
			want := ""
			if open {
				want = "address expression of Agent"
			}
			t.Run(kind+" "+address, func(t *testing.T) {
				same(t, "dynamic", dynamics(n8n(t, tree("f.json", agentFlow(node)), "f.json")), lines(want))
			})
		}
	}
}
