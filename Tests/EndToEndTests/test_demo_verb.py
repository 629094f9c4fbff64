"""`scribe-emulator demo`: a spoken consultation, to a running server or to one of its own."""

import os
import subprocess

from emulator import BINARY

ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("SCRIBE_")}


def run(*words, folder):
    return subprocess.run(
        [BINARY, *words], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=60)


def test_a_demo_without_a_server_makes_a_note_with_one_of_its_own_and_keeps_nothing(tmp_path):
    # Port 0: no server answers there, whatever else runs on this machine.
    demo = run("demo", "--port", "0", folder=tmp_path)
    assert demo.returncode == 0, demo.stderr
    transcript, note = demo.stdout.split("\nNOTE\n")
    assert "TRANSCRIPT" in transcript and len(transcript.split()) > 40
    assert "# Clinical Notes" in note and "__console" not in note
    assert not list(tmp_path.iterdir())


def test_a_demo_asks_the_running_server_that_exec_names(tmp_path):
    demo = run("exec", "--", str(BINARY), "demo", folder=tmp_path)
    assert demo.returncode == 0, demo.stderr
    assert "# Clinical Notes" in demo.stdout and "/__console" in demo.stdout and "demo's own" not in demo.stdout


def test_a_demo_says_which_step_failed_and_what_no_flag_can_mean(tmp_path):
    unreachable = run("demo", "--url", "http://127.0.0.1:1", folder=tmp_path)
    assert unreachable.returncode == 3 and "no server answers at http://127.0.0.1:1" in unreachable.stderr
    strict = run("demo", "--auth", "strict", folder=tmp_path)
    assert strict.returncode == 1 and "the login was answered with 401" in strict.stderr
    both = run("demo", "--url", "http://127.0.0.1:1", "--port", "0", folder=tmp_path)
    assert both.returncode != 0 and "--url names a running server" in both.stderr
