package worker

import (
	"fmt"
	"strings"

	"plimsoll.dev/internal/request/envelope"
)

// tongue is a language drafts are written in.
type tongue string

const (
	english   tongue = "en"
	ukrainian tongue = "uk"
	japanese  tongue = "ja"
)

// tongueOf is the language of a locale; English where there is no catalogue for
// it.
func tongueOf(locale string) tongue {
	language, _, _ := strings.Cut(strings.ToLower(locale), "-")
	switch t := tongue(language); t {
	case ukrainian, japanese:
		return t
	default:
		return english
	}
}

func (t *Task) tongue() tongue { return tongueOf(t.Request.Locale) }

// phrase is one thing to say, in each language.
type phrase struct{ en, uk, ja string }

// say is a phrase with its blanks filled in.
func (t tongue) say(p phrase, args ...any) string {
	text := p.en
	switch t {
	case ukrainian:
		text = p.uk
	case japanese:
		text = p.ja
	case english:
	}
	if len(args) == 0 {
		return text
	}
	return fmt.Sprintf(text, args...)
}

// list joins names as people do.
func (t tongue) list(names []string) string {
	if t == japanese {
		return strings.Join(names, "、")
	}
	return strings.Join(names, ", ")
}

// quote puts words between the marks of the language.
func (t tongue) quote(s string) string {
	switch t {
	case ukrainian:
		return "«" + s + "»"
	case japanese:
		return "「" + s + "」"
	case english:
	}
	return "“" + s + "”"
}

// level is who may see something, in words.
func (t tongue) level(l envelope.Level) string {
	switch l {
	case envelope.Private:
		return t.say(phrase{"only you", "тільки тобі", "本人だけ"})
	case envelope.Circle:
		return t.say(phrase{"the circle", "колу", "サークル"})
	case envelope.Clan:
		return t.say(phrase{"the clan", "клану", "クラン"})
	case envelope.Public:
		return t.say(phrase{"everybody", "усім", "すべての人"})
	}
	return t.say(phrase{"nobody", "нікому", "誰にも見せない"})
}

// What Privacy-Sentinel says.
var (
	sayClean    = phrase{"Nothing delicate was found in %d texts.", "Чутливого не знайдено; текстів перевірено: %d.", "%d件の文に気をつけるべきものはなかった。"}
	sayFound    = phrase{"Found in %d texts: %s.", "Текстів перевірено: %d. Знайдено: %s.", "%d件の文で見つかったもの：%s。"}
	sayKinds    = phrase{"%s (%d)", "%s (%d)", "%s（%d）"}
	sayFlagRule = phrase{"The flag %s lets it be seen by %s without consent on record.", "Прапорець %s дозволяє без записаної згоди показати це %s.", "%sの印があるため、同意の記録がなければ見せてよいのは%s。"}
	saySource   = phrase{"A source, %s, may be seen by %s.", "Джерело %s можна показати %s.", "もとになった%sを見せてよいのは%s。"}
	sayNoFlag   = phrase{"No flag and no source is narrower than the target.", "Жоден прапорець і жодне джерело не вужчі за ціль.", "目標より狭い印やもとの文はない。"}
	sayLower    = phrase{"Lower the target: show it to %s.", "Понизити ціль: показати %s.", "見せる範囲を%sまでに下げる。"}
	sayAsk      = phrase{"Ask those concerned for consent up to the target.", "Спитати згоди тих, кого це стосується, до рівня цілі.", "関わる人に目標の範囲までの同意を求める。"}
	sayLeaveOut = phrase{"Leave out %s at bytes %d-%d.", "Вилучити %s, байти %d-%d.", "%[2]d～%[3]dバイト目の%[1]sを省く。"}
	sayPartOut  = phrase{"Leave out %s, which may be seen by %s, or make it public first.", "Вилучити %s, що можна показати %s, або спершу зробити публічним.", "%sを省く（見せてよいのは%s）。または先に公開する。"}
	sayRotate   = phrase{"Whoever owns the secret should replace it.", "Власник секрету має його замінити.", "秘密の持ち主はそれを取り替えること。"}
)

