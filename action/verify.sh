#!/usr/bin/env bash
# Makes the base of the change available, runs the gate once and turns what it
# left into outputs, a summary and annotations.
#
# It ends with 0 whatever the gate says: the last step concludes. When it ends
# otherwise, or says nothing, nothing was decided and the job fails.
set -euo pipefail
# shellcheck source=action/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

cd "$GITHUB_WORKSPACE"
work=$(mktemp -d "$RUNNER_TEMP/shipgate.XXXXXX")
log=$work/log
mode=${VERIFY_MODE:-verify}
reports=${OUTPUT_DIR:-agents-shipgate-reports}
limit=0
if on check_annotations "${CHECK_ANNOTATIONS:-}"; then limit=${CHECK_ANNOTATION_LIMIT:-50}; fi

# The token never stands on a command line, where every process could read it.
export GIT_TERMINAL_PROMPT=0 GIT_OPTIONAL_LOCKS=0
# In a container the checkout belongs to the user outside.
repo() { git -c "safe.directory=$PWD" -c core.hooksPath=/dev/null -c core.fsmonitor=false "$@"; }

# fetch ARG... from origin, first with what the checkout left behind, then with
# the token where the checkout kept none.
fetch() {
  local plain=(-c http.lowSpeedLimit=1000 -c http.lowSpeedTime=60 fetch --quiet --no-tags --no-recurse-submodules --no-auto-gc)
  if repo "${plain[@]}" "$@" >>"$log" 2>&1; then return 0; fi
  local key=http.$GITHUB_SERVER_URL/.extraheader origin
  origin=$(repo remote get-url origin 2>/dev/null) || return 1
  if [[ -z ${TOKEN:-} || $origin != "$GITHUB_SERVER_URL"/* ]] || repo config --get "$key" >/dev/null; then return 1; fi
  GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=$key \
    GIT_CONFIG_VALUE_0="AUTHORIZATION: basic $(printf 'x-access-token:%s' "$TOKEN" | base64 | tr -d '\n')" \
    repo "${plain[@]}" "$@" >>"$log" 2>&1
}

commit() { repo rev-parse --verify --quiet --end-of-options "$1^{commit}" 2>/dev/null; }
parents() { repo cat-file -p "$1" 2>/dev/null | sed '/^$/q' | sed -n 's/^parent //p'; }
shallow() { [[ $(repo rev-parse --is-shallow-repository 2>/dev/null) == true ]]; }

stopped=
stop() { [[ -n $stopped ]] || stopped=$1; }

# The ref that an input names, as the gate may be told it: a branch of origin as
# it is now, else what is here.
named() {
  local name=$1 branch
  if [[ -z $name || $name == -* || $name == *[[:cntrl:][:space:]]* ]]; then return 1; fi
  if ! hex "$name"; then
    branch=${name#refs/heads/}
    branch=${branch#origin/}
    if repo check-ref-format "refs/heads/$branch" && fetch origin "+refs/heads/$branch:refs/remotes/origin/$branch"; then
      printf 'refs/remotes/origin/%s' "$branch"
      return 0
    fi
  elif ! commit "$name" >/dev/null; then
    fetch origin "$name" || return 1
  fi
  commit "$name" >/dev/null && printf '%s' "$name"
}

# What is judged: the commit that was checked out, or the one that an input names.
head=
find_head() {
  if [[ -n ${HEAD_REF:-} ]]; then
    head=$(named "$HEAD_REF") || stop 'head_ref names no commit that this checkout or its origin has.'
    return
  fi
  head=$(commit HEAD) || {
    stop 'the workspace holds no commit. Check the repository out first.'
    return
  }
  # A job that did not check out the change would judge the base against itself.
  if [[ -n ${PR_NUMBER:-} ]] && ! hex "${PR_HEAD_SHA:-}"; then
    stop 'the event does not name the head of the pull request.'
  elif [[ -n ${PR_NUMBER:-} && $head != "$PR_HEAD_SHA" && $(parents "$head" | sed -n 2p) != "$PR_HEAD_SHA" ]]; then
    stop 'what was checked out is neither the head of the pull request nor its merge into the base. Check one of them out, or name it with head_ref.'
  fi
}

# What it is compared with. Of a merge that the forge made, the first parent is
# the base as it is now; else the event names the base.
base=
find_base() {
  [[ -n $head ]] || return 0
  local event=
  if [[ -n ${BASE_REF:-} ]]; then
    base=$(named "$BASE_REF") || stop 'base_ref names no commit that this checkout or its origin has.'
    return
  fi
  if [[ -n ${PR_NUMBER:-} && -z ${HEAD_REF:-} && $head != "${PR_HEAD_SHA:-}" && $head == "${GITHUB_SHA:-}" ]]; then
    event=$(parents "$head" | sed -n 1p)
  elif [[ -n ${PR_NUMBER:-} ]]; then
    event=${PR_BASE_SHA:-}
  elif [[ -n ${GROUP_BASE_SHA:-} ]]; then
    event=$GROUP_BASE_SHA
  elif [[ ${PUSH_BEFORE:-} =~ ^0+$ ]]; then
    # The first push of a branch.
    base=$(named "refs/heads/${DEFAULT_BRANCH:-}") || stop 'the default branch could not be fetched. Name the base with base_ref.'
    return
  else
    event=${PUSH_BEFORE:-}
  fi
  hex "$event" || {
    stop 'the event names no base. Name it with base_ref.'
    return
  }
  base=$event
}

# The history between both. A base that is a parent of the head needs one commit
# more; every other one needs all of it, because a history that is cut can show
# another merge base than the true one.
complete_history() {
  local tip at
  [[ -n $head && -n $base ]] || return 0
  tip=$(commit "$head") || return 0
  if shallow; then
    at=$(commit "$base" || printf '%s' "$base")
    if parents "$tip" | grep -qxF -- "$at"; then
      fetch --depth=2 origin "$tip" || true
    fi
    if ! commit "$base" >/dev/null || [[ $(repo merge-base "$base" "$tip" 2>/dev/null) != "$at" ]]; then
      fetch --unshallow origin || true
    fi
  fi
  if ! commit "$base" >/dev/null && hex "$base"; then fetch origin "$base" || true; fi
  commit "$base" >/dev/null || stop "the base of the change, $base, is not in the checkout and could not be fetched. Check out with fetch-depth: 0, or name a base with base_ref."
}

args=(--workspace . --out "$reports" --json)
if [[ -n ${CONFIG:-} ]]; then args+=(--config "$CONFIG"); fi
if [[ -n ${CI_MODE:-} ]]; then args+=(--ci-mode "$CI_MODE"); fi
if [[ -n ${FAIL_ON:-} ]]; then args+=(--fail-on "$FAIL_ON"); fi
if [[ -n ${BASELINE:-} ]]; then args+=(--baseline "$BASELINE"); fi
if [[ -n ${BASELINE_MODE:-} ]]; then args+=(--baseline-mode "$BASELINE_MODE"); fi
if [[ -n ${DIFF_FROM:-} ]]; then args+=(--diff-from "$DIFF_FROM"); fi
if on no_plugins "${NO_PLUGINS:-}"; then args+=(--no-plugins); fi
while IFS= read -r pack; do
  if [[ -n $pack ]]; then args+=(--policy-pack "$pack"); fi
done < <(printf '%s\n' "${POLICY_PACKS:-}" | tr ',' '\n' | sed 's/^[[:space:]]*//; s/[[:space:]]*$//')

outcome=(--workspace . --reports "$reports" --policy "${CHECK_RUN_POLICY:-advisory}" --annotation-limit "$limit"
  --fail-on-merge-verdicts "${FAIL_ON_MERGE_VERDICTS:-}" --check-name "${CHECK_RUN_NAME:-Shipgate}" --to "$work/outcome")

case $mode in
scan) outcome+=(--scan) ;;
verify)
  if [[ -n ${PR_COMMENT_STYLE:-} ]]; then args+=(--pr-comment-style "$PR_COMMENT_STYLE"); fi
  case ${DIFF_BASE:-auto} in
  auto)
    find_head
    find_base
    complete_history
    args+=(--base "$base" --head "$head")
    ;;
  none) args+=(--no-base) ;;
  *) stop 'diff_base is neither auto nor none.' ;;
  esac
  ;;
