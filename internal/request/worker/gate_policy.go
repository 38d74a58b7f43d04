package worker

import (
	"cmp"
	"slices"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/capability"
	"plimsoll.dev/internal/pipeline/approval"
	"plimsoll.dev/internal/pipeline/contract"
	"plimsoll.dev/internal/pipeline/risk"
	"plimsoll.dev/internal/request/artifact"
	"plimsoll.dev/internal/request/envelope"
)

// asksFor is the words that ask for a capability. What a text does not ask for by
// any of them it does not get.
var asksFor = []struct {
	capability capability.Capability
	words      words
}{
	{capability.WriteRepo, words{
		"repository", "repositories", "repo", "branch*", "commit*", "source code", "pull request*", "merge request*", "refactor*", "репозитор*",
		"гілк*", "коміт*", "вихідний код", "пул-реквест*", "リポジトリ", "ブランチ", "コミット", "プルリクエスト", "ソースコード",
	}},
	{capability.InstallDeps, words{
		"dependenc*", "install*", "upgrade*", "librar* to", "npm", "залежност*", "встанов*", "інсталю*", "依存", "インストール", "導入",
	}},
	{capability.NetworkAccess, words{
		"webhook*", "upload*", "download*", "fetch*", "api", "internet", "network", "вебхук*", "завантаж*", "мереж*", "інтернет*", "ウェブフック", "アップロード", "ダウンロード", "ネットワーク",
	}},
	{capability.ReadSecrets, words{
		"credential*", "secret store", "api key*", "vault", "password store", "облікові дані", "ключ доступу", "сховищ* секрет*", "認証情報", "秘密の保管", "鍵の保管",
	}},
	{capability.PublishRelease, words{
		"release*", "deploy*", "publish the package", "publish a version", "випуск*", "реліз*", "розгорн*", "リリース", "デプロイ", "配備",
	}},
}

// saysOf is the words that state a critical signal.
var saysOf = []struct {
	signal risk.Signal
	words  words
}{
	{risk.ProductionEnvironmentWrite, words{"production", "live system*", "продакшн*", "бойов* систем*", "本番"}},
	{risk.CustomerDataWrite, words{"customer data", "customer record*", "client data", "дані клієнт*", "даних клієнт*", "顧客データ", "顧客情報"}},
	{risk.IrreversiblePublish, words{"irreversibl*", "cannot be undone", "незворотн*", "не можна скасувати", "取り消せない", "元に戻せない"}},
}

// capabilities is what the text of a request asks to be allowed. Whoever may
// write may read.
func capabilities(text string, diff bool) capability.Set {
	var set capability.Set
	for _, a := range asksFor {
		if a.words.in(text) {
			set = set.Union(capability.Of(a.capability))
		}
	}
	if diff {
		set = set.Union(capability.Of(capability.WriteRepo))
	}
	if set.Has(capability.WriteRepo) || set.Has(capability.InstallDeps) {
		set = set.Union(capability.Of(capability.ReadRepo))
	}
	return set
}

// judgement is everything that raises the level of a request, and what the
// boundary checks say.
type judgement struct {
	capabilities capability.Set
	declared     risk.Signals
	level        contract.Level
	reasons      []reason
	worst        *Boundary // the boundary result that decides; nil when no diff was checked
	unseen       []string  // ids of diffs that nobody checked
	refused      string    // why the boundary result lets nothing pass; "" when it does
	violated     string    // the rule of the operator's policy
}

// reason is one thing with the level it calls for.
type reason struct {
	what  string
	level contract.Level
}

