package action

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
)

// Where is what GitHub calls the commit that was judged.
type Where struct {
	Commit string // the commit that a check run belongs to: the head of the pull request
	Name   string // of the check run
	// Of code scanning: the commit that was checked out and its ref.
	SARIFCommit, SARIFRef string
}

// maxName bounds the name of a check run in characters.
const maxName = 100

// Check says what is wrong with w; empty parts are not used.
func (w *Where) Check() error {
	for _, id := range []string{w.Commit, w.SARIFCommit} {
		if id != "" && (len(id) != 40 && len(id) != 64 || strings.Trim(id, "0123456789abcdef") != "") {
			return errors.New("a commit is named by 40 or 64 lower-case hexadecimal digits")
		}
	}
	if w.SARIFRef != "" && !strings.HasPrefix(w.SARIFRef, "refs/") {
		return errors.New("a ref of code scanning begins with refs/")
	}
	return nil
}

// CommentBody is the body of the request that makes or updates the comment.
func (o *Outcome) CommentBody() ([]byte, error) {
	if o.Comment == nil {
		return nil, nil
	}
	return body(struct {
		Body string `json:"body"`
	}{string(o.Comment)})
}

// CheckRunBody is the body of the request that makes the check run; nil when w
// names no commit for one.
func (o *Outcome) CheckRunBody(w *Where) ([]byte, error) {
	if w.Commit == "" {
		return nil, nil
	}
	name := []rune(oneLine(w.Name))
	if len(name) == 0 {
		name = []rune("Shipgate")
	}
	type output struct {
		Title   string `json:"title"`
		Summary string `json:"summary"`
	}
	return body(struct {
		Name       string     `json:"name"`
		HeadSHA    string     `json:"head_sha"`
		Status     string     `json:"status"`
		Conclusion Conclusion `json:"conclusion"`
		Output     output     `json:"output"`
	}{
		string(name[:min(len(name), maxName)]), w.Commit, "completed", o.Conclusion,
		output{titles[o.Conclusion], string(cutLines(o.Summary, 60_000))},
	})
}

// titles are the titles of check runs: nothing of the change is in them.
var titles = map[Conclusion]string{
	Success: "Mergeable as far as the gate sees", Neutral: "People decide", Failure: "Not to be merged",
}

// SARIFBody is the body of the request that uploads the report to code scanning;
// nil when there is no report or w names no commit.
func (o *Outcome) SARIFBody(w *Where) ([]byte, error) {
	if o.SARIF == nil || w.SARIFCommit == "" || w.SARIFRef == "" {
		return nil, nil
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(o.SARIF); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return body(struct {
		Commit string `json:"commit_sha"`
		Ref    string `json:"ref"`
		SARIF  string `json:"sarif"`
		Tool   string `json:"tool_name"`
	}{w.SARIFCommit, w.SARIFRef, base64.StdEncoding.EncodeToString(packed.Bytes()), "agents-shipgate"})
}

func body(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return b.Bytes(), err
}

// PageSize is how many comments are asked for at a time.
const PageSize = 100

// FindComment looks for our comment on one page of a pull request's comments.
// Ours begins with the marker and was written by login; when that is not known,
// by some bot: a person could else hand us a comment of their own to write into
// and change it afterwards. id is 0 when it is not on the page; more says that
// there may be another page.
func FindComment(page []byte, login string) (id int64, more bool, err error) {
	var comments []struct {
		ID   int64  `json:"id"`
		Body string `json:"body"`
		User *struct {
			Login string `json:"login"`
			Type  string `json:"type"`
		} `json:"user"`
	}
	if err := json.Unmarshal(page, &comments); err != nil {
		return 0, false, errors.New("the answer is no list of comments")
	}
	for i := range comments {
		c := &comments[i]
		if c.ID <= 0 || c.User == nil || !strings.HasPrefix(c.Body, Marker) {
			continue
		}
		if login != "" && c.User.Login == login || login == "" && c.User.Type == "Bot" {
			return c.ID, false, nil
		}
	}
	return 0, len(comments) >= PageSize, nil
}

// Login is the name in the answer to who the token belongs to.
func Login(user []byte) (string, error) {
	var u struct {
		Login string `json:"login"`
	}
	if err := json.Unmarshal(user, &u); err != nil || u.Login == "" {
		return "", errors.New("the answer names no user")
	}
	return u.Login, nil
}
