package git

// Root is the root of the repository that a folder lies in, as the caller spells
// it where that is possible, and the folder below it without links. Both are
// absolute, and empty outside of any repository. No Git runs.
func Root(folder string) (root, below string) { return findRoot(folder) }
