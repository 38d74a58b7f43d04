package effect

import "strings"

// wordRule gives one tag to a tool whose words name a topic (§6.1).
type wordRule struct {
	tag       string
	words     []string
	keyword   bool     // only for sources without any structure: see keywordSource
	scopes    bool     // the words of scopes count as well
	behaviour bool     // says what the tool does, not what it is about: silent for a preview
	order     bool     // counts only where a name begins with it: a claim and no hint, see order
	with      []string // an order that needs one of these words in the name as well
}

// Words that several rules share.
var (
	reading = []string{"get", "list", "lookup", "preview", "search", "status", "view"}
	writing = []string{"cancel", "charge", "create", "delete", "issue", "refund", "remove", "send", "update", "write"}
	money   = []string{"billing", "charge", "charges", "invoice", "invoices", "payment", "payments", "refund", "refunds"}
)

// wordRules is the one table of words of §6.1, in the order they are evaluated:
// what a tool does before what it is about, because the second is graded by the
// first.
var wordRules = []wordRule{
	{tag: "read_only", keyword: true, behaviour: true, words: reading},
	{tag: "write", keyword: true, behaviour: true, words: writing},
	{tag: "destructive", behaviour: true, words: []string{"cancel", "delete", "destroy", "remove"}},
	{tag: "financial_action", scopes: true, words: money},
	{tag: "customer_communication", words: []string{"email", "emails", "message", "messages", "sms"}},
	{tag: "sensitive_data_access", words: []string{"credential", "credentials", "personal", "pii", "secret", "secrets", "ssn"}},
	{tag: "code_execution", words: []string{"bash", "command", "execute", "python", "shell"}},
	{tag: "infrastructure_change", words: []string{
		"aws", "azure", "cluster", "clusters", "deploy", "droplet", "droplets", "gcp", "kubernetes", "terraform",
	}},
	{tag: "destructive", order: true, words: []string{
		"delete", "destroy", "drop", "erase", "kill", "purge", "remove", "revoke", "terminate", "truncate", "wipe",
	}},
	{tag: "financial_action", order: true, words: []string{"charge", "pay", "refund", "transfer", "withdraw"}},
	{tag: "financial_action", order: true, words: writing, with: money},
	{tag: "code_execution", order: true, words: []string{"eval", "exec", "execute", "run"}, with: []string{
		"code", "command", "commands", "query", "script", "scripts", "shell", "sql",
	}},
	{tag: "write", order: true, words: writing},
}

// outgoing are the words that make a message one that leaves the company.
var outgoing = []string{"customer", "external", "send"}

// things are orders that are things as well, and lookedAt what one asks of a
// thing: refund_status tells and issue_read shows.
var (
	things   = []string{"charge", "drop", "issue", "refund", "transfer"}
	lookedAt = []string{"details", "history", "info", "policy", "read", "summary"}
)

// keywordSource says whether words are all that a source type offers: there is
// no protocol behind a function in code (§6.1).
func keywordSource(sourceType string) bool {
	switch sourceType {
	case "openai_api", "anthropic_api", "sdk_function", "crewai_function", "crewai_class_tool":
		return true
	}
	return strings.HasPrefix(sourceType, "langchain_") || strings.HasPrefix(sourceType, "n8n_")
}

// wordSet is the [a-z]+ words of texts, in lower case.
type wordSet map[string]bool

func wordsOf(texts ...string) wordSet {
	set := wordSet{}
	for _, text := range texts {
		start := -1
		lower := strings.ToLower(text)
		for i := 0; i <= len(lower); i++ {
			if i < len(lower) && 'a' <= lower[i] && lower[i] <= 'z' {
				if start < 0 {
					start = i
				}
				continue
			}
			if start >= 0 {
				set[lower[start:i]] = true
				start = -1
			}
		}
	}
	return set
}

// first is the first of the words that is in the set, or "".
func (w wordSet) first(words []string) string {
	for _, word := range words {
		if w[word] {
			return word
		}
	}
	return ""
}
