package diff

import "plimsoll.dev/internal/canonical"

// HashMembers is the member "diff" of the Codex-family id, in record order
// (docs/spec/boundary.md §9.5): for each record old_path, new_path,
// added_lines, removed_lines, is_deleted and is_new. A name that the record
// does not have, that is the old one of a new file and the new one of a deleted
// file, is null; lines are decoded lossily and have no line ends.
//
// The vectors of §9.5 fix the members beside it too. changed_files are the
// names, sorted; evaluated_files is one {path, source, old_sha256, new_sha256}
// per evaluated file, with the digests of the two texts: an absent side is the
// empty text, and both are null where the file is unresolved; policy_version is the string "1"; rule_ids are the
// thirteen rules of the Codex family, sorted; and the replayable flags are left
// out unless they are false.
func HashMembers(records []Record) []canonical.Object {
	out := make([]canonical.Object, 0, len(records))
	for i := range records {
		r := &records[i]
		out = append(out, canonical.Object{
			{Key: "old_path", Value: orNull(r.OldName)},
			{Key: "new_path", Value: orNull(r.NewName)},
			{Key: "added_lines", Value: r.Added()},
			{Key: "removed_lines", Value: r.Removed()},
			{Key: "is_deleted", Value: r.Deleted},
			{Key: "is_new", Value: r.New},
		})
	}
	return out
}

func orNull(name string) any {
	if name == "" {
		return nil
	}
	return name
}
