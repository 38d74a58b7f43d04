package worker

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll.dev/internal/request/constitution"
	"plimsoll.dev/internal/request/envelope"
)

// direction is what somebody may do after a change.
type direction string

const (
	widens  direction = "widens"
	narrows direction = "narrows"
	neutral direction = "neutral"
	unclear direction = "unclear"
)

// effectOf is one place that would read otherwise.
type effectOf struct {
	place         string
	way           direction
	meaning       phrase
	args          []any
	before, after string
	as            string // added, removed, changed; "" as before and after show
}

func (e effectOf) kind() string {
	switch {
	case e.as != "":
		return e.as
	case e.before == "":
		return "added"
	case e.after == "":
		return "removed"
	}
	return "changed"
}

// registryDiff is what is different between two registries, place by place, with
// what it lets somebody do. It compares what they mean: how they are written
// makes no difference.
type registryDiff struct {
	effects []effectOf
}

func (d *registryDiff) add(place, before, after string, way direction, meaning phrase, args ...any) {
	if before != after {
		d.effects = append(d.effects, effectOf{place: place, way: way, meaning: meaning, args: args, before: before, after: after})
	}
}

// number is a place that holds a number; up says what a larger one does.
func (d *registryDiff) number(place string, before, after int, up direction, meaning phrase) {
	way := up
	if after < before && up == widens {
		way = narrows
	} else if after < before && up == narrows {
		way = widens
	}
	d.add(place, strconv.Itoa(before), strconv.Itoa(after), way, meaning)
}

// set is a place that holds a set of names; more says what one more does.
func set[T ~string](d *registryDiff, place string, before, after []T, more direction, added, removed phrase) {
	fewer := unclear
	switch more {
	case widens:
		fewer = narrows
	case narrows:
		fewer = widens
	case neutral:
		fewer = neutral
	case unclear:
	}
	for _, name := range after {
		if !slices.Contains(before, name) {
			d.add(place, "", string(name), more, added, string(name))
		}
	}
	for _, name := range before {
		if !slices.Contains(after, name) {
			d.add(place, string(name), "", fewer, removed, string(name))
		}
	}
	if len(before) == len(after) && !slices.Equal(before, after) {
		sameNames := !slices.ContainsFunc(before, func(n T) bool { return !slices.Contains(after, n) })
		if sameNames {
			d.add(place, strings.Join(texts(before), ", "), strings.Join(texts(after), ", "), neutral, meansOrder)
		}
	}
}

