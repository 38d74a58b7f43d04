// Package adopt plans the files that adoption writes into a repository, knows
// them again by markers and digests, and takes them back
// (docs/spec/verification.md §§18.2, 21.4).
package adopt
