package control

import "strings"

// Subject is what command strings name (§7.4).
type Subject struct {
	Workspace string // --workspace made absolute lexically
	Config    string // the manifest, relative to the Git root where possible
	Base      string // refs as given; empty outside a range
	Head      string
}

// VerifyCommand is the command that verifies the same subject.
func VerifyCommand(s Subject) string { return verify(s) + " --json" }

// PreviewCommand is the command that previews verification without a manifest.
func PreviewCommand(s Subject) string { return verify(s) + " --preview --json" }

func verify(s Subject) string {
	c := "agents-shipgate verify --workspace " + Quote(s.Workspace) + " --config " + Quote(s.Config)
	if s.Base != "" {
		c += " --base " + Quote(s.Base) + " --head " + Quote(s.Head)
	}
	return c
}

// DetectCommand is the command that finds undeclared capability surfaces.
func DetectCommand(s Subject) string {
	return "shipgate detect --workspace " + Quote(s.Workspace) + " --json"
}

// RerunCommand is the command that repeats the check after a repair.
func RerunCommand(agent string) string {
	return "shipgate check --agent " + Quote(agent) + " --workspace . --format agent-boundary-json"
}

// Quote makes s one word of a POSIX shell, unchanged where it is one already.
func Quote(s string) string {
	if s != "" && strings.IndexFunc(s, quoted) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'"'"'`) + "'"
}

func quoted(r rune) bool {
	switch {
	case 'A' <= r && r <= 'Z', 'a' <= r && r <= 'z', '0' <= r && r <= '9':
		return false
	}
	return !strings.ContainsRune("@%+=:,./_-", r)
}
