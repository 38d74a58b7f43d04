package secrets

// Takes says whether a rule would take a match of its whole pattern for a secret.
func (f *Finder) Takes(id, text string, m []int) bool {
	for i := range f.rules {
		if r := &f.rules[i]; r.id == id {
			from, to := group(m, r.group)
			secret := text[from:to]
			return secret != "" && (r.entropy == 0 || entropy(secret) > r.entropy) &&
				!allowed(f.global, secret, text, m[0], m[1]) && !allowed(r.allowed, secret, text, m[0], m[1])
		}
	}
	return false
}

// Secret is the part of a match that is the secret.
func (f *Finder) Secret(id string, m []int) (from, to int) {
	for i := range f.rules {
		if f.rules[i].id == id {
			return group(m, f.rules[i].group)
		}
	}
	return 0, 0
}
