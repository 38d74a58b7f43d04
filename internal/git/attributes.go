package git

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

const attributesFile = ".gitattributes"

// mention is what the bytes of an attributes file say about filters.
type mention struct {
	filter bool
	// odd: a driver is called "unset" or "unspecified", which check-attr cannot
	// tell from no driver.
	odd bool
}

// unread stands for an attributes file that cannot be read: every path below it
// counts as filtered.
var unread = mention{filter: true, odd: true}

func mentionIn(text []byte) mention {
	says := func(what string) bool { return bytes.Contains(text, []byte(what)) }
	return mention{filter: says("filter"), odd: says("filter=unset") || says("filter=unspecified")}
}

// attributeFiles are those attributes files of one side that can apply to some
// paths and have the bytes "filter", by folder.
type attributeFiles map[string]mention

// filtered is the filter value of each path that has one; it may be empty.
type filtered map[string]string

func (f filtered) has(p string) bool {
	_, ok := f[p]
	return ok
}

// filters finds which paths carry a filter attribute on one side (§2.3). Git is
// asked only where a file that can apply has the bytes "filter".
type filters struct {
	repo *repository
	disk *disk
	info mention // of info/attributes
}

func newFilters(repo *repository, d *disk) *filters {
	data, err := readSmall(filepath.Join(repo.common, "info", "attributes"))
	f := &filters{repo: repo, disk: d, info: mentionIn(data)}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		f.info = unread
	}
	return f
}

// folders are the parent folders of the paths, "" for the root, each once.
func folders(paths []string) []string {
	seen := map[string]bool{}
	var out []string
	for _, p := range paths {
		for dir := path.Dir(p); ; dir = path.Dir(dir) {
			if dir == "." {
				dir = ""
			}
			if seen[dir] {
				break
			}
			seen[dir] = true
			out = append(out, dir)
			if dir == "" {
				break
			}
		}
	}
	return out
}

// onDisk asks for the side of the working tree. Where a folder has no regular
// attributes file, Git takes the one in the index. Extra says that the disk has
// one that the index has not, which may be ignored, so that no listing has it.
func (f *filters) onDisk(ctx context.Context, paths []string, index map[string]entry, o func() (*objects, error)) (values filtered, extra bool, err error) {
	files := attributeFiles{}
	for _, dir := range folders(paths) {
		name := join(dir, attributesFile)
		m := unread
		st, err := f.disk.look(name)
		switch {
		case err != nil:
		case st.info == nil || !st.info.Mode().IsRegular():
			if m, err = inBlob(index[name], o); err != nil {
				return nil, false, err
			}
		case st.info.Size() <= settingsBound:
			extra = extra || !index[name].present()
			if data, err := os.ReadFile(f.disk.full(name)); err == nil {
				m = mentionIn(data)
			}
		}
		if m.filter {
			files[dir] = m
		}
	}
	values, err = f.ask(ctx, paths, files, nil)
	return values, extra, err
}

// inTree asks for the side of a tree. attributes names every attributes file of
// that tree, by path.
func (f *filters) inTree(ctx context.Context, paths []string, attributes map[string]entry, o func() (*objects, error)) (filtered, error) {
	files := attributeFiles{}
	index := []string{}
	for _, dir := range folders(paths) {
		name := join(dir, attributesFile)
		e := attributes[name]
		m, err := inBlob(e, o)
		if err != nil {
			return nil, err
		}
		if m.filter {
			files[dir] = m
		}
		if e.file() {
			index = append(index, e.mode+" "+e.id+"\t"+name)
		}
	}
	return f.ask(ctx, paths, files, index)
}

// inBlob is what the attributes file of an index or a tree says.
func inBlob(e entry, o func() (*objects, error)) (mention, error) {
	if !e.file() {
		return mention{}, nil
	}
	objects, err := o()
	if err != nil {
		return mention{}, err
	}
	data, err := objects.blob(e.id, settingsBound)
	if errors.Is(err, errOversized) {
		return unread, nil
	}
	return mentionIn(data), err
}

// ask runs check-attr. With index the attributes files come from a temporary
// index that holds exactly those given; its lines are "<mode> <id>\t<path>".
func (f *filters) ask(ctx context.Context, paths []string, files attributeFiles, index []string) (filtered, error) {
	if len(paths) == 0 || len(files) == 0 && !f.info.filter {
		return filtered{}, nil
	}
	run := f.repo.runner
	args := []string{"check-attr", "-z", "--stdin", "filter"}
	if index != nil {
		dir, remove, err := tempDir(f.repo.root)
		if err != nil {
			return nil, err
		}
		defer remove()
		run = run.with("GIT_INDEX_FILE=" + filepath.Join(dir, "index"))
		if _, err := run.output(ctx, nulJoined(index), listingBound, "update-index", "-z", "--index-info"); err != nil {
			return nil, err
		}
		args = []string{"check-attr", "--cached", "-z", "--stdin", "filter"}
	}
	out, err := run.output(ctx, nulJoined(paths), listingBound, args...)
	if err != nil {
		return nil, err
	}
	return f.parse(out, files)
}

// parse reads the answer of check-attr: path, attribute and value of each.
func (f *filters) parse(out []byte, files attributeFiles) (filtered, error) {
	values := filtered{}
	list := strings.Split(string(out), "\x00")
	if len(list)%3 != 1 {
		return nil, errMalformed
	}
	for ; len(list) > 1; list = list[3:] {
		p, value := list[0], list[2]
		if value != "unset" && value != "unspecified" || f.ambiguous(p, files) {
			values[p] = value
		}
	}
	return values, nil
}

func nulJoined(list []string) []byte {
	if len(list) == 0 {
		return []byte{}
	}
	return []byte(strings.Join(list, "\x00") + "\x00")
}

// ambiguous says whether an attributes file above p names a driver that is
// called "unset" or "unspecified".
func (f *filters) ambiguous(p string, files attributeFiles) bool {
	if f.info.odd {
		return true
	}
	for _, dir := range folders([]string{p}) {
		if files[dir].odd {
			return true
		}
	}
	return false
}
