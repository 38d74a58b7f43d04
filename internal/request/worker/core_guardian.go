package worker

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/gate/diff"
	"plimsoll.dev/internal/gate/surface"
	"plimsoll.dev/internal/request/artifact"
	"plimsoll.dev/internal/request/circle"
	"plimsoll.dev/internal/request/constitution"
	"plimsoll.dev/internal/request/envelope"
	"plimsoll.dev/internal/request/memory"
)

// The names of the trust roots, as the artifact schema has them.
const (
	rootConstitution = "constitution"
	rootRegistry     = "registry"
	rootPrompt       = "prompt"
	rootPolicy       = "policy"
	rootBaseline     = "baseline"
	rootWaiver       = "waiver"
	rootInstructions = "agent_instructions"

	basePath = "JOS_BASE.md"
)

// rootChange is a trust root that would change.
type rootChange struct {
	root, path    string
	before, after []byte // nil: not known, or not there
	effects       []effectOf
	what          string
}

// What Core-Guardian says.
var (
	sayCoreTitle   = phrase{"Change of the %s: %s", "Зміна кореня %s: %s", "%sの変更：%s"}
	sayPlaces      = phrase{"%d places read otherwise.", "Місць, що читаються інакше: %d.", "%dか所が変わる。"}
	saySame        = phrase{"The text says the same as the one in force.", "Текст каже те саме, що й чинний.", "今の文と同じことを言っている。"}
	sayAsWritten   = phrase{"As the request has it; no text was handed over.", "Так, як сказано в запиті; тексту не надано.", "依頼の言葉のとおり。文は渡されていない。"}
	sayUndoCore    = phrase{"By the same quorum, with the text of before.", "Тим самим кворумом, поверненням попереднього тексту.", "同じ定足数で、前の文に戻す。"}
	meansClauseIn  = phrase{"A rule is added; what it forbids or allows stands in its words.", "Додано правило; що воно забороняє чи дозволяє, каже воно саме.", "規則が加わる。何を禁じ何を許すかはその言葉にある。"}
	meansForbids   = phrase{"A rule is added that forbids something.", "Додано правило, яке щось забороняє.", "何かを禁じる規則が加わる。"}
	meansClauseOut = phrase{"A rule is gone: what it forbade is no longer forbidden.", "Правила більше немає: що воно забороняло, те вже не заборонене.", "規則がなくなり、それが禁じていたことは禁じられなくなる。"}
	meansClause    = phrase{"A rule reads otherwise.", "Правило читається інакше.", "規則の言葉が変わる。"}
	meansOneSide   = phrase{"Only one language changes here: the two no longer say the same.", "Тут змінюється лише одна мова: дві вже не кажуть те саме.", "片方の言語だけが変わり、二つは同じことを言わなくなる。"}
	meansBroken    = phrase{"It would not load: %s.", "Це не завантажилося б: %s.", "読み込めない：%s。"}
	meansNoVersion = phrase{"The text changes and its version does not.", "Текст змінюється, а версія ні.", "文が変わるのに版が変わらない。"}
	meansFewer     = phrase{"Fewer people than now would be enough.", "Вистачило б меншої кількості людей, ніж тепер.", "今より少ない人で足りるようになる。"}
	meansMore      = phrase{"More people than now would be needed.", "Знадобилося б більше людей, ніж тепер.", "今より多くの人が要るようになる。"}
	meansAsked     = phrase{"As proposed in words; what it allows shows when its text is there.", "Так запропоновано словами; що це дозволить, покаже текст.", "言葉での提案。何を許すかは文ができてから分かる。"}
	meansTrust     = phrase{"A file that decides what agents may do reads otherwise.", "Файл, що вирішує, що можна агентам, читається інакше.", "エージェントに何を許すかを決めるファイルが変わる。"}
)

