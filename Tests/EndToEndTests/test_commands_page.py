"""docs/commands.md is what the server's argument parser says."""

import subprocess
import sys

from emulator import BINARY, ROOT


def test_the_page_of_commands_is_what_the_argument_parser_says():
    checked = subprocess.run(
        [sys.executable, ROOT / "scripts/commands", "--check", BINARY], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr
