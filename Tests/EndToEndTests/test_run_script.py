"""`make run` starts the binary that is there, unless anything that it is built from has changed."""

import os
import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).parents[2]

#: Says what it was asked, and makes a server that says with which flags it was started.
COMPILER = """#!/bin/sh
case $1 in
--version) cat "$(dirname "$0")/version" ;;
build) echo "built"
    mkdir -p .build/debug
    printf '#!/bin/sh\necho "$@"\n' >.build/debug/scribe-emulator
    chmod +x .build/debug/scribe-emulator ;;
esac
"""


class Tree:
    """A copy of the script among sources of its own, with a compiler of its own."""

    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        for path in ("scripts/run", "scripts/build", "Package.swift"):
            (folder / path).parent.mkdir(exist_ok=True, parents=True)
            shutil.copy(ROOT / path, folder / path)
        for path in ("Sources/a.swift", "openapi/a.yaml", "seed/a.yaml", "bin/version"):
            self.write(path, "1")
        for path, text in (("scripts/install", "#!/bin/sh\n"), ("bin/swift", COMPILER)):
            self.write(path, text)
            (folder / path).chmod(0o755)

    def write(self, path: str, text: str):
        (self.folder / path).parent.mkdir(exist_ok=True, parents=True)
        (self.folder / path).write_text(text)

    def run(self, *flags: str) -> list[str]:
        path = f"{self.folder / 'bin'}:{os.environ['PATH']}"
        return subprocess.run(
            [self.folder / "scripts" / "run", *flags], env={**os.environ, "PATH": path}, check=True, text=True,
            capture_output=True).stdout.splitlines()


@pytest.fixture
def tree(tmp_path):
    return Tree(tmp_path)


def test_the_second_start_builds_nothing(tree):
    first = tree.run("--port", "9000")
    assert "for the first time" in first[0] and first[1:] == ["built", "version", "serve --port 9000"]
    assert tree.run() == ["version", "serve"]
    # A file that is written anew with the same content has not changed.
    tree.write("Sources/a.swift", "1")
    assert tree.run() == ["version", "serve"]


@pytest.mark.parametrize("changed", [
    "Sources/a.swift", "Sources/new.swift", "openapi/a.yaml", "seed/a.yaml", "Package.swift", "bin/version",
    "Package.resolved", ".build/debug/scribe-emulator",
])
def test_a_change_of_a_source_file_rebuilds_the_server(tree, changed):
    tree.run()
    # With a time of modification that has not moved: the content counts.
    file = tree.folder / changed
    times = (file.stat().st_atime, file.stat().st_mtime) if file.exists() else (1, 1)
    with open(file, "a") as opened:
        opened.write("#")
    os.utime(file, times)
    assert tree.run() == ["built", "version", "serve"]
    assert tree.run() == ["version", "serve"]


def test_a_build_that_fails_is_tried_again(tree):
    tree.run()
    tree.write("Sources/a.swift", "2")
    working = (tree.folder / "bin/swift").read_text()
    tree.write("bin/swift", working.replace('build) echo "built"', "build) exit 1"))
    with pytest.raises(subprocess.CalledProcessError):
        tree.run()
    tree.write("bin/swift", working)
    assert "built" in tree.run()
