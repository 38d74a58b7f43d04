//go:build unix

package shipgate_test

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// finish adds what must not be there while the case is built: settings, hooks,
// files below the git folder, forged objects.
func (s *scene) finish(err error) error {
	if err != nil {
		return err
	}
	c := s.c
	if c.Replace {
		fake, err := s.git("commit-tree", "change^{tree}", "-m", "fake base")
		if err != nil {
			return err
		}
		if err := s.steps(words("replace main", string(bytes.TrimSpace(fake)))); err != nil {
			return err
		}
	}
	s.workspace = s.path(c.Workspace)
	s.variation.place(s)
	gitDir := filepath.Join(s.dir, ".git")
	if info, err := os.Lstat(gitDir); err != nil || !info.IsDir() {
		gitDir = filepath.Join(s.top, "repo", ".git")
	}
	files := map[string]string{}
	for path, text := range c.GitFiles {
		files[path] = text
	}
	for name, text := range c.Hooks {
		files["hooks/"+name] = text
	}
	for path, text := range files {
		if files[path], err = s.fill(text); err != nil {
			return err
		}
	}
	for key, values := range c.GitConfig {
		for _, value := range values {
			value, err := s.fill(value)
			if err := errors.Join(err, s.steps([]string{"config", "--add", key, value})); err != nil {
				return err
			}
		}
	}
	if len(c.WorktreeConfig) > 0 {
		err = s.steps(words("config extensions.worktreeConfig true"))
		for key, value := range c.WorktreeConfig {
			value, fillErr := s.fill(value)
			err = errors.Join(err, fillErr, s.steps([]string{"config", "--worktree", key, value}))
		}
	}
	for path, text := range files {
		full := filepath.Join(gitDir, filepath.FromSlash(path))
		err = errors.Join(err, os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, []byte(text), 0o644))
		if strings.HasPrefix(path, "hooks/") {
			err = errors.Join(err, os.Chmod(full, 0o755))
		}
	}
	for name, text := range c.Forge {
		err = errors.Join(err, s.forge(gitDir, name, text))
	}
	for _, path := range c.Restat {
		other := time.Unix(1100000000, 0)
		err = errors.Join(err, os.Chtimes(s.path(path), other, other))
	}
	return err
}

// fill replaces the place holders of settings and hooks.
func (s *scene) fill(text string) (string, error) {
	text = strings.ReplaceAll(text, "@SENTINEL@", s.sentinel)
	for _, name := range []string{"main", "change"} {
		if holder := "@" + name + "@"; strings.Contains(text, holder) {
			id, err := s.git("rev-parse", name)
			if err != nil {
				return "", err
			}
			text = strings.ReplaceAll(text, holder, string(bytes.TrimSpace(id)))
		}
	}
	return text, nil
}

// forge gives a stored object another content under its old id.
func (s *scene) forge(gitDir, name, text string) error {
	id, err := s.git("rev-parse", name)
	if err != nil {
		return err
	}
	hex := string(bytes.TrimSpace(id))
	var packed bytes.Buffer
	w := zlib.NewWriter(&packed)
	_, err = fmt.Fprintf(w, "blob %d\x00%s", len(text), text)
	loose := filepath.Join(gitDir, "objects", hex[:2], hex[2:])
	return errors.Join(err, w.Close(), os.Chmod(loose, 0o644), os.WriteFile(loose, packed.Bytes(), 0o644))
}
