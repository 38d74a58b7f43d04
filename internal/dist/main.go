// Command dist builds what is released: the programs for six systems, each with
// its manual pages and completions in one archive, Debian packages, and the
// checksums of all of them. Two builds of the same commit give the same bytes:
// no path, no clock, no name of a machine goes in. Run it with "make dist".
package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll.dev/internal/cli/plimsoll"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "dist:", err)
		}
		os.Exit(1) //nolint:gocritic // nothing is left to undo
	}
}

// system is one pair that is built for.
type system struct{ os, arch string }

func (s system) String() string { return s.os + "/" + s.arch }

var systems = []system{
	{"linux", "amd64"},
	{"linux", "arm64"},
	{"darwin", "amd64"},
	{"darwin", "arm64"},
	{"windows", "amd64"},
	{"windows", "arm64"},
}

// programs are what is built; each has its doorstep in cmd.
var programs = []string{"shipgate", "agents-shipgate", "shipgate-mcp", "plimsoll"}

// versions that a file name and a Debian control file can hold as they are.
var versionForm = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+(?:[~+][0-9A-Za-z.]+)?$`)

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("dist", flag.ContinueOnError)
	out := flags.String("out", "dist", "the folder to write to; what dist wrote there before is replaced")
	version := flags.String("version", plimsoll.Version, "the version in the names of the files")
	only := flags.String("only", "", "systems to build for, as os/arch separated by commas (default: all six)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if !versionForm.MatchString(*version) {
		return fmt.Errorf("-version %q is no version; an example is 1.2.3", *version)
	}
	chosen, err := choose(*only)
	if err != nil {
		return err
	}
	day, err := commitTime(ctx)
	if err != nil {
		return err
	}
	r := release{version: *version, day: day, out: *out}
	if err := r.prepare(); err != nil {
		return err
	}
	for i, s := range chosen {
		began := time.Now()
		if err := r.build(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
		fmt.Printf("%d of %d  %s  %.0f s\n", i+1, len(chosen), s, time.Since(began).Seconds())
	}
	return r.sums()
}

func choose(only string) ([]system, error) {
	if only == "" {
		return systems, nil
	}
	var chosen []system
	for name := range strings.SplitSeq(only, ",") {
		i := slices.IndexFunc(systems, func(s system) bool { return s.String() == name })
		if i < 0 {
			return nil, fmt.Errorf("-only %q is none of %v", name, systems)
		}
		chosen = append(chosen, systems[i])
	}
	return chosen, nil
}

// commitTime is the only time that goes into a file: SOURCE_DATE_EPOCH where a
// packager set it, else when the commit was made.
func commitTime(ctx context.Context) (time.Time, error) {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		out, err := exec.CommandContext(ctx, "git", "log", "-1", "--format=%ct").Output()
		if err != nil {
			return time.Time{}, fmt.Errorf("time of the commit: %w; outside of a repository set SOURCE_DATE_EPOCH", err)
		}
		text = strings.TrimSpace(string(out))
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("time %q is no number of seconds", text)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// release is one run.
type release struct {
	version string
	day     time.Time
	out     string
	shared  []entry // what every system gets: texts, manual pages, completions
	names   []string
}

// prepare empties the folder of what an earlier run left and prints the pages.
func (r *release) prepare() error {
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	old := []string{filepath.Join(r.out, sumsFile)}
	for _, pattern := range []string{"plimsoll?*", "shipgate_*"} {
		found, err := filepath.Glob(filepath.Join(r.out, pattern))
		if err != nil {
			return err
		}
		old = append(old, found...)
	}
	for _, name := range old {
		if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	var err error
	r.shared, err = pages(r.version, r.day)
	return err
}

// build makes the archive of one system and, for Linux, its Debian package.
func (r *release) build(ctx context.Context, s system) error {
	binaries, err := compile(ctx, s)
	if err != nil {
		return err
	}
	// The gate alone, under the name that action/prepare.sh asks a release for.
	bare := fmt.Sprintf("shipgate_%s_%s_%s%s", r.version, s.os, s.arch, filepath.Ext(binaries[0].name))
	if err := r.write(bare, func(f *os.File) error { _, err := f.Write(binaries[0].text); return err }); err != nil {
		return err
	}
	top := fmt.Sprintf("plimsoll-%s-%s-%s", r.version, s.os, s.arch)
	entries := slices.Concat(binaries, r.shared)
	if s.os == "windows" {
		return r.write(top+".zip", func(f *os.File) error { return writeZip(f, top, entries, r.day) })
	}
	if err := r.write(top+".tar.gz", func(f *os.File) error { return writeTarGz(f, top, entries, r.day) }); err != nil {
		return err
	}
	if s.os != "linux" {
		return nil
	}
	name := fmt.Sprintf("plimsoll_%s_%s.deb", r.version, s.arch)
	return r.write(name, func(f *os.File) error { return writeDeb(f, r.version, s.arch, entries, r.day) })
}

// compile builds the programs in a temporary folder and reads them back.
func compile(ctx context.Context, s system) ([]entry, error) {
	dir, err := os.MkdirTemp("", "plimsoll-dist-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	suffix := ""
	if s.os == "windows" {
		suffix = ".exe"
	}
	args := []string{"build", "-trimpath", "-buildvcs=false", "-ldflags=-w -buildid=", "-o", dir + string(filepath.Separator)}
	for _, p := range programs {
		args = append(args, "./cmd/"+p)
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Stderr = os.Stderr
	// The levels of a processor are part of what is built, so they are named.
	cmd.Env = append(os.Environ(), "GOOS="+s.os, "GOARCH="+s.arch, "CGO_ENABLED=0", "GOAMD64=v1", "GOARM64=v8.0", "GOFLAGS=", "GOEXPERIMENT=")
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("go build: %w", err)
	}
	var entries []entry
	for _, p := range programs {
		text, err := os.ReadFile(filepath.Join(dir, p+suffix))
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry{name: p + suffix, text: text, program: true})
	}
	return entries, nil
}

// write makes one file of the folder; half a file is none.
func (r *release) write(name string, fill func(*os.File) error) error {
	f, err := os.CreateTemp(r.out, ".dist-")
	if err != nil {
		return err
	}
	err = errors.Join(fill(f), f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(r.out, name))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("%s: %w", name, err), os.Remove(f.Name()))
	}
	r.names = append(r.names, name)
	return nil
}

const sumsFile = "SHA256SUMS"

// sums writes the digest of every file, as sha256sum --check reads them.
func (r *release) sums() error {
	slices.Sort(r.names)
	var b strings.Builder
	for _, name := range r.names {
		text, err := os.ReadFile(filepath.Join(r.out, name))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(text), name)
	}
	return r.write(sumsFile, func(f *os.File) error { _, err := f.WriteString(b.String()); return err })
}