var (
	coreLeads = words{
		"change the constitution so that", "change the registry so that", "change the policy so that", "change the constitution", "change the registry", "change the quorum",
		"amend the constitution so that", "amend the constitution", "amend", "change", "let us", "please", "i propose to", "we propose to", "i propose", "we propose",
		"пропоную змінити конституцію", "пропоную змінити реєстр", "пропоную змінити", "пропоную", "змінити конституцію", "змінити", "змінімо", "прошу",
		"憲法を変更して", "憲法を", "登録簿を変更して",
	}
	coreWords = words{
		"constitution*", "registry", "quorum", "policy", "policies", "amend*", "change*", "конституц*", "реєстр*", "кворум*", "політик*", "змін*", "поправк*", "憲法", "登録簿", "定足数", "方針",
	}
	rootNames = []struct {
		root, path string
		words      words
	}{
		{rootWaiver, ".agents-shipgate/waivers", words{"waiver*", "виняток*", "винятк*", "免除"}},
		{rootBaseline, ".agents-shipgate/baseline", words{"baseline*", "базова лінія", "базову лінію", "基準線"}},
		{rootInstructions, "AGENTS.md", words{"agents", "claude", "agent instructions", "вказівк* агент*", "エージェントへの指示"}},
		{rootRegistry, constitution.RegistryPath, words{"registry", "quorum*", "new worker", "remove worker", "реєстр*", "кворум*", "виконавц*", "виконавець", "登録簿", "定足数"}},
		{rootPrompt, "workers", words{"prompt*", "промпт*", "プロンプト"}},
		{rootPolicy, "policies", words{"policy", "policies", "політик*", "方針"}},
		{rootConstitution, basePath, words{"constitution*", "конституц*", "憲法", "jos-base"}},
	}
	addsWords    = words{"add", "adding", "new", "introduce*", "дода*", "нове", "новий", "нову", "追加", "加え", "新しい"}
	removesWords = words{"remove*", "delete*", "drop", "abolish*", "strike", "прибр*", "вилуч*", "скасу*", "видал*", "削除", "廃止"}
	ruleWords    = words{"rule*", "clause*", "section*", "правил*", "пункт*", "規則", "条"}
	insteadWords = words{"instead of", "rather than", "замість", "のではなく", "ではなく"}
	forbidWords  = words{"never", "no", "nobody", "must", "only", "not", "ніколи", "ніхто", "не", "лише", "тільки", "має", "мусить", "決して", "禁じ", "だけ", "ならない", "ない"}
)

// coreGuardian shows what a change of a trust root would mean
// (docs/spec/circle.md §1). A text that was handed over is held against the one
// in force: the registry by what it says, the constitution and the prompts clause
// by clause. Where there are only words, the words are shown beside the clause
// they are about. What cannot be told counts as widening.
func coreGuardian(t *Task) (Result, error) {
	changes := []rootChange{}
	for _, d := range t.found() {
		changes = append(changes, t.rootsOf(d)...)
	}
	if len(changes) == 0 {
		changes = append(changes, t.worded())
	}
	changes = changes[:min(len(changes), 64)]
	say := t.tongue()
	widening := false
	objects := make([]canonical.Object, len(changes))
	for i, c := range changes {
		effects := []canonical.Object{}
		for _, e := range c.effects[:min(len(c.effects), 1000)] {
			widening = widening || e.way == widens || e.way == unclear
			o := canonical.Object{
				{Key: "place", Value: clip(cmp.Or(line(e.place), c.path), 500)},
				{Key: "kind", Value: e.kind()},
				{Key: "direction", Value: string(e.way)},
				{Key: "meaning", Value: line(say.say(e.meaning, e.args...))},
			}
			put(&o, "before", clip(e.before, 4096))
			put(&o, "after", clip(e.after, 4096))
			effects = append(effects, o)
		}
		objects[i] = canonical.Object{{Key: "root", Value: c.root}, {Key: "path", Value: clip(c.path, 1024)}, {Key: "what", Value: line(c.what)}, {Key: "effects", Value: effects}}
		put(&objects[i], "before_sha256", hash(c.before))
		put(&objects[i], "after_sha256", hash(c.after))
		put(&objects[i], "version_before", version(c.before))
		put(&objects[i], "version_after", version(c.after))
	}
	council := t.Facts.Roll.With(circle.Council, t.Now)
	main, _ := statement(t.Request.Text, coreWords, coreLeads, decisionTails)
	d := drafted(envelope.CoreChangeProposal, canonical.Object{
		{Key: "title", Value: clip(line(say.say(sayCoreTitle, changes[0].root, cmp.Or(main, changes[0].path))), 300)},
		{Key: "reason", Value: clip(cmp.Or(strings.TrimSpace(t.Request.Text), main, changes[0].path), 60_000)},
		{Key: "changes", Value: objects},
		{Key: "widens", Value: widening},
		{Key: "council", Value: canonical.Object{
			{Key: "needed", Value: t.Facts.Circle.Needed(len(council), t.Facts.Set.Registry().Quorum)}, {Key: "of", Value: len(council)},
		}},
		{Key: "undo", Value: say.say(sayUndoCore)},
	})
	d.Flags, d.Concerns = []envelope.Flag{envelope.CoreChange}, t.concerned()
	for _, f := range t.found() {
		d.Sources = append(d.Sources, f.Source)
	}
	return Result{Drafts: []Draft{d}}, nil
}

