package effect

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/verify/tool"
)

// hand is what one of those who name and judge tools keeps from one to the next.
// Tools of one source make the same few claims and have the same few controls over
// and over, and what a tool is given is as large as it has to be.
type hand struct {
	claimIDs map[claimKey]string
	digests  map[string]string // by what they are taken over

	text   []byte // the object that is to be hashed
	claims []Claim
	hints  []tool.Hint
	issues []Issue
}

func newHand() *hand {
	return &hand{claimIDs: map[claimKey]string{}, digests: map[string]string{}}
}

// start begins an object in the spelling of canonical.UTF8. Its members have to
// come in the order of their keys, and the keys have to be plain.
func (h *hand) start() { h.text = append(h.text[:0], '{') }

func (h *hand) key(key string) {
	if h.text[len(h.text)-1] != '{' {
		h.text = append(h.text, ',')
	}
	h.text = append(h.text, '"')
	h.text = append(h.text, key...)
	h.text = append(h.text, '"', ':')
}

func (h *hand) open(key string) {
	h.key(key)
	h.text = append(h.text, '{')
}

func (h *hand) close() { h.text = append(h.text, '}') }

func (h *hand) string(key, value string) {
	h.key(key)
	h.text = canonical.UTF8.AppendString(h.text, value)
}

func (h *hand) strings(key string, list []string) {
	h.key(key)
	h.text = append(h.text, '[')
	for i, value := range list {
		if i > 0 {
			h.text = append(h.text, ',')
		}
		h.text = canonical.UTF8.AppendString(h.text, value)
	}
	h.text = append(h.text, ']')
}

func (h *hand) flag(key string, value bool) {
	h.key(key)
	h.text = strconv.AppendBool(h.text, value)
}

// control is null for a control of which nobody said anything.
func (h *hand) control(key string, c Control) {
	if c.Known {
		h.flag(key, c.Value)
		return
	}
	h.key(key)
	h.text = append(h.text, "null"...)
}

// digest is the hex digest of what was written, behind a prefix.
func (h *hand) digest(prefix string) string {
	sum := sha256.Sum256(h.text)
	h.text = append(h.text[:0], prefix...)
	h.text = hex.AppendEncode(h.text, sum[:])
	return string(h.text)
}

// common is digest of what many tools have alike.
func (h *hand) common() string {
	known, ok := h.digests[string(h.text)]
	if !ok {
		text := string(h.text)
		known = h.digest("")
		h.digests[text] = known
	}
	return known
}
