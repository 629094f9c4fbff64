#!/bin/sh
# Prints the words in a 16 kHz mono WAV, one utterance a line: recognise.sh FILE [GRAMMAR]
# A closed grammar and wide beams let Debian's small acoustic model recognise synthetic speech word for word.
exec pocketsphinx_continuous -infile "$1" -jsgf "${2:-$(dirname "$0")/consultation.gram}" \
    -beam 1e-100 -pbeam 1e-100 -wbeam 1e-80 -logfn /dev/null 2>/dev/null