// hash is a digest of a text that is there.
func hash(text []byte) string {
	if text == nil {
		return ""
	}
	return artifact.Digest(text)
}

// version is what a text says its version is: in its front matter, or on the line
// of the registry for that.
func version(text []byte) string {
	for i, l := range strings.Split(string(text), "\n") {
		for _, key := range []string{"version: ", "registry: "} {
			if v, ok := strings.CutPrefix(strings.TrimRight(l, "\r"), key); ok && v != "" && len(v) <= 32 {
				return v
			}
		}
		if i > 40 {
			break
		}
	}
	return ""
}

// rootsOf is the trust roots that a document would change: the document itself, or
// those of the diff it is.
func (t *Task) rootsOf(d Document) []rootChange {
	list := []rootChange{}
	if d.Reference.Kind == envelope.RefDiff {
		for _, r := range diff.Parse([]byte(d.Text)) {
			list = append(list, t.patched(r)...)
		}
		var result struct {
			ChangedFiles []string `json:"changed_files"`
		}
		if json.Unmarshal([]byte(d.Text), &result) == nil { // the result of a boundary check
			for _, name := range result.ChangedFiles {
				if root := rootOf(name); root != "" {
					list = append(list, t.described(rootChange{root: root, path: name, effects: []effectOf{{place: name, way: unclear, meaning: meansTrust, as: "changed"}}}))
				}
			}
		}
		return list
	}
	name := ""
	for _, candidate := range []string{d.Reference.ID, d.Title} {
		if name == "" && rootOf(candidate) != "" {
			name = candidate
		}
	}
	if name == "" {
		return nil
	}
	c := rootChange{root: rootOf(name), path: name, after: []byte(d.Text)}
	if own := t.own(name); own != "" {
		c.path, c.before = own, t.Facts.Set.File(own)
	}
	return []rootChange{t.described(t.compared(c))}
}

// own is the file of the set in force that a path means; "" when it is none.
func (t *Task) own(name string) string {
	for _, p := range t.Facts.Set.Paths() {
		if name == p || strings.HasSuffix(name, "/"+p) {
			return p
		}
	}
	return ""
}

// rootOf is the trust root a path is of; "" for a path that is none. Those of the
// boundary check are among them (docs/spec/circle.md §9).
func rootOf(name string) string {
	switch base := path.Base(name); {
	case base == basePath:
		return rootConstitution
	case base == constitution.RegistryPath:
		return rootRegistry
	case base == "orchestrator.md", path.Base(path.Dir(name)) == "workers" && path.Ext(name) == ".md", base == constitution.LockPath:
		return rootPrompt
	}
	switch class := surface.ClassOf(name); class {
	case surface.ClassPrompts:
		return rootPrompt
	case surface.ClassState:
		if strings.Contains(name, "waiver") {
			return rootWaiver
		}
		return rootBaseline
	case surface.ClassInstructions, surface.ClassCodexPlugin, surface.ClassToolSurface, surface.ClassHostBoundary:
		return rootInstructions
	case surface.ClassManifest, surface.ClassPolicy, surface.ClassCIGate:
		return rootPolicy
	}
	return ""
}

