package hook

import (
	"strconv"
	"strings"
)

// NoAnswer is what the agent is told when the gate could not be asked.
const NoAnswer = "shipgate gave no answer, so this change is not checked: do not claim completion, stop all work and tell the person to run shipgate doctor."

// The shell program. It has no single quote and no backslash, so that it is one
// quoted word in every shell that a host may start (sh, bash, zsh, fish); where
// a double quote has to be matched, ? stands for it.
//
//   - The gate is found outside the project only, by the name of its folder and by
//     where that leads, and sleep by the system's own path: search paths hold
//     folders of the workspace, and nothing of the workspace is run.
//   - A shell takes functions from its environment; none of them stands in for what
//     this is made of. No function can stand in for unset.
//   - The gate's answer is one line, followed by its exit code, twice, so that
//     silence is a line too. The reader waits for lines, not for the end of the
//     stream, which a leftover child may hold open for ever.
//   - A watchdog of short sleeps kills the gate. It is no timeout(1), which not
//     every system has. It is ended before anything else is said, or it would kill
//     whoever has the gate's number by then; its last sleep is gone within five
//     seconds and holds none of the host's streams open.
//   - Only exit code 0 and a line in a form that the gate prints is an answer.
const shell = `unset -f cd command echo kill pwd printf read wait;` +
	`g=$(command -v shipgate);case $g in PROJECT)g=;;/*);;*)g=;;esac;case $(cd -P "${g%/*}/"&&pwd)/ in BEHIND)g=;;esac;` +
	`{ { "$g" hook HOST <&3 3<&-& p=$!;{ for i in TICKS;do command -p sleep 5;done;kill -9 $p;echo;echo;} 3<&-& w=$!;wait $p;r=$?;kill -9 $w;echo $r;echo $r;}& } 3<&0 2>/dev/null|` +
	`{ read -r a;read -r b;case $b$a in FORMS)printf %s "$a"&&exit;;esac;FALLBACK;}`

// Command is the command line in the host's settings, for a POSIX shell; one
// line. Whatever becomes of the gate, it answers within ShellSeconds, and lets
// the agent end its turn only when the gate said so.
func Command(h Host) string {
	f := facts[h]
	project, behind := `"$PWD"/*|"$(pwd -P)"/*`, `"$(pwd -P)"/*`
	if f.project != "" {
		project += `|"${` + f.project + `:-$PWD}"/*`
		behind += `|"$(cd -P "${` + f.project + `:-.}"&&pwd)"/*`
	}
	ticks := make([]string, ShellSeconds/5)
	for i := range ticks {
		ticks[i] = strconv.Itoa(i + 1)
	}
	forms, fallback, word := `0{}|0{?followup_message?:?*?}`, `printf %s "$0"`, string(line(cursorAnswer{NoAnswer}))
	if f.speaks {
		forms = `0{}|0{?decision?:?block?,?reason?:?*?}|0{?systemMessage?:?*?}|0{?continue?:false,?stopReason?:?*?}`
		fallback, word = `printf %s "$0">&2;exit 2`, NoAnswer
	}
	program := strings.NewReplacer(
		"PROJECT", project, "BEHIND", behind, "HOST", string(h), "TICKS", strings.Join(ticks, " "), "FORMS", forms, "FALLBACK", fallback,
	).Replace(shell)
	return "/bin/sh -c '" + program + "' '" + word + "'"
}