// gatePolicy says how much may go wrong, which capabilities are asked for and
// what policy says. The level is the policy engine's own (package risk), of the
// same circumstances that a PublishGate is judged by (docs/spec/circle.md §9).
func gatePolicy(t *Task) (Result, error) {
	j := t.judge()
	say := t.tongue()
	verdict := "allowed"
	roles := approval.Required(j.level).List()
	because := say.say(sayAllowed)
	if len(roles) > 0 {
		verdict, because = "needs_approval", say.say(sayApproval, say.list(texts(roles)))
	}
	for _, why := range []string{j.violatedText(say), j.refused, j.unseenText(say)} {
		if why != "" {
			verdict, because = "blocked", say.say(sayBlocked, why)
		}
	}
	reasons, rows := []canonical.Object{}, []canonical.Object{}
	for _, r := range j.reasons {
		reasons = append(reasons, canonical.Object{{Key: "what", Value: clip(r.what, 128)}, {Key: "level", Value: string(r.level)}})
	}
	row := func(rule, effect, why string) {
		if len(rows) < 256 {
			rows = append(rows, canonical.Object{{Key: "rule", Value: clip(rule, 128)}, {Key: "effect", Value: effect}, {Key: "why", Value: line(why)}})
		}
	}
	if j.violated != "" {
		row(j.violated, "block", say.say(sayRule, j.level))
	}
	if j.worst != nil {
		for _, r := range j.worst.Result.Rows {
			row(r.RuleID, effect(r.Decision), say.say(sayRow, r.Level))
		}
	}
	if len(roles) > 0 {
		row("approvals."+string(j.level), "require_review", say.say(sayMatrix, j.level))
	} else {
		row("approvals."+string(j.level), "allow", say.say(sayNoReview, j.level))
	}
	o := canonical.Object{
		{Key: "summary", Value: line(say.say(sayRisk, j.level, because))},
		{Key: "risk", Value: string(j.level)},
		{Key: "verdict", Value: verdict},
		{Key: "reasons", Value: reasons},
		{Key: "requested_capabilities", Value: texts(j.capabilities.List())},
		{Key: "policy", Value: rows},
		{Key: "approvals", Value: texts(roles)},
	}
	if j.worst != nil {
		o = append(o, canonical.Member{Key: "boundary", Value: j.worst.object()})
	}
	put(&o, "remedies", t.gateRemedies(j))
	d := drafted(envelope.GateVerdict, o)
	for _, f := range t.found() {
		if f.Reference.Kind == envelope.RefDiff {
			d.Sources = append(d.Sources, f.Source)
		}
	}
	return Result{Drafts: []Draft{d}}, nil
}

func (t *Task) judge() judgement {
	diffs := []envelope.Reference{}
	for _, r := range t.Request.References {
		if r.Kind == envelope.RefDiff {
			diffs = append(diffs, r)
		}
	}
	j := judgement{capabilities: capabilities(t.Request.Text, len(diffs) > 0)}
	for i := range t.Earlier {
		change, _ := content(&t.Earlier[i])["change"].(map[string]any)
		list, _ := change["requested_capabilities"].([]any)
		for _, c := range list {
			if name, _ := c.(string); capability.Capability(name).Valid() {
				j.capabilities = j.capabilities.Union(capability.Of(capability.Capability(name)))
			}
		}
	}
	if t.Request.Has(envelope.ExternalAction) {
		j.capabilities = j.capabilities.Union(capability.Of(capability.NetworkAccess))
	}
	for _, s := range saysOf {
		if s.words.in(t.Request.Text) {
			j.declared |= risk.SignalsOf(s.signal)
		}
	}
	if t.Request.Has(envelope.Legal) {
		j.declared |= risk.SignalsOf(risk.LegalOrContractConcern)
	}
	j.weigh(t)
	gate := t.Facts.Gate
	if gate == nil {
		gate = &Gate{}
	}
	for _, r := range diffs {
		i := slices.IndexFunc(gate.Boundaries, func(b Boundary) bool { return b.Reference == r })
		if i < 0 {
			j.unseen = append(j.unseen, r.ID)
			continue
		}
		j.add(&gate.Boundaries[i])
	}
	slices.SortStableFunc(j.reasons, func(a, b reason) int {
		return cmp.Compare(rank(b.level), rank(a.level))
	})
	j.reasons = j.reasons[:min(len(j.reasons), 1000)]
	if gate.Violated != nil {
		j.violated = gate.Violated(j.level, j.capabilities, j.declared)
	}
	return j
}

func rank(l contract.Level) int { return slices.Index(contract.Levels(), l) }

// weigh holds every circumstance of the request against the policy engine, each
// by itself, and the whole.
func (j *judgement) weigh(t *Task) {
	c := risk.Circumstances{Capabilities: j.capabilities, Declared: j.declared}
	if t.Request.Has(envelope.Critical) {
		c.Floor = contract.Critical
	} else if t.Request.Has(envelope.CoreChange) {
		c.Floor = contract.High
	}
	j.level = risk.Assess(c).Level
	for _, name := range j.capabilities.List() {
		j.because(string(name), risk.Assess(risk.Circumstances{Capabilities: capability.Of(name)}).Level)
	}
	for _, s := range j.declared.List() {
		j.because(string(s), risk.Assess(risk.Circumstances{Declared: risk.SignalsOf(s)}).Level)
	}
	for _, f := range []envelope.Flag{envelope.Critical, envelope.CoreChange} {
		if t.Request.Has(f) {
			level := contract.High
			if f == envelope.Critical {
				level = contract.Critical
			}
			j.because(string(f), level)
		}
	}
}

