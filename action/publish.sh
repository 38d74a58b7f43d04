#!/usr/bin/env bash
# Tells the forge: one comment, one check run, one upload to code scanning.
#
# Whatever cannot be told is a warning: what the job concludes does not depend on
# it. Without the right to write, as in the pull request of a fork, nothing is
# tried.
set -euo pipefail
# shellcheck source=action/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

work=$(mktemp -d "$RUNNER_TEMP/shipgate.XXXXXX")
at=${OUTCOME:-}
token=${TOKEN:-}

if [[ -z $at || ! -d $at ]]; then
  complain notice 'There is no outcome to publish.'
  exit 0
fi
if [[ -n ${PR_NUMBER:-} && ${PR_HEAD_REPOSITORY:-} != "$GITHUB_REPOSITORY" ]]; then
  complain notice 'The pull request comes from a fork, whose token may not write: no comment, no check run, no code scanning. The summary and the conclusion of this job stand.'
  exit 0
fi
if [[ -z $token || $token == *[[:space:]\"\\]* ]]; then
  complain notice 'There is no token to publish with.'
  exit 0
fi

# api METHOD PATH [BODY] puts the answer into answer and its code into status. It
# never fails: 000 is no answer. The token goes to curl through its input, not
# its arguments. Only what can be repeated is repeated.
status=000
api() {
  local more=()
  if [[ $# -gt 2 ]]; then more=(--header 'Content-Type: application/json' --data-binary "@$3"); fi
  if [[ $1 != POST ]]; then more+=(--retry 2); fi
  status=$(printf 'header = "Authorization: Bearer %s"\n' "$token" |
    curl --disable --config - --silent --show-error --max-time 60 --max-filesize 33554432 --proto '=https,http' \
      --request "$1" --header 'Accept: application/vnd.github+json' --header 'X-GitHub-Api-Version: 2022-11-28' \
      "${more[@]+"${more[@]}"}" --output "$work/answer" --write-out '%{http_code}' --url "$GITHUB_API_URL$2" 2>"$work/log") || true
  [[ $status =~ ^[0-9]{3}$ ]] || status=000
}

# because WHAT was refused: the status, and what usually is behind it.
because() {
  case $status in
  401 | 403 | 404) complain warning "$1 was refused with status $status: the token needs the permission $2." ;;
  000)
    foreign "$work/log"
    complain warning "$1: the forge did not answer."
    ;;
  *) complain warning "$1 was refused with status $status." ;;
  esac
}

comment() {
  local list=/repos/$GITHUB_REPOSITORY/issues/$PR_NUMBER/comments who=() page said
  api GET /user
  if [[ $status == 200 ]]; then
    cp "$work/answer" "$work/user"
    who=(--user "$work/user")
  fi
  for page in {1..50}; do
    api GET "$list?per_page=100&page=$page"
    if [[ $status != 200 ]]; then
      because 'Reading the comments' 'pull-requests: write'
      return
    fi
    said=$("$SHIPGATE" ci comment "${who[@]+"${who[@]}"}" <"$work/answer" 2>"$work/log") || {
      complain warning 'The answer of the forge is no list of comments.'
      return
    }
    case $said in
    found\ *)
      api PATCH "/repos/$GITHUB_REPOSITORY/issues/comments/${said#found }" "$at/comment.json"
      if [[ $status != 200 ]]; then because 'Updating the comment' 'pull-requests: write'; fi
      return
      ;;
    none)
      api POST "$list" "$at/comment.json"
      if [[ $status != 201 ]]; then because 'The comment' 'pull-requests: write'; fi
      return
      ;;
    more) ;;
    *)
      complain warning 'The gate did not say which comment is its own.'
      return
      ;;
    esac
  done
  complain warning 'There are too many comments to find an earlier one among them.'
}

if on pr_comment "${PR_COMMENT:-}" && [[ ${PR_NUMBER:-} =~ ^[0-9]+$ && -s $at/comment.json ]]; then comment; fi

if on check_run "${CHECK_RUN:-}" && [[ -s $at/check-run.json ]]; then
  api POST "/repos/$GITHUB_REPOSITORY/check-runs" "$at/check-run.json"
  if [[ $status != 201 ]]; then because 'The check run' 'checks: write'; fi
fi

if on upload_sarif "${UPLOAD_SARIF:-}" && [[ -s $at/sarif.json ]]; then
  api POST "/repos/$GITHUB_REPOSITORY/code-scanning/sarifs" "$at/sarif.json"
  if [[ $status != 202 ]]; then because 'The upload to code scanning' 'security-events: write'; fi
fi
