"""The fenced blocks of the pages: which there are, and a shell that types them as a reader does.

blocks/pages.yaml says of each page what its reader has, and which blocks another test runs, or no test. A block that it
does not name is one of shell commands: `output` types those of a page in order, in one shell.
"""

import dataclasses
import datetime
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

import yaml
from emulator import BINARY, PATIENCE, ROOT

FOLDER = pathlib.Path(__file__).resolve().parent / "blocks"
PAGES = ["README.md", *sorted(
    path.relative_to(ROOT).as_posix()
    for pattern in ("docs/*.md", "docs/protocol/*.md", "docs/recipes/*.md", "testing/*/README.md")
    for path in ROOT.glob(pattern))]
TABLE = yaml.safe_load((FOLDER / "pages.yaml").read_text())
#: Commands that need what a machine of the tests lacks: a pattern, and the reason.
MISSING = TABLE.pop("missing")
#: Keys of a block that is not typed, and is not written to a file.
ELSEWHERE = {"test", "reason"}


@dataclasses.dataclass(frozen=True)
class Block:
    page: str
    language: str
    text: str

    @property
    def first(self) -> str:
        """The first line, by which the table names the block."""
        return self.text.split("\n", 1)[0]

    @property
    def entry(self) -> dict:
        return TABLE.get(self.page, {}).get("blocks", {}).get(self.first, {})

    @property
    def file(self) -> str | None:
        """The file that the reader writes."""
        return self.entry.get("file")

    @property
    def commands(self) -> str | None:
        """What the reader types: the block itself, or what uses its file."""
        if ELSEWHERE & self.entry.keys():
            return None
        return self.text if self.language == "sh" else self.entry.get("then")

    @property
    def is_run(self) -> bool:
        """Whether the shell of its page runs the block, or has it as a file or as an output."""
        return not ELSEWHERE & self.entry.keys() and (
            self.language == "sh" or bool({"file", "then", "printed"} & self.entry.keys()))


def blocks(page: str) -> list[Block]:
    text = (ROOT / page).read_text()
    found = re.findall(r"^( *)```([\w-]*)\n(.*?)^\1```$", text, re.MULTILINE | re.DOTALL)
    assert len(found) * 2 == len(re.findall(r"^ *```", text, re.MULTILINE)), f"{page} has a fence that is not read"
    return [Block(page, language, content) for _, language, content in found]


BLOCKS = {page: blocks(page) for page in PAGES}
#: Pages of which a shell types something.
TYPED = [page for page, found in BLOCKS.items() if any(block.commands for block in found)]


def array(name: str, values) -> str:
    return f"{name}=({' '.join(shlex.quote(str(value)) for value in values)})\n"


def tables(page: str) -> str:
    """What session.sh has to know of a page."""
    table = TABLE.get(page, {})
    words = table.get("stands for", {})
    endless = table.get("until", {})
    return "".join([
        array("words", words), array("values", words.values()),
        array("missing", MISSING), array("reasons", MISSING.values()),
        array("endless", endless), array("until", (each["prints"] for each in endless.values())),
        array("meanwhile", (each.get("meanwhile", ":") for each in endless.values())),
    ])


def write_steps(page: str, folder: pathlib.Path):
    """Writes what the reader does, in order, as files that session.sh reads, and the files that the page prints."""
    steps = [("reader", TABLE.get(page, {}).get("reader", ""))]
    for block in BLOCKS[page]:
        before = block.entry.get("before", "")
        if block.file:
            (folder / "files" / block.file).write_text(block.text)
            if block.is_run:
                before += f"\ncp $folder/files/{block.file} ."
        steps.append(("reader", before))
        steps.append(("block", block.commands or ""))
    for number, (kind, text) in enumerate(steps):
        if text:
            (folder / f"steps/{number:02}.{kind}").write_text(text.rstrip("\n") + "\n")


def write_program(path: pathlib.Path, *command):
    """Writes a program that runs a command with the arguments that it is given."""
    path.write_text(f'#!/bin/sh\nexec {shlex.join(map(str, command))} "$@"\n')
    path.chmod(0o755)