// What a change of the registry means.
var (
	meansOrder      = phrase{"The order is another.", "Порядок інший.", "順序が変わる。"}
	meansMayReturn  = phrase{"The worker may return %s, which it may not now.", "Виконавець зможе повертати %s, чого тепер не може.", "このワーカーは今はできない%sを返せるようになる。"}
	meansNotReturn  = phrase{"The worker may no longer return %s.", "Виконавець більше не зможе повертати %s.", "このワーカーは%sを返せなくなる。"}
	meansModel      = phrase{"Who drafts is another: a model may, or no longer may.", "Чернетки готуватиме інший: модель зможе або більше не зможе.", "下書きをするものが変わる。モデルが書けるようになるか、書けなくなる。"}
	meansLonger     = phrase{"A run may take another time.", "Запуск може тривати інший час.", "一回の実行にかけられる時間が変わる。"}
	meansCeiling    = phrase{"What carries this flag may be shown to others than now.", "Позначене цим прапорцем можна буде показати іншим, ніж тепер.", "この印のあるものを見せてよい相手が変わる。"}
	meansAtOnce     = phrase{"Another number of workers runs at the same time.", "Одночасно працюватиме інша кількість виконавців.", "同時に動くワーカーの数が変わる。"}
	meansLimit      = phrase{"A limit of what one request may cost is another.", "Межа того, скільки коштує один запит, інша.", "一つの依頼にかけられるものの上限が変わる。"}
	meansBreaches   = phrase{"A channel is suspended after another number of breaches.", "Канал зупинятимуть після іншої кількості порушень.", "経路が止められる違反の回数が変わる。"}
	meansWindow     = phrase{"Breaches count for another time.", "Порушення рахуються інший час.", "違反が数えられる期間が変わる。"}
	meansConsent    = phrase{"Whoever is asked for consent has another time to answer.", "Для відповіді про згоду буде інший час.", "同意を求められた人が答える期間が変わる。"}
	meansProof      = phrase{"A proof of identity may be given for another time.", "Доказ особи можна дати протягом іншого часу.", "本人確認に答えられる期間が変わる。"}
	meansQuorum     = phrase{"Another part of the council must consent to a core change.", "На зміну ядра має погодитися інша частина ради.", "土台の変更に同意が要る評議会の割合が変わる。"}
	meansWakes      = phrase{"A request that says %s goes where it does not go now.", "Запит зі словами %s піде туди, куди тепер не йде.", "「%s」と言う依頼の行き先が変わる。"}
	meansNotWakes   = phrase{"A request that says %s no longer goes there.", "Запит зі словами %s більше туди не піде.", "「%s」と言う依頼はそこへ行かなくなる。"}
	meansServes     = phrase{"%s serves it, and does not now.", "Цим займатиметься %s, чого тепер нема.", "%sが受け持つようになる。"}
	meansNotServes  = phrase{"%s no longer serves it.", "%s цим більше не займатиметься.", "%sは受け持たなくなる。"}
	meansExpects    = phrase{"Requests of this intent also ask for %s.", "Запити цього наміру проситимуть також %s.", "この意図の依頼は%sも求める。"}
	meansNotExpects = phrase{"Requests of this intent no longer ask for %s.", "Запити цього наміру більше не проситимуть %s.", "この意図の依頼は%sを求めなくなる。"}
	meansWhen       = phrase{"The step has its turn under another condition.", "Крок виконуватиметься за іншої умови.", "この段が行われる条件が変わる。"}
	meansRequired   = phrase{"Whether the chain stops when the step fails is another.", "Чи зупиняє ланцюг невдача кроку, тепер інакше.", "この段が失敗したとき止まるかどうかが変わる。"}
	meansBeside     = phrase{"Whether the step runs together with the one before is another.", "Чи йде крок разом із попереднім, тепер інакше.", "前の段と同時に行うかどうかが変わる。"}
	meansWords      = phrase{"People read other words; nobody's rights change.", "Люди читатимуть інші слова; права ті самі.", "読む言葉が変わるだけで、権利は変わらない。"}
	meansLanguage   = phrase{"Requests in %s are understood, and are not now.", "Запити мовою %s розумітимуть, а тепер ні.", "%sの依頼が分かるようになる。"}
	meansNoLanguage = phrase{"Requests in %s are no longer understood.", "Запити мовою %s більше не розумітимуть.", "%sの依頼が分からなくなる。"}
	meansVersion    = phrase{"The version is another.", "Версія інша.", "版が変わる。"}
)

func compareRegistries(before, after *constitution.Registry) []effectOf {
	d := &registryDiff{}
	d.add("registry", before.Version, after.Version, neutral, meansVersion)
	set(d, "locales", before.Locales, after.Locales, neutral, meansLanguage, meansNoLanguage)
	d.manager(before.Manager, after.Manager)
	for _, w := range before.Workers {
		if v, ok := after.Worker(w.ID); ok {
			d.worker(w, v)
		}
	}
	for _, c := range before.Chains {
		if e, ok := after.Chain(c.ID); ok {
			d.chain(c, e)
		}
	}
	for _, i := range before.Intents {
		if j, ok := after.Intent(i.ID); ok {
			d.intent(i, j)
		}
	}
	for _, c := range before.Ceilings {
		if e, ok := after.Ceiling(c.Flag); ok {
			d.ceiling("ceilings / "+string(c.Flag)+" / without_consent", c.Without, e.Without)
			d.ceiling("ceilings / "+string(c.Flag)+" / with_consent", c.WithConsent, e.WithConsent)
		}
	}
	d.number("economy / heavy", before.Economy.Heavy, after.Economy.Heavy, widens, meansAtOnce)
	d.number("economy / supporting", before.Economy.Supporting, after.Economy.Supporting, widens, meansAtOnce)
	d.limits(before.Limits, after.Limits)
	d.quorum(before.Quorum, after.Quorum)
	return d.effects
}

func (d *registryDiff) manager(before, after constitution.Manager) {
	const place = "agents / Spirit-Orchestrator"
	d.engine(place, before.Engine, after.Engine)
	d.span(place+" / deadline", before.Deadline, after.Deadline, meansLonger)
	d.wording(place+" / about", before.About, after.About)
}

func (d *registryDiff) engine(place string, before, after constitution.Engine) {
	way := narrows
	if after == constitution.Model {
		way = widens
	}
	d.add(place+" / engine", string(before), string(after), way, meansModel)
}

// span is a place that holds how long something may take or stay open: a longer
// one lets more happen.
func (d *registryDiff) span(place string, before, after time.Duration, meaning phrase) {
	way := widens
	if after < before {
		way = narrows
	}
	d.add(place, before.String(), after.String(), way, meaning)
}

