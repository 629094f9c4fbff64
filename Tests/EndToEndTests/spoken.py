"""Spoken consultations for the tests. Each is spoken once for a checkout, and kept in .build/speech."""

import array
import hashlib
import os
import pathlib

from emulator import ROOT

import speech  # noqa: I001  (in demo/, which `emulator` puts on the path)

FOLDER = ROOT / ".build/speech"


def consultation(sentences: list[str]) -> array.array:
    """The samples of `speech.consultation`."""
    program = pathlib.Path(speech.__file__).read_bytes()
    file = FOLDER / hashlib.sha256(program + "\n".join(sentences).encode()).hexdigest()
    if not file.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        # Another worker may write the same file.
        partial = file.with_suffix(f".{os.getpid()}")
        partial.write_bytes(speech.consultation(sentences).tobytes())
        partial.rename(file)
    return array.array("h", file.read_bytes())
