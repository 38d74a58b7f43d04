package demo

import "context"

// Step is one row of the story.
type Step struct {
	Name string   // names it, "courier-note.gate.sam"
	Who  string   // who does it
	What string   // what they do, after their name
	Of   string   // the request it is about; "" is none
	Line []string // the command, with {names} that the service or the command knows
	// Done says whether what the step is for is so.
	Done func(*view) bool
}

// The requests of the story.
const (
	Note    = "courier-note"  // becomes a release
	Time    = "delivery-time" // ends at the boundary
	Orders  = "fifty-orders"  // waits at its gate
	Quorum  = "quorum"        // waits for consents
	inNote  = "Let us decide to let customers leave a note for the courier, in the repository shop, and release it. Done when an order carries a note."
	inTime  = "Вирішімо показувати в замовленні, коли його доставлено, у репозиторії shop. Готово, коли замовлення має час доставки."
	inFifty = "Let us decide to list fifty orders at once, in the repository shop, and release it. Done when a list without a limit has fifty."
	inRules = "Change the constitution: a quorum of three quarters from now on."
)

// Story is the whole of it, in order.
func Story() []Step {
	list := []Step{
		{
			Name: "circle.found", Who: "ana", What: "founds the circle of the shop", Line: []string{"circle", "create", "The shop", "--id", Circle},
			Done: func(v *view) bool { return v.member("ana") },
		},
		admit("lena", "council"), admit("sam", "council"), admit("rex", "member"),

		ask(Note, "asks the circle for a note to the courier", inNote, "--expect", "decision_draft"),
		confirm(Note),
		begin(Note),
		approve(Note, "task", "TaskSeed", "lena", "lets the task begin: it may write, and release"),
		approve(Note, "task", "TaskSeed", "rex", "lets it begin, too"),
		build(Note, "robin", "changes the API and its server, in a worktree of its own"),
		prove(Note, "robin", "has the change checked, and verified as the gate asks", passed),
		approve(Note, "acceptance", "Acceptance", "lena", "accepts the work"),
		approve(Note, "acceptance", "Acceptance", "sam", "accepts it"),
		open(Note, "accepts it, so that there is a gate"),
		agree(Note, "lena", "agrees to exactly these bytes"),
		agree(Note, "sam", "agrees as well: the gate opens"),
		{
			Name: Note + ".refactor", Who: "robin", Of: Note, What: "looks over the work once more",
			Line: runs("developer", "Refactor", "check"), Done: (*view).refined,
		},
		review(Note, "lena", "reviews it"), review(Note, "sam", "reviews it"),
		{
			Name: Note + ".publish", Who: "rex", Of: Note, What: "publishes, with a release note", Line: as("rex", "run", "{task}", "--repo", "{repo}", "--phase", "Publish"),
			Done: func(v *view) bool { return v.newest("IntentContract").State == "Published" },
		},
		{
			Name: Note + ".result", Who: "ana", Of: Note, What: "reads what became of her request", Line: []string{"ask", "show", Note},
			Done: (*view).heard,
		},

		ask(Time, "asks in Ukrainian when an order was delivered, and calls it critical", inTime, "--expect", "decision_draft", "--flag", "critical", "--locale", "uk"),
		{
			Name: Time + ".consent", Who: "ana", Of: Time, What: "consents to exactly this text, as a critical request needs it",
			Line: []string{"consent", "grant", "{decision}", "--sha256", "{sha256}"}, Done: (*view).consented,
		},
		confirm(Time),
		begin(Time),
		build(Time, "magpie", "does the work, and adds a tool server and a permission for every command to the agent's settings"),
		prove(Time, "magpie", "has it checked: the boundary asks for a person", func(v *view) bool { return v.newest("Acceptance").Status == "blocked" }),
		{
			Name: Time + ".reject", Who: "sam", Of: Time, What: "refuses to accept it",
			Line: []string{"acceptance", "reject", "{acceptance}", "-m", "It lets the agent run every command. Nobody asked for that."},
			Done: func(v *view) bool { return v.decided("Acceptance", "sam") },
		},
		freeze("task", "TaskSeed", "freezes the task"),
		freeze("intent", "IntentContract", "freezes what was wanted: nothing runs until somebody resolves it"),

		ask(Orders, "asks for fifty orders at once", inFifty, "--expect", "decision_draft"),
		confirm(Orders),
		begin(Orders),
		approve(Orders, "task", "TaskSeed", "lena", "lets the task begin"),
		approve(Orders, "task", "TaskSeed", "rex", "lets it begin, too"),
		build(Orders, "robin", "makes the change"),
		prove(Orders, "robin", "has it checked and verified", passed),
		approve(Orders, "acceptance", "Acceptance", "lena", "accepts the work"),
		approve(Orders, "acceptance", "Acceptance", "sam", "accepts it"),
		open(Orders, "accepts it: the gate waits for Lena and Sam"),
		ask(Quorum, "proposes another quorum, which waits for the council's consent", inRules, "--expect", "core_change_proposal"),
	}
	return list
}