func (d *registryDiff) wording(place string, before, after map[constitution.Locale]string) {
	for _, l := range slices.Sorted(keys(before, after)) {
		d.add(place+" / "+string(l), before[l], after[l], neutral, meansWords)
	}
}

// keys is every key of the two, once.
func keys[V any](a, b map[constitution.Locale]V) func(func(constitution.Locale) bool) {
	return func(yield func(constitution.Locale) bool) {
		for k := range a {
			if !yield(k) {
				return
			}
		}
		for k := range b {
			if _, twice := a[k]; !twice && !yield(k) {
				return
			}
		}
	}
}

func (d *registryDiff) worker(before, after constitution.Worker) {
	place := "agents / " + string(before.ID)
	set(d, place+" / outputs", before.Outputs, after.Outputs, widens, meansMayReturn, meansNotReturn)
	d.engine(place, before.Engine, after.Engine)
	d.span(place+" / deadline", before.Deadline, after.Deadline, meansLonger)
	d.wording(place+" / about", before.About, after.About)
}

func (d *registryDiff) chain(before, after constitution.Chain) {
	for i := range min(len(before.Steps), len(after.Steps)) {
		a, b := before.Steps[i], after.Steps[i]
		place := fmt.Sprintf("chains / %s / %d. %s", before.ID, i+1, a.Worker)
		set(d, place+" / outputs", a.Outputs, b.Outputs, widens, meansMayReturn, meansNotReturn)
		d.add(place+" / when", condition(a), condition(b), unclear, meansWhen)
		way := narrows
		if a.Required {
			way = widens
		}
		d.add(place+" / required", strconv.FormatBool(a.Required), strconv.FormatBool(b.Required), way, meansRequired)
		d.add(place+" / beside", strconv.FormatBool(a.Beside), strconv.FormatBool(b.Beside), neutral, meansBeside)
	}
}

func condition(s constitution.Step) string {
	if s.When == nil {
		return "always"
	}
	return s.When.String()
}

func (d *registryDiff) intent(before, after constitution.IntentEntry) {
	place := "intents / " + string(before.ID)
	set(d, place+" / workers", before.Workers, after.Workers, widens, meansServes, meansNotServes)
	set(d, place+" / outputs", before.Outputs, after.Outputs, widens, meansExpects, meansNotExpects)
	set(d, place+" / actions", before.Actions, after.Actions, widens, meansExpects, meansNotExpects)
	for _, l := range slices.Sorted(keys(before.Triggers, after.Triggers)) {
		phrases := func(list []constitution.Trigger) (out []string) {
			for _, t := range list {
				out = append(out, t.Text)
			}
			return out
		}
		// Which words wake which worker decides what is checked: nobody can say
		// from a list whether that lets more happen.
		set(d, place+" / triggers / "+string(l), phrases(before.Triggers[l]), phrases(after.Triggers[l]), unclear, meansWakes, meansNotWakes)
	}
	d.wording(place+" / question", before.Question, after.Question)
}

func (d *registryDiff) ceiling(place string, before, after envelope.Level) {
	name := func(l envelope.Level) string {
		if l == "" {
			return "none"
		}
		return string(l)
	}
	way := narrows
	if after.Wider(before) {
		way = widens
	}
	d.add(place, name(before), name(after), way, meansCeiling)
}

func (d *registryDiff) limits(before, after constitution.Limits) {
	d.number("limits / regenerations", before.Regenerations, after.Regenerations, widens, meansLimit)
	d.number("limits / steps", before.Steps, after.Steps, widens, meansLimit)
	d.number("limits / artifacts", before.Artifacts, after.Artifacts, widens, meansLimit)
	d.number("limits / breaches", before.Breaches, after.Breaches, widens, meansBreaches)
	way := widens
	if after.BreachWindow > before.BreachWindow {
		way = narrows
	}
	d.add("limits / breach_window", before.BreachWindow.String(), after.BreachWindow.String(), way, meansWindow)
	d.span("limits / consent", before.Consent, after.Consent, meansConsent)
	d.span("limits / step_up", before.StepUp, after.StepUp, meansProof)
}

func (d *registryDiff) quorum(before, after constitution.Quorum) {
	d.number("quorum / members", before.Members, after.Members, narrows, meansQuorum)
	way := narrows
	if after.Numerator*before.Denominator < before.Numerator*after.Denominator {
		way = widens
	}
	part := func(q constitution.Quorum) string { return fmt.Sprintf("%d/%d", q.Numerator, q.Denominator) }
	if after.Numerator*before.Denominator != before.Numerator*after.Denominator {
		d.add("quorum / fraction", part(before), part(after), way, meansQuorum)
	}
}
