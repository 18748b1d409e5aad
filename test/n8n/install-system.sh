#!/bin/sh
# Installs the programs that the suites in the real n8n need beside Node.js, on Debian or Ubuntu.
# Says and does nothing when they are there.
set -eu

missing=
command -v chromium >/dev/null || missing="$missing chromium"
command -v ffmpeg >/dev/null || missing="$missing ffmpeg"
command -v redis-server >/dev/null || missing="$missing redis-server"
ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || missing="$missing postgresql"
[ -n "$missing" ] || exit 0

log=$(mktemp)
trap 'rm -f "$log"' EXIT
echo "Installing$missing …"
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086 # a list of packages
if ! { apt-get update && apt-get install -y --no-install-recommends $missing fonts-liberation; } >"$log" 2>&1; then
	tail -n 20 "$log" >&2
	exit 1
fi
