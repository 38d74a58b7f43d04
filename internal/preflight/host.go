package preflight

import (
	"strings"

	"plimsoll.dev/internal/gate/redact"
	"plimsoll.dev/internal/gate/surface"
)

// The classes of a request to a host. The first three are critical (§13.5).
const (
	runtimeBoundary  = "runtime_boundary"
	autoApproveWrite = "auto_approve_write"
	wildcardAllow    = "wildcard_allow"
	hostPermission   = "host_permission"
)

// class is what kind of authority the request asks for: the widest that any of
// its words names. A word that is not known leaves the request high, never less.
func (h *HostRequest) class() string {
	texts := append([]Access{{Key: h.Surface, Text: h.Subject}}, h.Access...)
	found := hostPermission
	for _, a := range texts {
		switch key, text := fold(a.Key), fold(a.Text); {
		case opensRuntime(key, text, a.Truth), opensRuntime(fold(h.Surface), text, a.Truth):
			return runtimeBoundary
		case approvesAlone(key, text, a.Truth), approvesAlone(fold(h.Surface), text, a.Truth):
			found = autoApproveWrite
		case found == hostPermission && h.wild(a):
			found = wildcardAllow
		}
	}
	return found
}

// fold brings words of several hosts to one spelling.
func fold(s string) string {
	return strings.NewReplacer("_", "", "-", "", ".", "", " ", "").Replace(strings.ToLower(s))
}

// opensRuntime: the host would no longer keep its commands inside.
func opensRuntime(key, text string, truth bool) bool {
	for _, word := range []string{"sandbox", "networkaccess", "additionaldirectories", "writableroots", "bypass"} {
		if strings.Contains(key, word) && (text != "" || truth) {
			return true
		}
	}
	return strings.Contains(text, "dangerfullaccess") || strings.Contains(text, "bypasspermissions") || strings.Contains(text, "dangerouslyskip")
}

// approvesAlone: the host would no longer ask.
func approvesAlone(key, text string, truth bool) bool {
	for _, word := range []string{"autoapprove", "alwaysallow", "autorun", "enableallprojectmcpservers"} {
		if strings.Contains(key, word) && (text != "" || truth) || strings.Contains(text, word) {
			return true
		}
	}
	switch text {
	case "acceptedits", "yolo":
		return true
	case "auto", "never":
		return strings.Contains(key, "approv") || strings.Contains(key, "mode")
	}
	return false
}

// wild says whether a text is a rule that covers a whole tool. Only where rules
// stand is a bare name one.
func (h *HostRequest) wild(a Access) bool {
	if a.Text == "" {
		return false
	}
	rule := surface.PermissionRule{Text: a.Text}
	switch key := fold(a.Key); {
	case strings.TrimSpace(a.Text) == "*", strings.HasSuffix(strings.TrimSpace(a.Text), "(*)"):
		return true
	case strings.Contains(key, "rule"), strings.Contains(key, "allow"), strings.Contains(key, "permission"):
		return rule.Wildcard()
	}
	return false
}

// subject is what is asked for, without what may be a secret.
func (h *HostRequest) subject() string {
	if strings.Contains(h.Subject, "(") {
		return surface.PermissionRule{Text: h.Subject}.Masked()
	}
	return redact.Text(strings.TrimSpace(h.Subject))
}

// name is how signals call the request.
func (h *HostRequest) name() string {
	return redact.Text(strings.TrimSpace(h.Host) + "." + strings.TrimSpace(h.Surface) + "." + strings.TrimSpace(h.Operation))
}

// classReason says what each class means, in one sentence.
var classReason = map[string]string{
	runtimeBoundary:  "It would open the boundary that the host keeps its commands in.",
	autoApproveWrite: "It would let the host act without a question.",
	wildcardAllow:    "It would allow every use of a tool.",
	hostPermission:   "It asks a host for a permission.",
}
