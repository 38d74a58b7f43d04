package screen

// Kind is what a finding is about.
type Kind string

// The kinds of breach (docs/spec/circle.md §8).
const (
	BypassRules     Kind = "bypass"              // leave the constitution or a check aside
	RevealHidden    Kind = "hidden_instructions" // show instructions that are not shown
	RevealSecrets   Kind = "secrets"             // show keys, passwords, tokens
	RevealNotes     Kind = "private_notes"       // show what another member keeps for itself
	AskToExecute    Kind = "execute"             // run something, or act without asking
	Impersonation   Kind = "impersonation"       // consent, confirm or decide as somebody else
	Persona         Kind = "persona"             // be somebody who keeps to no rules
	ForgedAuthority Kind = "forged_authority"    // pretend to be the system
	Exfiltration    Kind = "exfiltration"        // carry things out to an address
	Concealment     Kind = "concealment"         // keep the audit log or the guards from seeing it
)

// BreachKinds is every kind of breach.
func BreachKinds() []Kind {
	return []Kind{
		BypassRules, RevealHidden, RevealSecrets, RevealNotes, AskToExecute, Impersonation, Persona, ForgedAuthority, Exfiltration, Concealment,
	}
}

// Need is one part of a rule: a word of any of the classes.
type Need struct {
	Any    []Class
	Order  bool // the word is a verb, and an order
	After  bool // it stands after the first part
	Across bool // it may stand in the sentence before, when the first part is followed by a pronoun
	Later  bool // it may stand in a sentence after that of the first part
	Within int  // farthest distance from the first part, in units; 0 is the rule's own
}

// Rule says which words together are a breach. It holds no state and no sentence:
// its words are those of the classes, in every language there is a lexicon for.
// The first need is the head; the others stand around it in one sentence.
type Rule struct {
	ID     string
	Kind   Kind
	Needs  []Need
	Within int     // units
	Unless []Class // a word of these near the head makes it something else
}

func any1(c ...Class) Need { return Need{Any: c} }

func order(c ...Class) Need { return Need{Any: c, Order: true} }

// Rules are the rules that are shipped, in order of their ids.
func rules() []Rule {
	return []Rule{
		{ID: "breach.bypass-guard", Kind: BypassRules, Needs: []Need{order(Bypass), any1(Guard)}, Within: 18, Unless: []Class{Will}},
		{ID: "breach.bypass-rules", Kind: BypassRules, Needs: []Need{order(Bypass), {Any: []Class{Rules}, Across: true}}, Within: 27},
		{ID: "breach.conceal", Kind: Concealment, Needs: []Need{order(Conceal), any1(Record)}, Within: 24},
		{ID: "breach.conceal-from", Kind: Concealment, Needs: []Need{order(Conceal), {Any: []Class{From}, Within: 24}, any1(Guard)}, Within: 30},
		{ID: "breach.silence", Kind: Concealment, Needs: []Need{order(Silence), any1(Guard, Record)}, Within: 15},
		{ID: "breach.execute", Kind: AskToExecute, Needs: []Need{order(Execute), {Any: []Class{Effect}, Within: 15}}, Within: 15, Unless: []Class{Will}},
		{ID: "breach.act-unasked", Kind: AskToExecute, Needs: []Need{order(Act, Execute), any1(Unasked)}, Within: 48, Unless: []Class{Will}},
		{ID: "breach.exfiltrate", Kind: Exfiltration, Needs: []Need{order(Reveal, Act), any1(Data, Notes, Secret, Hidden), any1(Outward)}, Within: 45},
		{ID: "breach.forge-status", Kind: Impersonation, Needs: []Need{order(Forge, Decide), any1(Settled), any1(Unasked, InName, Member)}, Within: 45},
		{ID: "breach.forged-authority", Kind: ForgedAuthority, Needs: []Need{any1(Marker), {Any: []Class{Bypass, Reveal, Execute, Act, Conceal, Decide, Assume, Obey, Forge, Void}, Order: true, Later: true}}, Within: 90},
		{ID: "breach.impersonate", Kind: Impersonation, Needs: []Need{order(Decide), any1(InName)}, Within: 30, Unless: []Class{Will}},
		{ID: "breach.persona", Kind: Persona, Needs: []Need{order(Assume), any1(Free)}, Within: 42},
		{ID: "breach.persona-told", Kind: Persona, Needs: []Need{any1(Free), any1(You), order(Reveal, Bypass, Execute, Assume, Obey, Act)}, Within: 36},
		{ID: "breach.reveal-hidden", Kind: RevealHidden, Needs: []Need{order(Reveal), any1(Hidden)}, Within: 27},
		{ID: "breach.ask-hidden", Kind: RevealHidden, Needs: []Need{any1(Ask), any1(Hidden)}, Within: 18},
		{ID: "breach.reveal-notes", Kind: RevealNotes, Needs: []Need{order(Reveal), {Any: []Class{Notes}, Within: 24}, {Any: []Class{Other}, Within: 42}}, Within: 42},
		{ID: "breach.ask-notes", Kind: RevealNotes, Needs: []Need{any1(Ask), {Any: []Class{Notes}, Within: 24}, any1(Other)}, Within: 42},
		{ID: "breach.reveal-secrets", Kind: RevealSecrets, Needs: []Need{order(Reveal), any1(Secret)}, Within: 21, Unless: []Class{Meta, Own}},
		{ID: "breach.ask-secrets", Kind: RevealSecrets, Needs: []Need{any1(Ask), any1(Secret)}, Within: 15, Unless: []Class{Meta, Own}},
		{ID: "breach.void", Kind: BypassRules, Needs: []Need{order(Void), any1(Rules), any1(You)}, Within: 30},
	}
}