def prepare(page: str, folder: pathlib.Path):
    """Makes the folders, the programs and the steps of a session."""
    for name in ("bin", "files", "home", "steps", "temporary", "work"):
        (folder / name).mkdir()
    (folder / "hosts").write_text("127.0.0.1 localhost\n::1 localhost\n")
    (folder / "tables.sh").write_text(tables(page))
    write_steps(page, folder)
    (folder / "bin/scribe-emulator").symlink_to(BINARY)
    write_program(folder / "bin/sudo", "env")
    # Python with the packages of the tests, and npm with a project whose test prints where its server is.
    write_program(folder / "bin/python3", sys.executable)
    write_program(folder / "bin/python", pathlib.Path(sys.prefix, "ekacare/bin/python"))
    write_program(folder / "bin/pytest", sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    write_program(folder / "bin/npm", "sh", "-c", 'echo "the tests use $SCRIBE_BASE_URL"')


def output(page: str, folder: pathlib.Path) -> list[tuple[Block, list[list[str]]]]:
    """Runs the page in a folder. Returns each block that was typed, with its commands, their outputs and exit codes."""
    prepare(page, folder)
    environment = {
        "PATH": f"{folder}/bin:{os.environ['PATH']}", "HOME": str(folder / "home"), "ROOT": str(ROOT),
        "TMPDIR": str(folder / "temporary"), "LANG": "C.UTF-8", "TZ": "UTC", "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    with open(folder / "output", "wb") as file:
        code = subprocess.run(
            ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc",
             "bash", FOLDER / "session.sh", folder],
            stdout=file, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=environment, timeout=2 * PATIENCE,
        ).returncode
    text = (folder / "output").read_text(errors="replace").replace("\r\n", "\n")
    assert code == 0 and text.endswith("\x1c"), text
    more = TABLE.get(page, {}).get("differs", {})
    typed = [
        [[normal(part, folder, more) for part in re.split("[\x1f\x1d]", each)] for each in block.split("\x1e")[1:]]
        for block in text.split("\x1c")[1:-1]]
    return list(zip([block for block in BLOCKS[page] if block.commands], typed, strict=True))


def recently(found: re.Match) -> str:
    """A mark in the place of a time that is close to now. Other times are the page's own."""
    time = datetime.datetime.fromisoformat(found[0].replace("Z", "+00:00"))
    return "TIME" if abs(time.timestamp() - datetime.datetime.now().timestamp()) < 4 * 86400 else found[0]


#: What differs between runs, and its mark. Notices of a start may come before or after it is ready.
MARKS = [
    (r"(?m)^\d\d:\d\d:\d\d (?:info|notice) .*\n", ""),
    (r"(?m)^\d\d:\d\d:\d\d (?=warning|error)", "TIME "),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)", recently),
    (r"eyJ[\w-]+\.[\w-]+(?:\.[\w-]*)?", "TOKEN"),
    (r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", "UUID"),
    # But for the key of the demo.
    (r"(?<![0-9a-f])(?!0{16})[0-9a-f]{16,}(?![0-9a-f])", "HEX"),
    (r"(?<![a-z\d-])n-[0-9a-f]{12}(?![0-9a-f])", "n-HEX"),
    (r"\b1[789]\d{8}\b", "SECONDS"),
    (r"\b\d+(?:\.\d+)? ms\b", "N ms"),
    (r'(?<="ms" : )[\d.]+', "N"),
    (r"(?<=curl/)[\d.]+", "VERSION"),
    (r"\b\d+ bytes\b", "N bytes"),
    (r"(?<= in )\d+\.\d+s\b", "N s"),
    (r"(?<=(?:127\.0\.0\.1|localhost):)[1-6]\d{4}\b", "PORT"),
    (r"(?<=scribe-emulator[ /])\d+\.\d+\.\d+\S*", "VERSION"),
]


def normal(text: str, folder: pathlib.Path, more: dict = {}) -> str:
    """The text with marks in the place of what differs between runs."""
    for path, name in [
        (folder / "work", "FOLDER"), (folder / "home", "HOME"), (folder, "TEMPORARY"),
        (BINARY.resolve(), "scribe-emulator"), (ROOT, "CLONE"),
    ]:
        text = text.replace(str(path), name)
    for pattern, mark in [*MARKS, *more.items()]:
        text = re.sub(pattern, mark, text)
    return text


#: Characters of a line of a snapshot. The rest of a longer one is not looked at.
WIDTH = 400


def shown(typed: list[tuple[Block, list[list[str]]]]) -> str:
    """The session as a terminal shows it."""
    lines = []
    for _, commands in typed:
        lines.append("----")
        for command, told, code in commands:
            lines += ["$ " + command.replace("\n", "\n> ")]
            lines += [line[:WIDTH] + ("…" if len(line) > WIDTH else "") for line in told.rstrip("\n").splitlines()]
            lines += [f"[exit {code}]"] if code != "0" else []
    return "\n".join(line.rstrip() for line in lines) + "\n"


def is_printed(block: Block, told: str, folder: pathlib.Path) -> bool:
    """Whether an output is, or contains, what a page prints. `…` stands for anything, and times may differ."""
    if block.language == "json":
        return any(fits(json.loads(block.text), value) for value in documents(told))
    expected = re.escape(normal(block.text.strip("\n"), folder)).replace("…", ".*")
    return re.search(rf"^{expected}$", told, re.MULTILINE) is not None


def documents(told: str) -> list:
    """The JSON values in an output that have a line of their own."""
    found = []
    for line in told.splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found


def fits(expected, value) -> bool:
    if isinstance(expected, dict) and isinstance(value, dict):
        return expected.keys() == value.keys() and all(fits(expected[name], value[name]) for name in expected)
    if isinstance(expected, str) and isinstance(value, str):
        time = r"\d{4}-\d\d-\d\dT[\d:.]+Z"
        pattern = re.sub(time, "TIME", expected)
        return re.fullmatch(re.escape(pattern).replace("…", ".*"), value) is not None
    return expected == value
