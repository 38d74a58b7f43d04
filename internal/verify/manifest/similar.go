package manifest

// near is how similar a known word must be to be offered (§4.1 rule 5).
const near = 0.72

// maxWord bounds the words that are compared: comparing costs the product of
// their lengths, and no known word is longer.
const maxWord = 64

// Similarity is twice the length of the longest common subsequence of two words
// over the sum of their lengths: 1 for equal words, 0 for words that share
// nothing. Bytes are compared; the vocabulary is ASCII.
func Similarity(a, b string) float64 {
	if len(a)+len(b) == 0 {
		return 1
	}
	row := make([]int, len(b)+1)
	for i := range len(a) {
		diagonal := 0
		for j := range len(b) {
			above := row[j+1]
			if a[i] == b[j] {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(above, row[j])
			}
			diagonal = above
		}
	}
	return 2 * float64(row[len(b)]) / float64(len(a)+len(b))
}

// Nearest is the most similar of the known words if it is similar enough to be
// meant, the first of several equals; "" otherwise.
func Nearest(word string, known []string) string {
	if len(word) > maxWord {
		return ""
	}
	best, most := "", near
	for _, k := range known {
		if s := Similarity(word, k); s > most || s == most && best == "" {
			best, most = k, s
		}
	}
	return best
}
