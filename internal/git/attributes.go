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

// attributeFiles are the attributes files of one side that can apply to some
// paths: by folder, with their bytes.
type attributeFiles map[string][]byte

// filters finds which of the paths carry a filter attribute on one side
// (§2.3). Git is asked only where a file that can apply has the bytes "filter".
type filters struct {
	repo *repository
	disk *disk
	info []byte // info/attributes
}

func newFilters(repo *repository, d *disk) *filters {
	data, err := readSmall(filepath.Join(repo.common, "info", "attributes"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		data = []byte("filter") // it cannot be read: ask
	}
	return &filters{repo: repo, disk: d, info: data}
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

// onDisk reads the attributes files on disk above the paths. sparse gives the
// bytes of one that a sparse checkout left out, where Git takes the index's.
func (f *filters) onDisk(paths []string, sparse func(path string) []byte) attributeFiles {
	out := attributeFiles{}
	for _, dir := range folders(paths) {
		name := join(dir, attributesFile)
		st, err := f.disk.look(name)
		switch {
		case err == nil && st.info == nil:
			if data := sparse(name); data != nil {
				out[dir] = data
			}
		case err == nil && !st.info.Mode().IsRegular():
			// Git does not follow a link here.
		default:
			data, err := os.ReadFile(f.disk.full(name))
			if err != nil {
				data = []byte("filter")
			}
			out[dir] = data
		}
	}
	return out
}

func (f *filters) mention(files attributeFiles) bool {
	if bytes.Contains(f.info, []byte("filter")) {
		return true
	}
	for _, data := range files {
		if bytes.Contains(data, []byte("filter")) {
			return true
		}
	}
	return false
}

// ask is the filter value of each path that has one. With index the attributes
// files come from a temporary index that holds exactly those given; index lines
// are "<mode> <id>\t<path>".
func (f *filters) ask(ctx context.Context, paths []string, files attributeFiles, index []string) (map[string]string, error) {
	out := map[string]string{}
	if len(paths) == 0 || !f.mention(files) {
		return out, nil
	}
	run := f.repo.runner
	args := []string{"check-attr", "-z", "--stdin", "filter"}
	if index != nil {
		dir, remove, err := tempDir()
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
	data, err := run.output(ctx, nulJoined(paths), listingBound, args...)
	if err != nil {
		return nil, err
	}
	list := strings.Split(string(data), "\x00")
	for i := 0; i+2 < len(list); i += 3 {
		switch list[i+2] {
		case "unset", "unspecified":
			// check-attr cannot tell a driver of this name from no driver.
			if f.ambiguous(list[i], files) {
				out[list[i]] = list[i+2]
			}
		default:
			out[list[i]] = list[i+2]
		}
	}
	return out, nil
}

func nulJoined(list []string) []byte {
	return []byte(strings.Join(list, "\x00") + "\x00")
}

// ambiguous says whether an attributes file above p names a driver that is
// called "unset" or "unspecified".
func (f *filters) ambiguous(p string, files attributeFiles) bool {
	odd := func(data []byte) bool {
		return bytes.Contains(data, []byte("filter=unset")) || bytes.Contains(data, []byte("filter=unspecified"))
	}
	if odd(f.info) {
		return true
	}
	for _, dir := range folders([]string{p}) {
		if odd(files[dir]) {
			return true
		}
	}
	return false
}

// inTree is the attributes of a tree: ids names every attributes file of that
// tree that is known, by path.
func (f *filters) inTree(ctx context.Context, paths []string, ids map[string]entry, o *objects) (map[string]string, error) {
	files := attributeFiles{}
	index := []string{}
	for _, dir := range folders(paths) {
		name := join(dir, attributesFile)
		e := ids[name]
		if !e.file() {
			continue
		}
		data, err := o.blob(e.id, settingsBound)
		if errors.Is(err, errOversized) {
			data, err = []byte("filter"), nil
		}
		if err != nil {
			return nil, err
		}
		files[dir] = data
		index = append(index, e.mode+" "+e.id+"\t"+name)
	}
	return f.ask(ctx, paths, files, index)
}
