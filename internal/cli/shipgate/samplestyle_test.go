package shipgate_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// otherYAML writes a document again: keys in another order, in other quotes,
// blocks as flow and flow as blocks, without comments.
func otherYAML(r *rand.Rand, text string) (string, error) {
	var node yaml.Node
	if err := yaml.Unmarshal([]byte(text), &node); err != nil {
		return "", err
	}
	reorder(r, &node)
	restyle(r, &node)
	node.Content[0].Style = 0
	var out bytes.Buffer
	e := yaml.NewEncoder(&out)
	e.SetIndent(2 + r.IntN(4))
	if err := e.Encode(&node); err != nil {
		return "", err
	}
	return out.String(), nil
}

// reformat writes lists and contracts that are YAML as JSON and the other way
// round, under the other name.
func reformat(files map[string]string) error {
	for _, p := range slices.Sorted(maps.Keys(files)) {
		other, ok := map[string]string{
			"tools.yaml": "tools.json", "parcels.yaml": "parcels.json", "tools.json": "tools.yml", "openapi.json": "openapi.yaml",
		}[path.Base(p)]
		if !ok {
			continue
		}
		var node yaml.Node
		if err := yaml.Unmarshal([]byte(files[p]), &node); err != nil {
			return err
		}
		var out bytes.Buffer
		if path.Ext(other) == ".json" {
			if err := writeJSON(&out, node.Content[0]); err != nil {
				return err
			}
		} else {
			restyle(rand.New(rand.NewPCG(1, 1)), &node)
			node.Content[0].Style = 0
			if err := yaml.NewEncoder(&out).Encode(&node); err != nil {
				return err
			}
		}
		delete(files, p)
		to := path.Join(path.Dir(p), other)
		files[to] = out.String()
		files["shipgate.yaml"] = strings.Replace(files["shipgate.yaml"], "path: "+p, "path: "+to, 1)
	}
	return nil
}

func reorder(r *rand.Rand, n *yaml.Node) {
	if n.Kind == yaml.MappingNode {
		r.Shuffle(len(n.Content)/2, func(i, j int) {
			n.Content[2*i], n.Content[2*j] = n.Content[2*j], n.Content[2*i]
			n.Content[2*i+1], n.Content[2*j+1] = n.Content[2*j+1], n.Content[2*i+1]
		})
	}
	for _, child := range n.Content {
		reorder(r, child)
	}
}

func restyle(r *rand.Rand, n *yaml.Node) {
	n.HeadComment, n.LineComment, n.FootComment = "", "", ""
	switch n.Kind {
	case yaml.MappingNode, yaml.SequenceNode:
		n.Style = 0
		if r.IntN(4) == 0 {
			n.Style = yaml.FlowStyle
		}
	case yaml.ScalarNode:
		if n.Tag == "!!str" {
			n.Style = []yaml.Style{0, yaml.DoubleQuotedStyle, yaml.SingleQuotedStyle}[r.IntN(3)]
		}
	}
	for _, child := range n.Content {
		restyle(r, child)
	}
}

// otherJSON writes a document again: keys in another order, with another
// indentation or none.
func otherJSON(r *rand.Rand, text string) (string, error) {
	var node yaml.Node // JSON is YAML, and a node keeps the spelling of numbers
	if err := yaml.Unmarshal([]byte(text), &node); err != nil {
		return "", err
	}
	reorder(r, &node)
	var compact bytes.Buffer
	if err := writeJSON(&compact, node.Content[0]); err != nil {
		return "", err
	}
	indent := []string{"", " ", "    ", "\t"}[r.IntN(4)]
	if indent == "" {
		return compact.String(), nil
	}
	var out bytes.Buffer
	err := json.Indent(&out, compact.Bytes(), "", indent)
	return out.String() + "\n", err
}

func writeJSON(out *bytes.Buffer, n *yaml.Node) error {
	open, end := byte('['), byte(']')
	switch n.Kind {
	case yaml.MappingNode:
		open, end = '{', '}'
	case yaml.SequenceNode:
	default:
		if n.Tag != "!!str" {
			out.WriteString(n.Value)
			return nil
		}
		text, err := json.Marshal(n.Value)
		out.Write(text)
		return err
	}
	out.WriteByte(open)
	for i, child := range n.Content {
		switch {
		case n.Kind == yaml.MappingNode && i%2 == 1:
			out.WriteByte(':')
		case i > 0:
			out.WriteByte(',')
		}
		if err := writeJSON(out, child); err != nil {
			return err
		}
	}
	out.WriteByte(end)
	return nil
}
