package execution

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	"plimsoll.dev/internal/gate/redact"
)

// inherited are the variables that the command always gets: what programs need
// to find each other, their home, their language and their temporary folder.
// Credentials are not among them; a person who wants the command to have one
// names it.
var inherited = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TERM", "COLORTERM", "NO_COLOR", "TMPDIR",
	"XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR",
	"SSL_CERT_FILE", "SSL_CERT_DIR",
	// Windows starts hardly any program without these.
	"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "TEMP", "TMP", "USERPROFILE", "USERNAME", "APPDATA",
	"LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)", "NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE",
}

// reserved is the prefix of the variables of the runner itself: its token would
// let the command approve its own work.
const reserved = "PLIMSOLL_"

func checkPassed(names []string) error {
	for _, name := range names {
		switch upper := strings.ToUpper(name); {
		case name == "" || strings.ContainsAny(name, "=\x00"):
			return fmt.Errorf("%q is no name of a variable", name)
		case strings.HasPrefix(upper, reserved):
			return fmt.Errorf("%s is the runner's own and is not passed on", name)
		case strings.HasPrefix(upper, "GIT_"):
			return fmt.Errorf("%s could lead git out of the worktree and is not passed on", name)
		}
	}
	return nil
}

// environment is what the command gets of environ, with the variables set that
// tell it about the run.
func environment(environ, passed []string, set ...string) []string {
	out := make([]string, 0, len(inherited)+len(passed)+len(set))
	for _, kv := range environ {
		name, _, ok := strings.Cut(kv, "=")
		upper := strings.ToUpper(name)
		if ok && (slices.Contains(inherited, upper) && (name == upper || runtime.GOOS == "windows") || strings.HasPrefix(name, "LC_") || slices.Contains(passed, name)) {
			out = append(out, kv)
		}
	}
	return append(out, set...)
}

// shortSecret is the length below which a value is no secret worth masking:
// masking "1" wherever it stands would make a log unreadable.
const shortSecret = 8

// secrets replaces the values of passed variables whose names say that they are
// secret: a log may print them without saying what they are. It is used on one
// line at a time, so a value of several lines is masked line by line.
func secrets(environ, passed []string) *strings.Replacer {
	var pairs []string
	for _, name := range passed {
		if !redact.IsSecretKey(name) {
			continue
		}
		for line := range strings.Lines(lookup(environ, name)) {
			if line = strings.TrimSpace(line); len(line) >= shortSecret {
				pairs = append(pairs, line, "<redacted>")
			}
		}
	}
	return strings.NewReplacer(pairs...)
}
