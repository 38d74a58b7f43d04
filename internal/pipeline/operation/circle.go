package operation

import (
	"slices"

	"plimsoll.dev/internal/pipeline/contract"
)

// circle is the surface of the circle (docs/spec/circle.md §10), in its order.
// Who may do what there is decided by membership, not by the roles of the
// contracts: but for a reload, no row asks for one. Whatever a person alone may
// do demands the scope decide, which an agent's first token does not have.
//
// An artifact of the circle is "outcome" in the ids: artifact.get and its like
// are those of a run.
var circle = []Operation{
	{"request.list", "GET", "/v1/requests", Read, noRole, 200, false, Unread},
	{"request.ask", "POST", "/v1/requests", Write, noRole, 202, true, Unread},
	{"request.get", "GET", "/v1/requests/{id}", Read, noRole, 200, false, Unread},
	{"request.events", "GET", "/v1/requests/{id}/events", Read, noRole, 200, false, Unread},
	{"outcome.list", "GET", "/v1/artifacts", Read, noRole, 200, false, Unread},
	{"outcome.get", "GET", "/v1/artifacts/{id}", Read, noRole, 200, false, Unread},
	{"outcome.confirm", "POST", "/v1/artifacts/{id}/confirm", Decide, noRole, 200, true, Optional},
	{"outcome.decline", "POST", "/v1/artifacts/{id}/decline", Decide, noRole, 200, true, Optional},
	{"outcome.adopt", "POST", "/v1/artifacts/{id}/adopt", Decide, noRole, 200, true, Optional},
	{"consent.list", "GET", "/v1/consents", Read, noRole, 200, false, Unread},
	{"consent.decide", "POST", "/v1/consents", Decide, noRole, 201, true, Optional},
	{"consent.revoke", "POST", "/v1/consents/{id}/revoke", Decide, noRole, 200, true, Optional},
	{"identity.list", "GET", "/v1/identity", Read, noRole, 200, false, Unread},
	{"identity.enroll", "POST", "/v1/identity/enroll", Decide, noRole, 201, true, Unread},
	{"identity.challenge", "POST", "/v1/identity/challenges", Decide, noRole, 201, true, Unread},
	{"identity.answer", "POST", "/v1/identity/challenges/{id}", Decide, noRole, 200, true, Unread},
	{"circle.list", "GET", "/v1/circles", Read, noRole, 200, false, Unread},
	{"circle.create", "POST", "/v1/circles", Decide, noRole, 201, true, Unread},
	{"circle.get", "GET", "/v1/circles/{id}", Read, noRole, 200, false, Unread},
	{"circle.quorum", "PUT", "/v1/circles/{id}/quorum", Decide, noRole, 200, true, Optional},
	{"member.list", "GET", "/v1/circles/{id}/members", Read, noRole, 200, false, Unread},
	{"member.set", "POST", "/v1/circles/{id}/members", Decide, noRole, 200, true, Optional},
	{"member.remove", "DELETE", "/v1/circles/{id}/members", Decide, noRole, 200, true, Optional},
	{"channel.list", "GET", "/v1/channels", Read, noRole, 200, false, Unread},
	{"channel.lift", "POST", "/v1/channels/{id}/lift", Decide, noRole, 200, true, Unread},
	{"worker.list", "GET", "/v1/workers", Read, noRole, 200, false, Unread},
	{"clan.get", "GET", "/v1/clan/config", Read, noRole, 200, false, Unread},
	{"clan.file", "GET", "/v1/clan/config/file", Read, noRole, 200, false, Unread},
	{"clan.reload", "POST", "/v1/clan/config/reload", Administer, roles(contract.Admin), 200, true, Unread},
}

// Circle is the operations of the circle, in the order of the specification.
func Circle() []Operation { return slices.Clone(circle) }

// Every is All and Circle: what one service answers and one document describes.
func Every() []Operation { return append(All(), circle...) }
