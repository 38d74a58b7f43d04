package manifest

// selectorShape names one tool: its name, or {tool or tool_id, ...} (§4.6).
func selectorShape() *shape {
	return object(
		may("tool", line(), "the tool's name"),
		may("tool_id", line(), "its id"),
		may("provider", line(), ""),
		may("source_type", line(), ""),
		may("source_id", line(), ""),
		may("reason", text(), "why"),
	).or("tool").needs("tool", "tool_id").called("selector")
}

func identityShape() *shape {
	member := func() *shape {
		return object(
			must("source_id", line(), "the source that lists it"),
			must("tool", line(), "its name there"),
			may("source_type", line(), ""),
		).called("observation")
	}
	return object(
		must("id", line(), "unique"),
		must("provider", line(), "whose capability it is"),
		must("reason", line(), "how a person knows that they are one"),
		must("primary", member(), "the observation that the others complete; one of members"),
		must("members", list(member()).min(2), "all observations of it"),
	)
}

func bindingsShape() *shape {
	return object(
		may("root", object(
			must("object", line(), "the root agent's name"),
			may("source_id", line(), "the source that shows it"),
		), "the agent that people talk to"),
		may("declarations", list(object(
			must("agent", line(), "root is the root agent"),
			must("complete", flag(), "true: the listed set is the whole set"),
			may("tools", list(selectorShape()), "every tool that it may call"),
			may("handoffs", lines(), "every agent that it may hand over to"),
			must("reason", line(), "how a person knows"),
		).needs("tools", "handoffs")), "what a person states of an agent"),
	)
}

func surfaceShape() *shape {
	return object(
		with("require_explicit_actions", false, flag(), "every reachable tool must be declared here"),
		may("actions", list(actionShape()), "one entry a tool"),
		may("policies", list(object(
			must("id", line(), "unique"),
			must("match", object(
				may("action_ids", lines(), ""),
				may("tool_ids", lines(), ""),
				may("tools", lines(), ""),
				may("effects", list(word(effects)), ""),
				may("risk_tags", lines(), ""),
				may("scopes", lines(), ""),
			), "each given key is a demand; none matches every action"),
			must("require", dict(&shape{kind: anyShape}).min(1), "dotted path of an action's record to the wanted value"),
			must("severity", word(severities), ""),
			with("block", true, flag(), "an unmet rule blocks the release"),
			must("message", line(), "what a finding says"),
			must("recommendation", line(), "what to do about it"),
		)), "rules of the team over its actions"),
	)
}

func actionShape() *shape {
	return object(
		may("tool", line(), "the tool's name"),
		may("tool_id", line(), "its id"),
		may("source_type", line(), ""),
		may("source_id", line(), ""),
		may("id", line(), "an id of your own"),
		may("provider", line(), ""),
		may("operation", line(), ""),
		may("effect", word(effects), "what the action does"),
		may("risk_tags", list(word(riskTags)), ""),
		may("scopes", lines(), "what it acts with"),
		may("authority", object(
			must("mode", word(modes), "none, scoped (auth_type and scopes), unscoped (auth_type and reason) or ambient (reason)"),
			may("auth_type", text(), ""),
			may("credential_mode", text(), ""),
			may("reason", text(), ""),
		), "whose authority it has"),
		may("approval", object(
			may("required", flag(), ""),
			may("threshold", &shape{kind: scalarShape}, "from which amount"),
		), "a person agrees before"),
		may("safeguards", object(
			may("idempotency", flag(), ""),
			may("audit_log", flag(), ""),
			may("rollback", flag(), ""),
			may("dry_run", flag(), ""),
		), "what limits the harm"),
		may("evidence", object(
			may("owner", text(), ""),
			may("runbook", text(), ""),
			may("approval_ticket", text(), ""),
		), "people and documents"),
		may("override", object(
			must("evidence", line(), "what shows it"),
			must("reason", line(), "why"),
		), "why the declared effect stands against other evidence"),
	).needs("tool", "tool_id")
}

// flags are the three demands of §4.6, in the manifest and in promotion
// criteria.
func flagsShape() *shape {
	return object(
		with("approval_trace_required", false, flag(), ""),
		with("override_reason_required", false, flag(), ""),
		with("high_risk_auto_approval_exclusion_required", false, flag(), ""),
	).called("requiredEvidence")
}

func validationShape() *shape {
	return object(
		must("mode", word([]string{"human_in_the_loop"}), ""),
		with("target_review_posture", "recommendation_only", word(postures), "what the agent shall be allowed in the end"),
		may("required_evidence", flagsShape(), "what must be shown"),
		may("evidence", object(
			may("approval_traces", artifacts(), ""),
			may("override_logs", artifacts(), ""),
			may("high_risk_exclusions", artifacts(), ""),
			may("promotion_criteria", artifacts(), ""),
		), "where it is shown"),
	)
}

func riskShape() *shape {
	return object(
		may("tags", lines(), "tags that hold"),
		may("remove_tags", lines(), "tags that do not"),
		may("owner", text(), "who answers for the tool"),
		with("confidence", "manual", text(), ""),
		must("reason", line(), "why"),
	)
}

func checksShape() *shape {
	return object(
		may("ignore", list(object(
			must("check_id", line(), ""),
			may("tool", line(), "for this tool only"),
			may("owner", text(), ""),
			must("reason", line(), "why"),
			may("expires", day(), "the last day it holds"),
		)), "checks that are suppressed"),
		may("severity_overrides", dict(object(
			must("severity", word(severities), ""),
			must("reason", line(), "why"),
			must("expires", day(), "the last day it holds"),
		).or("severity")), "by check id"),
		may("acknowledge_overrides", list(object(
			must("check_id", line(), ""),
			must("reason", line(), "why"),
			must("expires", day(), "the last day it holds"),
		)), "overrides that lower a severity by a tier"),
		may("policy_packs", list(object(
			may("id", line(), ""),
			must("path", line(), "relative to this file"),
			with("optional", false, flag(), ""),
			may("source", text(), ""),
			may("sha256", &shape{kind: textShape, form: digest}, "of the file's bytes"),
		).or("path")), "files of rules"),
	)
}

func organizationShape() *shape {
	return object(
		may("id", text(), ""),
		may("repo", text(), ""),
		may("service", text(), ""),
		may("tier", text(), ""),
		may("teams", dict(object(may("reviewers", lines(), ""))), "by name"),
		may("exception_policy", object(
			with("require_owner", false, flag(), ""),
			with("require_reason", false, flag(), ""),
			with("require_expiry", false, flag(), ""),
			may("max_age_days", (&shape{kind: wholeShape}).min(1), ""),
		), "what every exception must carry"),
		may("audit", object(may("registry", text(), "")), ""),
	)
}
