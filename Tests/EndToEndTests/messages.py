"""What the command says about a mistake, and what it never says."""

import re
import subprocess

from emulator import BINARY, PATIENCE

#: What a message for people never holds: names of types and of system calls, numbers of errors, traces of the stack.
INTERNALS = re.compile(
    r"errno|Error Domain|NSCocoa|NSPOSIX|SQLite error|Optional\(|CancellationError|SocketAddressError|bind\(|Errno|"
    r"Problem\.|\b[A-Z]\w+\(|\b[A-Z]\w*Error\b|Fatal error|crashed|Backtrac|Traceback|Expected to decode|"
    r"\b(?:Node|Scalar|Sequence|Mapping) instead")


def asked(folder, arguments, prefix=(), environment=None, stdin=""):
    """Runs the command to its end in a folder that is also the home of its user."""
    return subprocess.run(
        [*prefix, BINARY, *arguments], capture_output=True, text=True, timeout=PATIENCE, cwd=folder, input=stdin,
        env={"PATH": "/usr/bin:/bin", "HOME": str(folder), **(environment or {})})


def explained(result, expected, code):
    """Checks that one message says everything that is expected, and nothing of the program's inside."""
    assert result.returncode == code, result.stderr
    for text in expected:
        assert text in result.stderr, result.stderr
    assert not INTERNALS.search(result.stderr), result.stderr
    assert '"level":"error"' not in result.stderr, result.stderr
