"""The shell of docs/recipes/sessions.md, as printed, against the server of the tests."""

import json
import os
import re
import subprocess
import wave

from emulator import BINARY, ROOT


def test_the_shell_of_the_session_recipe_runs_as_printed_and_ends_with_a_note(server, tmp_path):
    page = (ROOT / "docs/recipes/sessions.md").read_text()
    (block,) = re.findall(r"```sh\n(.*?)```", page, re.DOTALL)
    with wave.open(str(tmp_path / "chunk.wav"), "wb") as file:
        file.setparams((1, 2, 16_000, 0, "NONE", ""))
        file.writeframes(b"\x00\x20\x00\xe0" * 80_000)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SCRIBE_")}
    environment |= {"PATH": f"{BINARY.parent}:{environment['PATH']}", "SCRIBE_BASE_URL": server.base_url}
    told = subprocess.run(
        ["sh", "-eu", "-c", block], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60)
    assert told.returncode == 0, told.stderr
    answers = [json.loads(text) for text in re.findall(r"\{.*?\}(?=\{|\s*$)", told.stdout, re.DOTALL)]
    assert answers[-1]["status"] == "completed", told.stdout
    assert answers[-1]["transcript"] and answers[-1]["templates"]
