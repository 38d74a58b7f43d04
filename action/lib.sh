# shellcheck shell=bash
#
# What the steps of action.yml share. It is sourced, never run.
#
# Everything that comes from a change under judgement (names of branches and
# files, titles, what a program prints) is data here: it arrives in the
# environment, is always quoted, and reaches the log only through foreign.

# say TEXT of our own to the log.
say() { printf 'shipgate: %s\n' "$1"; }

# escape TEXT as the message of a workflow command: one line, and nothing that
# ends it.
escape() {
  local text=$1
  text=${text//'%'/%25}
  text=${text//$'\r'/%0D}
  text=${text//$'\n'/%0A}
  printf '%s' "$text"
}

# complain LEVEL TEXT as an annotation; level is error, warning or notice.
complain() { printf '::%s title=Shipgate::%s\n' "$1" "$(escape "$2")"; }

# foreign FILE shows text of others: the runner reads no commands in it, and it
# is bounded. The word that ends this cannot be guessed.
foreign() {
  [[ -s $1 ]] || return 0
  local word
  word=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
  printf '::stop-commands::%s\n' "$word"
  head -c 20000 "$1" | tr -d '\000-\010\013-\037\177'
  printf '\n::%s::\n' "$word"
}

# stopping WHY ends a step before the gate could run.
stopping() {
  complain error "The gate did not run: $1"
  printf '**This job fails.** The gate did not run: %s\n' "$1" >>"$GITHUB_STEP_SUMMARY"
  exit 1
}

# output NAME VALUE for the other steps. A value that is more than one line is
# refused: it could begin another output.
output() {
  if [[ $2 == *[$'\n\r']* ]]; then
    complain error "The value of $1 has more than one line."
    return 1
  fi
  printf '%s=%s\n' "$1" "$2" >>"$GITHUB_OUTPUT"
}

# hex TEXT says whether it is a whole commit id.
hex() { [[ $1 =~ ^([0-9a-f]{40}|[0-9a-f]{64})$ ]]; }

# on TEXT says whether an input is switched on; anything but true and false stops
# the step.
on() {
  case $2 in
  true) return 0 ;;
  false | '') return 1 ;;
  esac
  stopping "the input $1 must be true or false."
}
