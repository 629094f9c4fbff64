#!/bin/sh
# Recognises a 16 kHz mono WAV as demo/recognise.sh does, and notes its bytes for scripts/costs.
root="$(dirname "$0")/../.."
mkdir -p "$root/.build/costs"
wc -c <"$1" >>"$root/.build/costs/recognised.txt"
exec "$root/demo/recognise.sh" "$1"