func (j *judgement) because(what string, level contract.Level) {
	if r := (reason{what, level}); level != contract.Low && !slices.Contains(j.reasons, r) {
		j.reasons = append(j.reasons, r)
	}
}

// add takes a boundary result in. The worst of several decides: one that lets
// nothing pass, else the one of the highest level.
func (j *judgement) add(b *Boundary) {
	level := risk.Assess(risk.Circumstances{Boundary: &b.Result}).Level
	status, why := b.Result.Admits()
	if j.worst == nil || j.refused == "" && (status != contract.Passed || rank(level) > rank(risk.Assess(risk.Circumstances{Boundary: &j.worst.Result}).Level)) {
		j.worst = b
	}
	if status != contract.Passed && j.refused == "" {
		j.refused = why
	}
	j.level = j.level.Max(level)
	for _, r := range b.Result.Rows {
		alone := risk.Boundary{ControlState: "complete", Rows: []risk.Row{r}}
		j.because(r.RuleID, risk.Assess(risk.Circumstances{Boundary: &alone}).Level)
	}
	state := b.Result
	state.Rows = nil
	for _, r := range risk.Assess(risk.Circumstances{Boundary: &state}).Reasons {
		j.because(r, risk.Assess(risk.Circumstances{Boundary: &state}).Level)
	}
}

func (j *judgement) violatedText(say tongue) string {
	if j.violated == "" {
		return ""
	}
	return say.say(sayRule, j.level) + " (" + clip(j.violated, 100) + ")"
}

func (j *judgement) unseenText(say tongue) string {
	if len(j.unseen) == 0 {
		return ""
	}
	return say.say(sayUnseen, clip(j.unseen[0], 100))
}

// effect is a decision of the boundary check as the verdict has it.
func effect(decision string) string {
	switch decision {
	case "block", "require_review":
		return decision
	}
	return "allow"
}

func (b *Boundary) object() canonical.Object {
	rules := []string{}
	for _, r := range b.Result.Rows {
		if id := clip(r.RuleID, 128); !slices.Contains(rules, id) && len(rules) < 1000 {
			rules = append(rules, id)
		}
	}
	slices.Sort(rules)
	state := b.Result.ControlState
	switch state {
	case "complete", "agent_action_required", "human_review_required", "review_publishable":
	default: // a state from outside the protocol: nobody has judged the change
		state = "human_review_required"
	}
	o := canonical.Object{{Key: "control_state", Value: state}, {Key: "rules", Value: rules}}
	put(&o, "audit_id", clip(b.AuditID, 128))
	put(&o, "diff_sha256", b.Reference.SHA256)
	return o
}

// gateRemedies is what would make the verdict another one, where a block asks.
func (t *Task) gateRemedies(j judgement) []canonical.Object {
	say := t.tongue()
	list := []canonical.Object{}
	for _, c := range t.Stops {
		add := func(change string) {
			o := canonical.Object{{Key: "condition", Value: string(c)}, {Key: "change", Value: line(change)}}
			if len(list) < maxRemedies {
				list = append(list, o)
			}
		}
		for _, name := range j.capabilities.List() {
			if rank(risk.OfCapability(name)) >= rank(contract.High) {
				add(say.say(sayWithout, name))
			}
		}
		if j.worst != nil {
			for _, r := range j.worst.Result.Rows {
				if effect(r.Decision) != "allow" {
					add(say.say(saySmaller, r.RuleID))
				}
			}
		}
		for _, id := range j.unseen {
			add(say.say(sayCheckIt, clip(id, 100)))
		}
		for _, f := range t.allFlags() {
			if _, ceiling := t.Facts.Set.Registry().Ceiling(f); ceiling {
				add(say.say(sayFlagOff, f))
			}
		}
	}
	return list
}

// judged is the newest gate verdict's capabilities; ok is false when there is
// none.
func judged(a *artifact.Artifact) (set capability.Set, ok bool) {
	if a == nil {
		return 0, false
	}
	list, _ := content(a)["requested_capabilities"].([]any)
	for _, c := range list {
		if name, _ := c.(string); capability.Capability(name).Valid() {
			set = set.Union(capability.Of(capability.Capability(name)))
		}
	}
	return set, true
}
