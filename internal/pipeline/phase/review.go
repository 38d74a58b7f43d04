package phase

import "plimsoll.dev/internal/pipeline/contract"

// Review is one review of Refactor -> Publish. Requested says that it asks for
// changes.
type Review struct {
	Reviewer  contract.ActorID
	Role      contract.Role
	DiffHash  string
	Requested bool
}

// RecordReview says whether a review may be recorded: by a reviewer, in Refactor
// and for the commit the chain is at.
func RecordReview(r contract.Role, chain Phase, head, reviewed string) error {
	if r != contract.ProjectLead && r != contract.SecurityReviewer {
		return notNamed(r, "review")
	}
	if chain != Refactor {
		return require(false, "the chain is in "+string(chain))
	}
	return require(head == reviewed, "the chain is at "+head)
}

// CountReviews is what the reviews of a chain, oldest first, come to for the
// diff it has now: the roles that have approved, and how many ask for changes.
// The newest review of each reviewer under a role counts; one of another diff
// is void, one of another commit with the same diff is not (R14).
func CountReviews(reviews []Review, diffHash string) (approved contract.RoleSet, blocking int) {
	type key struct {
		id   contract.ActorID
		role contract.Role
	}
	newest := map[key]Review{}
	for _, r := range reviews {
		if r.DiffHash == diffHash {
			newest[key{r.Reviewer, r.Role}] = r
		}
	}
	for k, r := range newest {
		if r.Requested {
			blocking++
			continue
		}
		approved = approved.Union(contract.RolesOf(k.role))
	}
	return approved, blocking
}
