#!/usr/bin/env bash
# Finds or makes the gate and puts its path into the output shipgate.
#
# SHIPGATE_VERSION is source (built from the action's own checkout, so that the
# commit that pins the action pins the gate), path (one that is installed), or a
# version such as 1.2.3, optionally with the digest of its archive:
# 1.2.3@sha256:HEX.
set -euo pipefail
# shellcheck source=action/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
mkdir -p "$RUNNER_TEMP"
home=$(mktemp -d "$RUNNER_TEMP/shipgate.XXXXXX")
log=$home/log
suffix=
if [[ ${RUNNER_OS:-} == Windows ]]; then suffix=.exe; fi

# A program of the change under judgement is never the gate.
outside() {
  local dir space
  dir=$(cd "$(dirname "$1")" && pwd -P)
  space=$(cd "$GITHUB_WORKSPACE" && pwd -P)
  [[ $dir/ != "$space"/* ]]
}

built() {
  command -v go >/dev/null || stopping 'shipgate_version is source and there is no Go on this runner. Add a step that installs Go, or name another shipgate_version.'
  say 'building the gate from the action'
  if ! (cd "$here" && GOFLAGS='' GOWORK=off CGO_ENABLED=0 go build -trimpath -o "$home/shipgate$suffix" ./cmd/shipgate) >"$log" 2>&1; then
    foreign "$log"
    stopping 'it could not be built.'
  fi
  gate=$home/shipgate$suffix
}

installed() {
  gate=$(command -v shipgate || command -v agents-shipgate) || stopping 'shipgate_version is path and there is no shipgate on PATH.'
  outside "$gate" || stopping 'the shipgate on PATH lies in the workspace, which holds the change under judgement.'
}

# download URL FILE
download() {
  curl --disable --silent --show-error --fail --location --proto '=https,http' --proto-redir '=https' --max-time 300 \
    --max-filesize 104857600 --retry 2 --output "$2" --url "$1" >"$log" 2>&1 || {
    foreign "$log"
    stopping "a release of the gate could not be fetched."
  }
}

digest() { if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d' ' -f1; }

released() {
  local version=${SHIPGATE_VERSION#v} pin=
  if [[ $version == *@sha256:* ]]; then
    pin=${version##*@sha256:}
    version=${version%%@*}
    [[ $pin =~ ^[0-9a-f]{64}$ ]] || stopping 'the digest in shipgate_version is no SHA-256.'
  fi
  [[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]] || stopping 'shipgate_version is none of source, path and a version such as 1.2.3.'
  [[ ${ACTION_REPOSITORY:-} =~ ^[A-Za-z0-9._-]+/[A-Za-z0-9._-]+$ ]] || stopping 'releases are those of the repository of this action, and a local action has none. Use shipgate_version: source.'
  local system machine name at
  case ${RUNNER_OS:-} in
  Linux) system=linux ;;
  macOS) system=darwin ;;
  Windows) system=windows ;;
  *) stopping 'there is no release for this operating system.' ;;
  esac
  case ${RUNNER_ARCH:-} in
  X64) machine=amd64 ;;
  ARM64) machine=arm64 ;;
  *) stopping 'there is no release for this processor.' ;;
  esac
  name=shipgate_${version}_${system}_${machine}$suffix
  at=$GITHUB_SERVER_URL/$ACTION_REPOSITORY/releases/download/v$version
  if [[ -z $pin ]]; then
    download "$at/SHA256SUMS" "$home/SHA256SUMS"
    pin=$(awk -v name="$name" '$2 == name || $2 == "*" name { print $1 }' "$home/SHA256SUMS")
    [[ $pin =~ ^[0-9a-f]{64}$ ]] || stopping "SHA256SUMS of the release does not name $name once."
  fi
  download "$at/$name" "$home/shipgate$suffix"
  [[ $(digest "$home/shipgate$suffix") == "$pin" ]] || stopping "$name is not the file that its checksum names."
  chmod 0755 "$home/shipgate$suffix"
  gate=$home/shipgate$suffix
}

gate=
case ${SHIPGATE_VERSION:-} in
source) built ;;
path) installed ;;
*) released ;;
esac

if ! version=$("$gate" --version 2>"$log") || [[ ! $version =~ ^agents-shipgate\ [0-9]+\.[0-9]+\.[0-9]+ ]]; then
  foreign "$log"
  stopping 'the program that was found does not answer as the gate does.'
fi
say "$version"
output shipgate "$gate"
