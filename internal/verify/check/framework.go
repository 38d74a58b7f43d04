package check

import "strings"

// frameworkChecks are the rows of §12.7 about LangChain, CrewAI and Conductor.
var frameworkChecks = []*Check{
	dynamicSurface("SHIP-LANGCHAIN-DYNAMIC-TOOL-SURFACE-NOT-ENUMERABLE", "langchain", "LangChain",
		"a list of tools is computed, bound at run time, or made of a name that could not be followed",
		"Bind a literal list, or give an inventory under langchain.", "langchain_inventory"),
	functionMetadata("SHIP-LANGCHAIN-FUNCTION-TOOL-METADATA-MISSING", "langchain", "LangChain"),
	dynamicSurface("SHIP-CREWAI-DYNAMIC-TOOL-SURFACE-NOT-ENUMERABLE", "crewai", "CrewAI",
		"a list of tools is computed, bound at run time, or made of a name that could not be followed",
		"Give the agents literal lists, or give an inventory under crewai.", "crewai_inventory"),
	functionMetadata("SHIP-CREWAI-FUNCTION-TOOL-METADATA-MISSING", "crewai", "CrewAI"),
	conductorSurface,
}

// dynamicSurface is the check that a framework's tools can be listed by reading.
func dynamicSurface(id, framework, name, when, advice, inventoryType string) *Check {
	return &Check{
		ID: id, Category: framework, Severity: High, Tier: Adapter,
		Title:          "A " + name + " tool surface is only known when the agent runs",
		Description:    "Looks for places where " + name + " agents get tools that reading the code cannot list.",
		Rationale:      "What cannot be listed cannot be reviewed, compared or refused.",
		FiresWhen:      "In " + name + " code " + when + ", and no inventory is loaded.",
		EvidenceFields: []string{"surface", "explicit_inventory"},
		Recommendation: advice,
		HumanReview:    true, PatchKind: Manual,
		Run: func(s *Subject) []Finding {
			if inventory(s, inventoryType) {
				return nil
			}
			return openSurfaces(s, framework)
		},
	}
}

func openSurfaces(s *Subject, framework string) []Finding {
	var found []Finding
	for i := range s.Reading.Dynamic {
		if d := &s.Reading.Dynamic[i]; d.Framework == framework && !d.Resolved {
			found = append(found, openSurface(d, "surface"))
		}
	}
	return found
}

// functionMetadata is the check that a framework's functions say what they do
// and take.
func functionMetadata(id, framework, name string) *Check {
	return &Check{
		ID: id, Category: framework, Severity: Medium, Tier: Adapter,
		Title:          "A " + name + " tool does not say what it does or takes",
		Description:    "Looks at the description and the parameters of " + name + " tools.",
		Rationale:      "The model chooses a tool by its description and fills it by its parameters; without them it guesses.",
		FiresWhen:      "A tool of " + name + " has no description, or it is not known what it takes.",
		EvidenceFields: []string{"missing", "source_type"},
		Recommendation: "Write a docstring and annotate the parameters, or give an args_schema.",
		HumanReview:    true, PatchKind: Manual,
		Run: metadataOf(func(sourceType string) bool {
			return strings.HasPrefix(sourceType, framework+"_") && !strings.HasSuffix(sourceType, "_inventory")
		}),
	}
}

var conductorSurface = &Check{
	ID: "SHIP-CONDUCTOR-DYNAMIC-TOOL-SURFACE-NOT-ENUMERABLE", Category: "conductor", Severity: High, Tier: Adapter,
	Title:          "A Conductor workflow decides at run time what it calls",
	Description:    "Looks for tasks of workflows whose callee is computed or dynamic.",
	Rationale:      "What cannot be listed cannot be reviewed, compared or refused.",
	FiresWhen:      "A workflow has a dynamic task type, starts an agent or another workflow that could not be resolved, or computes a tool's name.",
	EvidenceFields: []string{"surface"},
	Recommendation: "Name the callee literally, or take the step out of the agent's reach.",
	HumanReview:    true, PatchKind: Manual,
	Run: func(s *Subject) []Finding {
		found := openSurfaces(s, "conductor")
		for i := range found {
			delete(found[i].Evidence, "explicit_inventory") // there is none for this framework
		}
		return found
	},
}
