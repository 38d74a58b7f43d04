package effect

import (
	"strings"
	"unicode/utf8"
)

// wordRule gives one tag to a tool whose words name a topic (§6.1).
type wordRule struct {
	tag       string
	words     wordList
	keyword   bool     // only for sources without any structure: see keywordSource
	scopes    bool     // the words of scopes count as well
	behaviour bool     // says what the tool does, not what it is about: silent for a preview
	order     bool     // counts only where a name begins with it: a claim and no hint, see order
	with      wordList // an order that needs one of these words in the name as well
}

// Words that several rules share.
var (
	reading = oneOf("get", "list", "lookup", "preview", "search", "status", "view")
	writing = oneOf("cancel", "charge", "create", "delete", "issue", "refund", "remove", "send", "update", "write")
	money   = oneOf("billing", "charge", "charges", "invoice", "invoices", "payment", "payments", "refund", "refunds")
)

// wordRules is the one table of words of §6.1, in the order they are evaluated:
// what a tool does before what it is about, because the second is graded by the
// first.
var wordRules = []wordRule{
	{tag: "read_only", keyword: true, behaviour: true, words: reading},
	{tag: "write", keyword: true, behaviour: true, words: writing},
	{tag: "destructive", behaviour: true, words: oneOf("cancel", "delete", "destroy", "remove")},
	{tag: "financial_action", scopes: true, words: money},
	{tag: "customer_communication", words: oneOf("email", "emails", "message", "messages", "sms")},
	{tag: "sensitive_data_access", words: oneOf("credential", "credentials", "personal", "pii", "secret", "secrets", "ssn")},
	{tag: "code_execution", words: oneOf("bash", "command", "execute", "python", "shell")},
	{tag: "infrastructure_change", words: oneOf(
		"aws", "azure", "cluster", "clusters", "deploy", "droplet", "droplets", "gcp", "kubernetes", "terraform",
	)},
	{tag: "destructive", order: true, words: oneOf(
		"delete", "destroy", "drop", "erase", "kill", "purge", "remove", "revoke", "terminate", "truncate", "wipe",
	)},
	{tag: "financial_action", order: true, words: oneOf("charge", "pay", "refund", "transfer", "withdraw")},
	{tag: "financial_action", order: true, words: writing, with: money},
	{tag: "code_execution", order: true, words: oneOf("eval", "exec", "execute", "run"), with: oneOf(
		"code", "command", "commands", "query", "script", "scripts", "shell", "sql",
	)},
	{tag: "write", order: true, words: writing},
}

// outgoing are the words that make a message one that leaves the company.
var outgoing = oneOf("customer", "external", "send")

// Words that are asked for by themselves.
var (
	previewWord = oneOf("preview")
	writeWord   = oneOf("write")
)

// things are orders that are things as well, and lookedAt what one asks of a
// thing: refund_status tells and issue_read shows.
var (
	things   = oneOf("charge", "drop", "issue", "refund", "transfer")
	lookedAt = oneOf("details", "history", "info", "policy", "read", "summary")
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

// vocabulary numbers the words that something asks for. No other word of a text
// says anything, so that a set of words is a few bits and not a map for each tool.
var vocabulary = map[string]uint8{}

// longestWord bounds the words of the vocabulary.
const longestWord = 16

// wordSet is the words of the vocabulary that texts have.
type wordSet [2]uint64

func (w *wordSet) put(n uint8) { w[n/64] |= 1 << (n % 64) }

func (w *wordSet) has(n uint8) bool { return w[n/64]&(1<<(n%64)) != 0 }

func (w *wordSet) add(word string) {
	if n, known := vocabulary[word]; known {
		w.put(n)
	}
}

// wordList is words that are asked for, in the order in which they count.
type wordList struct {
	words []string
	all   wordSet
}

// oneOf makes a list, and its words some of the vocabulary.
func oneOf(words ...string) wordList {
	list := wordList{words: words}
	for _, word := range words {
		n, known := vocabulary[word]
		if !known {
			n = uint8(len(vocabulary))
			vocabulary[word] = n
		}
		if len(word) > longestWord {
			panic("effect: the word " + word + " is too long")
		}
		list.all.put(n) // which panics when there are too many
	}
	return list
}

func (l *wordList) has(word string) bool {
	n, known := vocabulary[word]
	return known && l.all.has(n)
}

// first is the first of the words that is in the set, or "".
func (w *wordSet) first(list *wordList) string {
	if w[0]&list.all[0]|w[1]&list.all[1] == 0 {
		return ""
	}
	for _, word := range list.words {
		if w.has(vocabulary[word]) {
			return word
		}
	}
	return ""
}

// wordsOf is the [a-z]+ words of texts, in lower case.
func wordsOf(texts ...string) (set wordSet) {
	for _, text := range texts {
		set.read(text)
	}
	return set
}

func (w *wordSet) read(text string) {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			text = strings.ToLower(text) // some letters have a lower case among these
			break
		}
	}
	var word [longestWord]byte
	n := 0
	for i := 0; i <= len(text); i++ {
		var c byte
		if i < len(text) {
			c = text[i]
		}
		if upper(c) {
			c += 'a' - 'A'
		}
		if lower(c) {
			if n < len(word) {
				word[n] = c
			}
			n++
			continue
		}
		if n > 0 && n <= len(word) {
			w.add(string(word[:n]))
		}
		n = 0
	}
}