*) stop 'verify_mode is neither verify nor scan.' ;;
esac

# Which commit the forge knows the result by: checks belong to the head of the
# pull request, code scanning to what was checked out.
tip=$(commit "${head:-HEAD}" || true)
about=${PR_HEAD_SHA:-$tip}
if hex "$about"; then outcome+=(--commit "$about"); fi
if hex "$tip"; then
  if [[ $tip == "${GITHUB_SHA:-}" && ${GITHUB_REF:-} == refs/* ]]; then
    outcome+=(--sarif-commit "$tip" --sarif-ref "$GITHUB_REF")
  elif [[ $tip == "${PR_HEAD_SHA:-}" && ${PR_NUMBER:-} =~ ^[0-9]+$ ]]; then
    outcome+=(--sarif-commit "$tip" --sarif-ref "refs/pull/$PR_NUMBER/head")
  fi
fi

if [[ -n $stopped ]]; then
  foreign "$log"
  outcome+=(--stopped "$stopped")
else
  say "running $mode"
  code=0
  "$SHIPGATE" "$mode" "${args[@]}" >"$work/result.json" 2>"$work/stderr" || code=$?
  foreign "$work/stderr"
  # The packet for the next agent. It repeats what was decided; without it nothing
  # else changes.
  if [[ $mode == verify && ($code -eq 0 || $code -eq 20) ]]; then
    if "$SHIPGATE" agent handoff --from "$reports/verifier.json" --json >"$work/handoff.json" 2>"$log"; then
      cp "$work/handoff.json" "$reports/agent-handoff.json"
    else
      foreign "$log"
      complain warning 'There is no packet for the next agent.'
    fi
  fi
  outcome+=(--result "$work/result.json" --stderr "$work/stderr" --exit-code "$code")
fi

if ! "$SHIPGATE" ci outcome "${outcome[@]}" >"$work/said" 2>"$log"; then
  foreign "$log"
  why='the gate did not say what came out.'
  complain error "The gate did not run: $why"
  printf '**This job fails.** The gate did not run: %s\n' "$why" >>"$GITHUB_STEP_SUMMARY"
  output status did_not_run
  exit 0
fi
conclusion=$(<"$work/outcome/conclusion")
cat "$work/outcome/outputs" >>"$GITHUB_OUTPUT"
cat "$work/outcome/summary.md" >>"$GITHUB_STEP_SUMMARY"
cat "$work/outcome/commands"
output outcome "$work/outcome"
output conclusion "$conclusion"
