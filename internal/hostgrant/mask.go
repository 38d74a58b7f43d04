package hostgrant

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"plimsoll.dev/internal/canonical"
	"plimsoll.dev/internal/gate/redact"
	"plimsoll.dev/internal/gate/source"
	"plimsoll.dev/internal/gate/surface"
)

// plain is v in the types that canonical JSON is made of. Keys under which
// hosts keep variables and headers are spelt as the mask knows them.
func plain(v source.Value) any {
	switch v.Kind {
	case source.Bool:
		return v.Truth
	case source.Number:
		return json.Number(v.Text)
	case source.String, source.Date:
		return v.Text
	case source.List:
		out := make([]any, len(v.Items))
		for i := range v.Items {
			out[i] = plain(v.Items[i])
			// "--token", "value": the second word is what the first one names.
			if i > 0 && strings.HasPrefix(v.Items[i-1].Str(), "-") && redact.IsSecretKey(strings.TrimLeft(v.Items[i-1].Text, "-")) {
				out[i] = redacted
			}
		}
		return out
	case source.Map:
		out := make(canonical.Object, len(v.Members))
		for i, m := range v.Members {
			out[i] = canonical.Member{Key: m.Key, Value: plain(m.Value)}
			if secretBearing(m.Key) {
				out[i].Value = namesOnly(m.Value)
			}
		}
		return out
	case source.Null:
	}
	return nil
}

// secretBearing says whether the values below a key are variables or headers, by
// the names that the hosts give them.
func secretBearing(key string) bool {
	switch strings.ToLower(key) {
	case "env", "environment", "headers", "http_headers", "set", "query", "queryparams":
		return true
	}
	return false
}

// namesOnly keeps the names of an object, and of anything else that it is there.
func namesOnly(v source.Value) any {
	if v.Kind != source.Map {
		return v.Present() && v.Kind != source.Null
	}
	out := make(canonical.Object, len(v.Members))
	for i, m := range v.Members {
		out[i] = canonical.Member{Key: m.Key, Value: true}
	}
	return out
}

// digest is sha256: and the digest of a setting, its secrets masked. The name it
// stands under does not count: a server that is called "token" is no secret.
func digest(v source.Value) string {
	return "sha256:" + canonical.UTF8.SHA256(redact.Value("", plain(v)))
}

// digestText is the digest of a text for people, its secrets masked.
func digestText(text []byte) string {
	return "sha256:" + canonical.UTF8.SHA256(redact.Text(surface.Lossy(string(text))))
}

// maxShown bounds what is shown of one name.
const maxShown = 200

// redacted stands for text that is not shown.
const redacted = "<redacted>"

// shown is a setting that is meant to be a switch, a number, a word or words. Of
// anything else only its shape is shown: it may hold a secret.
func shown(v source.Value) string {
	switch v.Kind {
	case source.String:
		if word(v.Text) {
			return v.Text
		}
		return redacted
	case source.List:
		var words []string
		for i := range v.Items {
			if v.Items[i].Kind != source.String || !word(v.Items[i].Text) {
				return shape(v)
			}
			words = append(words, v.Items[i].Text)
		}
		return clip("[" + strings.Join(words, ", ") + "]")
	case source.Bool, source.Number, source.Date, source.Map, source.Null:
	}
	return shape(v)
}

// shape is what a setting of unknown meaning shows.
func shape(v source.Value) string {
	switch v.Kind {
	case source.Bool:
		return strconv.FormatBool(v.Truth)
	case source.Number, source.Date:
		return clip(v.Text)
	case source.List:
		return fmt.Sprintf("[%d items]", len(v.Items))
	case source.Map:
		return fmt.Sprintf("{%d keys}", len(v.Members))
	case source.String:
		return redacted
	case source.Null:
	}
	return "null"
}

// word says whether a text looks like one of the words that hosts choose from:
// letters and dashes, as in "danger-full-access" and ":workspace".
func word(text string) bool {
	letters := strings.TrimPrefix(text, ":")
	return letters != "" && len(letters) <= 40 && strings.Trim(letters, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_") == ""
}

func clip(text string) string {
	if len(text) <= maxShown {
		return text
	}
	return strings.ToValidUTF8(text[:maxShown], "") + "…"
}

// keys are the names in an object, sorted and unique.
func keys(v source.Value) []string {
	var out []string
	for _, m := range v.Members {
		out = append(out, m.Key)
	}
	return sorted(out)
}
