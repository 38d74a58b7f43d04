// Package adopt plans the files that adoption writes into a repository, knows
// them again by markers and digests, and takes them back
// (docs/spec/verification.md §§18.2, 21.4).
//
// A plan is a pure function of the workspace and of what is asked for. It never
// writes through a link, never edits a file that it cannot read to the end, and
// never replaces or removes a byte that no version of this program rendered.
//
// What is written is of three kinds. A block stands between two marker lines in
// a text of somebody else's. An entry is one element of a list in somebody else's
// JSON. A whole file is ours alone. No record says what was there before: the
// form of what is written does, and Remove reads it (docs/decisions/0080, B6).
package adopt