// What Gate-Policy says.
var (
	sayRisk     = phrase{"Risk %s: %s.", "Ризик %s: %s.", "危険度 %s：%s。"}
	sayAllowed  = phrase{"no rule asks for more", "жодне правило не просить більшого", "これ以上を求める規則はない"}
	sayApproval = phrase{"these must approve: %s", "мають схвалити: %s", "承認が要る人：%s"}
	sayBlocked  = phrase{"blocked, since %s", "заблоковано, бо %s", "止めた。理由：%s"}
	sayUnseen   = phrase{"nobody has checked the diff %s", "ніхто не перевірив зміни %s", "差分%sはまだ誰も確かめていない"}
	sayRule     = phrase{"the policy forbids work of level %s", "політика забороняє роботу рівня %s", "方針は段階%sの作業を禁じている"}
	sayRow      = phrase{"A row of the boundary check, graded %s.", "Рядок перевірки меж, рівень %s.", "境界検査の行、段階は%s。"}
	sayMatrix   = phrase{"Work of level %s is approved by these roles before release.", "Роботу рівня %s перед випуском схвалюють ці ролі.", "段階%sの作業は、公開の前にこれらの役割が承認する。"}
	sayNoReview = phrase{"Work of level %s needs no approval of people.", "Робота рівня %s не потребує схвалення людей.", "段階%sの作業に人の承認は要らない。"}
	sayWithout  = phrase{"Leave out %s, if the task can do without.", "Відмовитися від %s, якщо справа обійдеться.", "なくても済むなら%sを外す。"}
	saySmaller  = phrase{"Make the change smaller, without what %s found.", "Зменшити зміну, без того, що знайшло %s.", "%sが見つけた部分を除いて変更を小さくする。"}
	sayCheckIt  = phrase{"Run the boundary check on the diff %s and refer to it again.", "Виконати перевірку меж для змін %s і послатися знову.", "差分%sの境界検査を行い、もう一度参照する。"}
	sayFlagOff  = phrase{"Ask the people whom the flag %s protects.", "Спитати людей, яких захищає прапорець %s.", "印%sが守る人に尋ねる。"}
)

// What Process says.
var (
	sayProposal   = phrase{"The circle is asked to decide:\n\n%s", "Колу пропонують вирішити:\n\n%s", "サークルに次のことを決めるよう求める。\n\n%s"}
	sayBackground = phrase{"What was said about it:\n\n%s", "Що про це сказано:\n\n%s", "これについて言われたこと：\n\n%s"}
	sayUndo       = phrase{"By another decision of the circle.", "Іншим рішенням кола.", "サークルの別の決定で取り消せる。"}
	sayUndoCode   = phrase{"By reverting the change in %s.", "Скасуванням зміни в %s.", "%sの変更を元に戻す。"}
	sayNoUndo     = phrase{"It cannot be taken back: %s.", "Цього не можна скасувати: %s.", "取り消すことはできない：%s。"}
	sayUntitled   = phrase{"A decision of the circle", "Рішення кола", "サークルの決定"}
	askExport     = phrase{"Do you consent that %s leaves the circle for %s?", "Чи згода, щоб %s вийшло за межі кола до %s?", "%sを%sに向けてサークルの外へ出すことに同意しますか。"}
	askCore       = phrase{"Do you consent to this change of what the circle rests on: %s?", "Чи згода на таку зміну основ кола: %s?", "サークルの土台をこのように変えることに同意しますか：%s"}
	askSee        = phrase{"Do you consent that %s is shown to %s?", "Чи згода показати %s %s?", "%sを見せる相手が%sになることに同意しますか。"}
	sayNobody     = phrase{"nobody yet named", "ще не названих одержувачів", "まだ決まっていない相手"}
	sayOwes       = phrase{"The consent of %s is not on record.", "Згоди немає в записі: %s.", "%sの同意が記録にない。"}
	sayCouncil    = phrase{"%d of the %d of the council must consent; %d have.", "Має погодитися %d із %d ради; погодилося %d.", "評議会%[2]d人のうち%[1]d人の同意が要る。今は%[3]d人。"}
	sayTestimony  = phrase{"Testimony: %s", "Свідчення: %s", "証言：%s"}
	sayOpen       = phrase{"On %s the circle had before it: %s. It is not decided yet.", "%s перед колом було: %s. Це ще не вирішено.", "%s、サークルの前にあったこと：%s。まだ決まっていない。"}
	sayAdopted    = phrase{"On %s the circle adopted: %s.", "%s коло ухвалило: %s.", "%s、サークルが決めたこと：%s。"}
	sayDeclined   = phrase{"On %s the circle did not adopt: %s.", "%s коло не ухвалило: %s.", "%s、サークルが決めなかったこと：%s。"}
	sayCounted    = phrase{"Of %d consents owed %d are granted, %d refused and %d pending.", "Належних згод: %d. Надано: %d, відмовлено: %d, очікується: %d.", "必要な同意%d件のうち、得られたもの%d件、断られたもの%d件、待っているもの%d件。"}
	sayNoConsent  = phrase{"No consent is owed.", "Нічия згода не потрібна.", "必要な同意はない。"}
)