// patched is the trust root a record of a diff changes. Of a file of the set in
// force both texts are made and compared; of another the lines are shown.
func (t *Task) patched(r diff.Record) []rootChange {
	name := cmp.Or(r.NewName, r.OldName)
	root := rootOf(name)
	if root == "" {
		root, name = rootOf(r.OldName), r.OldName // moved away
	}
	if root == "" {
		return nil
	}
	c := rootChange{root: root, path: name}
	if own := t.own(name); own != "" {
		sides := diff.Reconstruct(&r, diff.WorkspaceFile{State: diff.FileRead, Bytes: t.Facts.Set.File(own)})
		if !sides.Unresolved && sides.OldPresent && sides.NewPresent {
			c.path, c.before, c.after = own, sides.Old, sides.New
			return []rootChange{t.described(t.compared(c))}
		}
	}
	for _, h := range r.Hunks {
		e := effectOf{place: fmt.Sprintf("%s:%d", name, h.NewStart), way: unclear, meaning: meansTrust}
		for _, l := range h.Lines {
			switch l.Op {
			case '-':
				e.before += string(l.Text) + "\n"
			case '+':
				e.after += string(l.Text) + "\n"
			}
		}
		c.effects = append(c.effects, e)
	}
	if len(c.effects) == 0 {
		c.effects = append(c.effects, effectOf{place: name, way: unclear, meaning: meansTrust, as: "changed"})
	}
	return []rootChange{t.described(c)}
}

func (t *Task) described(c rootChange) rootChange {
	say := t.tongue()
	c.what = say.say(sayPlaces, len(c.effects))
	if len(c.effects) == 0 {
		c.what = say.say(saySame)
	}
	return c
}

// compared holds the text of a trust root against the one in force.
func (t *Task) compared(c rootChange) rootChange {
	if string(c.before) == string(c.after) {
		return c
	}
	if c.before == nil {
		c.effects = []effectOf{{place: c.path, way: unclear, meaning: meansTrust, after: string(c.after)}}
		return c
	}
	after, err := constitution.Load(propose(t.Facts.Set, c.path, c.after))
	if faults, ok := errors.AsType[constitution.Faults](err); ok {
		for _, f := range faults {
			c.effects = append(c.effects, effectOf{
				place: fmt.Sprintf("%s:%d", f.Path, f.Line), way: unclear, meaning: meansBroken, args: []any{f.Msg}, as: "changed",
			})
		}
	}
	if c.root == rootRegistry {
		if err == nil {
			c.effects = append(c.effects, compareRegistries(t.Facts.Set.Registry(), after.Registry())...)
		}
		return c
	}
	c.effects = append(c.effects, clauseEffects(paired(clauses(string(c.before)), clauses(string(c.after))))...)
	if v := version(c.before); v != "" && v == version(c.after) {
		c.effects = append(c.effects, effectOf{place: "version", way: unclear, meaning: meansNoVersion, before: v, after: v})
	}
	return c
}

// clauseEffects is what changed clauses mean. The languages of a page stand under
// one heading each: a change that only one of them has is one too.
func clauseEffects(pairs []pair) []effectOf {
	list := []effectOf{}
	languages := map[string]int{}
	for _, p := range pairs {
		e := effectOf{way: unclear, meaning: meansClause}
		switch {
		case p.before == nil:
			e.place, e.after, e.meaning = p.after.place(), p.after.text, meansClauseIn
			if forbidWords.in(p.after.text) {
				e.way, e.meaning = narrows, meansForbids
			}
		case p.after == nil:
			e.place, e.before, e.way, e.meaning = p.before.place(), p.before.text, widens, meansClauseOut
		default:
			e.place, e.before, e.after = p.before.place(), p.before.text, p.after.text
			if e.before == e.after { // it stands elsewhere
				e.place = p.before.place() + " → " + p.after.place()
			}
		}
		language, _, _ := strings.Cut(e.place, " / ")
		languages[language]++
		list = append(list, e)
	}
	if english, ukrainian := languages["English"], languages["Українською"]; english != ukrainian && len(list) > 0 {
		list = append(list, effectOf{place: "English / Українською", way: unclear, meaning: meansOneSide, as: "changed"})
	}
	return list
}