func admit(who, role string) Step {
	return Step{
		Name: "circle." + who, Who: "ana", What: "admits " + NameOf(who), Line: []string{"circle", "member", "set", Circle, who, "--role", role},
		Done: func(v *view) bool { return v.member(who) },
	}
}

// ask has Ana ask the circle.
func ask(of, what, text string, more ...string) Step {
	return Step{Name: of + ".ask", Who: "ana", Of: of, What: what, Line: append([]string{"ask", text, "--id", of}, more...), Done: (*view).ended}
}

func confirm(of string) Step {
	return Step{
		Name: of + ".confirm", Who: "ana", Of: of, What: "confirms the decision, which becomes a contract",
		Line: []string{"artifact", "confirm", "{decision}", "--sha256", "{sha256}"}, Done: (*view).confirmed,
	}
}

// begin activates the contract, and waits for its task.
func begin(of string) Step {
	return Step{
		Name: of + ".intent", Who: "lena", Of: of, What: "lets it begin", Line: []string{"intent", "approve", "{intent}"},
		Done: func(v *view) bool { return v.begun("IntentContract") && v.newest("TaskSeed").ID != "" },
	}
}

// approve has somebody agree to the activation of a contract.
func approve(of, noun, kind, who, what string) Step {
	return Step{
		Name: of + "." + noun + "." + who, Who: who, Of: of, What: what, Line: as(who, noun, "approve", "{"+noun+"}"),
		Done: func(v *view) bool { return v.activated(kind, who) },
	}
}

// as names the role of whoever holds several that may do it: nothing is refused
// for want of it.
func as(who string, line ...string) []string {
	if who == "rex" {
		return append(line, "--as", "release_manager")
	}
	return line
}

// open has Rex accept the work as the last of three, and waits for the gate.
func open(of, what string) Step {
	return Step{
		Name: of + ".acceptance.rex", Who: "rex", Of: of, What: what, Line: as("rex", "acceptance", "approve", "{acceptance}"),
		Done: func(v *view) bool { return v.newest("PublishGate").ID != "" },
	}
}

// agree has somebody decide on the gate.
func agree(of, who, what string) Step {
	return Step{
		Name: of + ".gate." + who, Who: who, Of: of, What: what, Line: []string{"gate", "approve", "{gate}"},
		Done: func(v *view) bool { return v.agreed(who) },
	}
}

func review(of, who, what string) Step {
	return Step{
		Name: of + ".review." + who, Who: who, Of: of, What: what, Line: []string{"task", "review", "{task}"},
		Done: func(v *view) bool { return v.reviewed(who) },
	}
}

// runs is the command line of a run in which the program itself plays the agent.
func runs(role, phase, work string) []string {
	return []string{"run", "{task}", "--repo", "{repo}", "--as", role, "--phase", phase, "--", "{program}", "demo", "work", work}
}

func build(of, who, what string) Step {
	return Step{Name: of + ".build", Who: who, Of: of, What: what, Line: runs("developer", "Build", of), Done: func(v *view) bool { return v.past("Build") }}
}

// prove has the work checked, and waits until it is judged as the story wants.
func prove(of, who, what string, judged func(*view) bool) Step {
	return Step{Name: of + ".stabilize", Who: who, Of: of, What: what, Line: runs("ci_agent", "Stabilize", "check"), Done: judged}
}

func passed(v *view) bool { return v.newest("Acceptance").Status == "passed" }

func freeze(noun, kind, what string) Step {
	return Step{
		Name: Time + ".freeze." + noun, Who: "sam", Of: Time, What: what,
		Line: []string{"contract", "freeze", "{" + noun + "}", "--cause", "policy_violation", "--reason", "The change widens what the agent may do, and nobody agreed to that."},
		Done: func(v *view) bool { return v.newest(kind).State == "Frozen" },
	}
}

// Sight is something to look at when the story is over.
type Sight struct {
	What string `json:"what"`
	Path string `json:"path"` // below the address of the service
	// State is the phase of the chain, or the state of what is frozen in it.
	State string `json:"state,omitempty"`
}

// Sights is what a story has left to look at, as it stands now: people may have
// gone on with it.
func Sights(ctx context.Context, office Office) ([]Sight, error) {
	list := []Sight{}
	for _, one := range []struct{ of, what string }{
		{Note, "A request that became a release, with its note (sign in as Ana)"},
		{Time, "A chain that is frozen since its agent widened its permissions (as Sam)"},
		{Orders, "A chain whose gate waits for two people (as Lena, then as Sam)"},
	} {
		v := &view{ctx: ctx, office: office, of: one.of}
		intent := v.newest("IntentContract")
		if v.err != nil {
			return nil, v.err
		}
		if intent.ID == "" {
			continue
		}
		state := v.contracts().Phase
		if intent.State == "Frozen" {
			state = intent.State
		}
		list = append(list, Sight{one.what, "/chains/" + intent.ID, state})
	}
	return append(list,
		Sight{What: "A request that waits for consents", Path: "/requests/" + Quorum},
		Sight{What: "What waits for whoever is signed in", Path: "/inbox"},
		Sight{What: "Everything that was done, and the proof that nothing is missing (as Rex)", Path: "/audit"},
	), nil
}
