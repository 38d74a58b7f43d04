// Package action is what a CI job makes of a verification: the outputs and the
// conclusion of the GitHub Action, from the files that one run of the gate left
// behind (docs/spec/verification.md §21).
//
// It decides nothing about the change: the decision is the verifier's. What it
// does decide is whether there is a decision at all. The artifacts of a run are
// taken only when they belong together and to this run; anything else did not
// run, and a job that did not run never passes.
//
// The steps of action.yml call it through `shipgate ci`, so that no script of
// theirs reads JSON. Everything it is given is hostile: names and texts in the
// artifacts come from the change under judgement.
package action