// worded is a change there are only words for.
func (t *Task) worded() rootChange {
	text := t.Request.Text
	main, _ := statement(text, coreWords, coreLeads, decisionTails)
	c := rootChange{root: rootConstitution, path: basePath, what: t.tongue().say(sayAsWritten)}
	for _, n := range rootNames {
		if n.words.in(text) {
			c.root, c.path = n.root, n.path
			break
		}
	}
	if c.root == rootPrompt {
		c.path = "orchestrator.md"
		for _, id := range constitution.Workers() {
			if strings.Contains(text, string(id)) {
				c.path = "workers/" + string(id) + ".md"
			}
		}
	}
	c.before = t.Facts.Set.File(c.path)
	e := effectOf{place: c.path, way: unclear, meaning: meansAsked, after: main}
	if found := t.about(c.path, main); found != nil && !addsWords.in(text) {
		e.place, e.before = found.place(), found.text
	}
	switch {
	case c.root == rootRegistry && (words{"quorum*", "кворум*", "定足数"}).in(text):
		q := t.Facts.Set.Registry().Quorum
		e.place, e.before = "quorum / fraction", fmt.Sprintf("%d/%d", q.Numerator, q.Denominator)
		if n, of := fraction(text); of > 0 {
			e.after = fmt.Sprintf("%d/%d", n, of)
			e.way, e.meaning = compared(n*q.Denominator, q.Numerator*of)
		}
	case removesWords.in(text) && !insteadWords.in(text):
		e.way, e.meaning = widens, meansClauseOut
		e.before, e.after = cmp.Or(e.before, main), ""
	default:
		if p, ok := insteadWords.find(text); ok {
			now, then := firstNumber(text[p.end:]), firstNumber(text[:p.start])
			if strings.ContainsFunc(p.of(text), unspaced) || now == 0 || then == 0 {
				break
			}
			e.way, e.meaning = compared(then, now)
		}
	}
	if e.after == "" && e.before == "" {
		e.after = c.path
	}
	c.effects = []effectOf{e}
	return c
}

// compared says what it means that so many people are enough where it was so many.
func compared(then, now int) (direction, phrase) {
	switch {
	case then < now:
		return widens, meansFewer
	case then > now:
		return narrows, meansMore
	}
	return unclear, meansAsked
}

// about is the clause of a page that a text is about: the one with most of its
// telling words, where one word of it stands in that clause alone or several do.
func (t *Task) about(name, text string) *clause {
	if path.Ext(name) != ".md" {
		return nil
	}
	telling := []string{}
	for _, word := range strings.Fields(asked(text)) {
		if !addsWords.in(word) && !removesWords.in(word) && !ruleWords.in(word) {
			telling = append(telling, word)
		}
	}
	query := memory.Ask(strings.Join(telling, " "))
	var best *clause
	most, shared := 0, false
	for _, c := range clauses(string(t.Facts.Set.File(name))) {
		switch n := query.Hits(c.under + "\n" + c.text); {
		case n > most:
			most, best, shared = n, &c, false
		case n == most:
			shared = true
		}
	}
	if most == 1 && shared {
		return nil
	}
	return best
}

// fraction is the part a text names: "3/4", "three quarters", "三分の二".
func fraction(text string) (n, of int) {
	for i := 1; i+1 < len(text); i++ {
		if text[i] == '/' {
			n, start := kanji(text[:i])
			end := i + 1
			for end < len(text) && '0' <= text[end] && text[end] <= '9' {
				end++
			}
			if of, _ := kanji(text[i+1 : end]); start < i && of > 0 && n <= of {
				return n, of
			}
		}
	}
	for _, part := range []struct {
		words words
		of    int
	}{
		{words{"half", "halves", "половин*"}, 2},
		{words{"third", "thirds", "третин*", "третіх"}, 3},
		{words{"quarter", "quarters", "чверт*", "четвертих"}, 4},
		{words{"fifth", "fifths", "п'ятих"}, 5},
	} {
		if c := counts(text, part.words); len(c) > 0 && c[0].halves/2 <= part.of {
			return c[0].halves / 2, part.of
		}
	}
	if before, after, ok := strings.Cut(text, "分の"); ok {
		of, _ := kanji(before)
		end := strings.IndexFunc(after, func(r rune) bool { return !strings.ContainsRune("0123456789一二三四五六七八九十", r) })
		if end < 0 {
			end = len(after)
		}
		n, _ := kanji(after[:end])
		if of > 0 && n > 0 && n <= of {
			return n, of
		}
	}
	return 0, 0
}

// firstNumber is the first number of a text, in halves; 0 when there is none.
func firstNumber(text string) int {
	for _, t := range tokens(text) {
		if n, ok := halves(t); ok && t.text != "a" && t.text != "an" && n > 0 {
			return n
		}
	}
	return 0
}
