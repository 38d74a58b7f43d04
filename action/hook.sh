#!/usr/bin/env bash
# Runs the gate for a pre-commit hook, built once from the revision that the
# hook's configuration pins.
#
# pre-commit's own way for Go would build every program of this repository, the
# control plane among them, with hundreds of megabytes of modules; the gate alone
# needs a few.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
gate=$here/.cache/hook/shipgate
if [[ ! -x $gate ]]; then
  if ! command -v go >/dev/null; then
    echo 'shipgate: the hook builds the gate and there is no Go on PATH; install Go, or run shipgate from a local hook' >&2
    exit 4
  fi
  mkdir -p "$(dirname "$gate")"
  part=$(mktemp -d "$here/.cache/hook/part.XXXXXX")
  trap 'rm -rf "$part"' EXIT
  # Git tells its hooks which repository they run in; that is not the one to build.
  (
    cd "$here"
    unset "${!GIT_@}"
    GOFLAGS='' GOWORK=off CGO_ENABLED=0 go build -trimpath -buildvcs=false -o "$part/shipgate" ./cmd/shipgate
  ) >&2
  mv "$part/shipgate" "$gate" # in one piece: hooks may start at the same time
fi
exec "$gate" "$@"
