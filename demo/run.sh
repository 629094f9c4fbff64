#!/bin/sh
# Starts a throw-away server and takes one consultation through it, or speaks it into a live socket: [LIVE=1] run.sh [real]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
transcriber=fake
[ "${1:-}" = real ] && transcriber="command:'$here/recognise.sh' {wav}"
"$here/../.build/debug/scribe-emulator" serve --port 0 --ephemeral --ready-file "$work/ready.json" \
    --transcriber "$transcriber" --log-level warning >"$work/log" 2>&1 &
server=$!
trap 'kill $server 2>/dev/null; wait $server 2>/dev/null; rm -rf "$work"' EXIT
"$here/../.build/debug/scribe-emulator" ready --wait --ready-file "$work/ready.json" >/dev/null || {
    cat "$work/log" >&2
    exit 1
}
values=$("$here/../.build/debug/scribe-emulator" env --format dotenv --ready-file "$work/ready.json")
value() { echo "$values" | sed -n "s/^$1=//p"; }
echo "transcriber: $transcriber"
if [ -n "${LIVE:-}" ]; then
    "$here/../.venv/bin/python" "$here/live.py" "$(value SCRIBE_BASE_URL)" "$(value SCRIBE_API_KEY)"
else
    "$here/../.venv/bin/python" "$here/consultation.py" "$(value SCRIBE_BASE_URL)"
fi
