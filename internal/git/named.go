package git

import (
	"errors"
	"strings"
)

// namedCommit is the commit that a revision of the request names; the object is
// another kind, or errObjectMissing, when it names none. A plain name that is a
// tag and a branch of different commits is refused (*ShapeError): git would take
// the tag, and whoever can make one could choose the base.
func (o *objects) namedCommit(flag, ref string) (*object, error) {
	obj, err := o.get(ref+"^{commit}", commitBound)
	if err != nil || !plainName(ref) {
		return obj, err
	}
	first, meant := "", ""
	for _, folder := range nameFolders {
		switch other, err := o.get(folder+ref+"^{commit}", commitBound); {
		case errors.Is(err, errObjectMissing):
		case err != nil:
			return nil, err
		case meant == "":
			first, meant = folder+ref, other.id
		case meant != other.id:
			return nil, &ShapeError{Flag: flag, Msg: ref + " names two commits, " + first + " and " + folder + ref}
		}
	}
	return obj, nil
}

// nameFolders are where git looks for a plain name.
var nameFolders = []string{"refs/", "refs/tags/", "refs/heads/", "refs/remotes/"}

// plainName says whether a revision is a name that git looks for in several
// places, and no path from refs, no expression and none of its own names.
func plainName(ref string) bool {
	return ref != "" && ref != "HEAD" && !strings.HasPrefix(ref, "refs/") && !strings.ContainsAny(ref, "^~:@{}?*[\\ ")
}
