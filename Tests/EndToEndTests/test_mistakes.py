"""Mistakes of people who use the command, in a process: its folder, its exit codes, its standard input, other servers.

`Tests/CommandTests/Mistakes` has the others, and asks the same of each answer.
"""

import dataclasses
import io
import re
import shlex
import sqlite3
import tarfile

import pytest
from http_recorder import Answer, HTTPRecorder
from messages import INTERNALS, asked

#: The beginning of most mistakes.
START = "serve --port 0 --ephemeral"
NOBODY = "http://127.0.0.1:1"


class Folder:
    """A folder that stands where a file is expected."""

    def make(self, path):
        path.mkdir()


@dataclasses.dataclass
class Key:
    """A key that the mode lets others read, or does not."""

    mode: int
    text: str = "hidden-" * 5

    def make(self, path):
        path.write_text(self.text)
        path.chmod(self.mode)


class Database:
    """A database of SQLite that these statements have made."""

    def __init__(self, *statements):
        self.statements = statements

    def make(self, path):
        database = sqlite3.connect(path)
        for statement in self.statements:
            database.execute(statement)
        database.commit()
        database.close()


class Archive:
    """A tar archive with one file."""

    def __init__(self, name, content):
        self.name, self.content = name, content

    def make(self, path):
        if isinstance(self.content, Database):
            inner = path.with_name("inner")
            self.content.make(inner)
            content = inner.read_bytes()
            inner.unlink()
        else:
            content = self.content
        with tarfile.open(path, "w") as archive:
            member = tarfile.TarInfo(self.name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


DAMAGED = b"\x07" * 8192
FOREIGN = Database("CREATE TABLE transactions (x)")
#: The program's own mark, and a version that it has not made yet.
NEWER = Database("CREATE TABLE anything (x)", "PRAGMA application_id = 0x53435242", "PRAGMA user_version = 1000")

#: The database of a data folder's first state.
DATABASE = "data/states/1/scribe.sqlite"


def state(database) -> dict:
    """Files of a data folder whose valid state has this database."""
    return {"data/current": "1\n", DATABASE: database}


@dataclasses.dataclass
class Mistake:
    """A mistake and its answer.

    In `arguments` and `said`, `$here` is the folder that the command runs in, and `$other` the base URL of a server
    that is not a scribe-emulator.
    """

    name: str
    arguments: str
    #: The whole message, or what is to be found in it.
    said: str | re.Pattern
    #: 2: the command line or the settings are wrong. 1: what they lead to is.
    code: int = 2
    #: What is in the folder, by name: texts, bytes, or what makes itself.
    files: dict = dataclasses.field(default_factory=dict)
    environment: dict = dataclasses.field(default_factory=dict)
    stdin: str = ""


VERBS = [
    Mistake("unknown verb", "serv", "unknown command 'serv'; did you mean 'serve'? 'scribe-emulator --help' lists all"),
]

VALUES = [
    Mistake("port out of range", "serve --port 70000", "--port: '70000' is not a number from 0 to 65535"),
]

ADDRESSES = [
    Mistake("address of another machine", f"{START} --auth strict --host 192.0.2.1",
            "192.0.2.1 is not an address of this machine; choose one with --host, such as 127.0.0.1 or 0.0.0.0", 1),
    Mistake("unknown host", f"{START} --auth strict --host no.such.invalid",
            "the address 'no.such.invalid' is not known; choose one of this machine with --host, such as 127.0.0.1 or "
            "0.0.0.0", 1),
    Mistake("ready file in no folder", f"{START} --ready-file nowhere/ready.json",
            "--ready-file: the folder $here/nowhere does not exist or is not writable; create it, or name another one"),
]

SETTINGS_FILES = [
    Mistake("settings that are not there, checked", "config check",
            "nowhere.yaml cannot be read; name another file with --config or SCRIBE_CONFIG", 1,
            environment={"SCRIBE_CONFIG": "nowhere.yaml"}),
]

CLIENTS_FILES = [
    Mistake("clients that are not there", f"{START} --clients nowhere.yaml", "nowhere.yaml: cannot be read", 1),
]

KEYS = [
    Mistake("signing-key that others can read", "serve --port 0 --data-dir data",
            "$here/data/signing-key is a key, and other users can read it. Run chmod 600 '$here/data/signing-key', "
            "then start again", 1, files={"data/signing-key": Key(0o644)}),
    Mistake("folder of the authority that cannot be made", "trust --tls-dir /proc/nothing/tls",
            "/proc/nothing/tls: the folder cannot be made; name another with --tls-dir", 1),
]

DATA_FOLDERS = [
    Mistake("no folder for temporary files", START,
            "/proc/nothing cannot be used for temporary files: it cannot be created there. Set TMPDIR to a folder with "
            "room that this user may write to", 1, environment={"TMPDIR": "/proc/nothing"}),
    Mistake("somebody's working folder as the data folder", "serve --port 0 --data-dir .",
            "$here is not a data folder of scribe-emulator, and it holds .backup-x, objects, work. Name an empty or a new "
            "folder with --data-dir", 1,
            files={".backup-x/letter": "mine", "objects/ab/abcdef": "mine", "work/letter": "mine"}),
    Mistake("empty database", "serve --port 0 --data-dir data",
            f"$here/{DATABASE} is damaged. Restore a backup into a new folder with scribe-emulator restore --data-dir "
            "NEW-FOLDER FILE, or start with another --data-dir", 1, files=state(b"")),
    Mistake("data folder that cannot be made", "serve --port 0 --data-dir /proc/nothing",
            "/proc/nothing cannot be used: it cannot be created there. Fix this, or choose another folder with "
            "--data-dir", 1),
    Mistake("damaged database", "serve --port 0 --data-dir data",
            f"$here/{DATABASE} is damaged. Restore a backup into a new folder with scribe-emulator restore --data-dir "
            "NEW-FOLDER FILE, or start with another --data-dir", 1, files=state(DAMAGED)),
    Mistake("database of a later version", "serve --port 0 --data-dir data",
            f"$here/{DATABASE} was written by a later version of scribe-emulator. Start that version, or choose "
            "another folder with --data-dir", 1, files=state(NEWER)),
    Mistake("database of another program", "serve --port 0 --data-dir data",
            f"$here/{DATABASE} is the database of another program; choose another folder with --data-dir", 1,
            files=state(FOREIGN)),
]

BACKUPS = [
    Mistake("backup of a damaged database", "backup file --data-dir data",
            f"{DATABASE} is damaged. Restore a backup into a new folder with scribe-emulator restore --data-dir "
            "NEW-FOLDER FILE, or start with another --data-dir", 1, files=state(DAMAGED)),
    Mistake("backup of another program's database", "backup file --data-dir data",
            f"{DATABASE} is the database of another program; choose another folder with --data-dir", 1,
            files={**state(FOREIGN), "data/states/1/objects": Folder()}),
    Mistake("backup without the objects", "backup file --data-dir data",
            "$here/data/states/1/objects cannot be read; it belongs to the database beside it, so put it back first", 1,
            files=state(Database("CREATE TABLE objects (file)", "CREATE TABLE multipart_parts (file)"))),
    Mistake("restore of junk", "restore junk --data-dir new", "junk is no backup of scribe-emulator", 1,
            files={"junk": "junk"}),
    Mistake("restore of a damaged backup", "restore bad.tar --data-dir new",
            "the backup is damaged: bad.tar holds no database of scribe-emulator that can be read", 1,
            files={"bad.tar": Archive("scribe.sqlite", DAMAGED)}),
    Mistake("restore of a later backup", "restore later.tar --data-dir new",
            "later.tar was written by a later version of scribe-emulator; restore it with that version", 1,
            files={"later.tar": Archive("scribe.sqlite", NEWER)}),
    Mistake("restore over data", "restore junk --data-dir data",
            "$here/data holds data already; restore into a new folder", 1,
            files={"junk": "junk", **state(FOREIGN)}),
]

SERVERS = [
    Mistake("another server is ready", "ready --url $other",
            "not ready: no server is ready at $other; run scribe-emulator doctor --url $other to find out why", 1),
    Mistake("ready file that is not there", "ready --wait --timeout 0.2s --ready-file ready.json",
            "not ready: the ready file ready.json does not exist; run scribe-emulator ready --wait to wait for it", 1),
    Mistake("webhooks of no server", f"webhooks list --url {NOBODY}",
            f"no server answers at {NOBODY}; start one, or name another one with --url", 3),
    Mistake("webhooks of another server", "webhooks list --url $other",
            "the server at $other is not a scribe-emulator; name another one with --url", 1),
    Mistake("doctor of another server", "doctor --url $other",
            re.compile(r"^PROBLEM  another server answers at http://.*\n"
                       r"         -> start scribe-emulator on another port with --port, "), 1),
]

OTHERS = [
    Mistake("transcript that is too long", "note",
            "standard input is too long; a transcript may have at most 524288 bytes", stdin="hidden " * 80_000),
]

MISTAKES = [
    *VERBS, *VALUES, *ADDRESSES, *SETTINGS_FILES, *CLIENTS_FILES, *KEYS, *DATA_FOLDERS, *BACKUPS, *SERVERS, *OTHERS,
]

#: What the parser of the command line puts under a sentence: choices, the help of an option, where more is.
FRAME = ("  - ", "Help:  ", "Usage: ", "  See '")


@pytest.fixture(scope="module")
def other():
    """A server that answers whatever it is asked, and is none of ours."""
    with HTTPRecorder(lambda request: Answer(200, b"hello")) as other:
        yield other


def prepare(folder, files):
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        match content:
            case str():
                path.write_text(content)
            case bytes():
                path.write_bytes(content)
            case _:
                content.make(path)


def contents(folder):
    """What is in the files; but for databases, in which SQLite notes that they were opened."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.suffix != ".sqlite"}


def message(result) -> str:
    """The sentences that answer a mistake: what was found is on standard output, everything else on standard error."""
    if result.stdout:
        assert result.stderr == "", result.stderr
        return result.stdout.rstrip("\n").removeprefix("problem: ")
    lines = result.stderr.rstrip("\n").splitlines()
    assert lines and lines[0].startswith(("Error: ", "scribe-emulator: ")), result.stderr
    text = "\n".join(line for line in lines if not line.startswith(FRAME))
    return text.removeprefix("Error: ").removeprefix("scribe-emulator: ")


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_the_error_for_a_mistake_says_what_where_and_which_command_helps(tmp_path, other, mistake):
    def filled(text):
        return text.replace("$here", str(tmp_path)).replace("$other", other.url)

    prepare(tmp_path, mistake.files)
    before = contents(tmp_path)
    result = asked(
        tmp_path, shlex.split(filled(mistake.arguments)), environment=mistake.environment, stdin=mistake.stdin)
    shown = result.stdout + result.stderr
    assert result.returncode == mistake.code, shown
    said = message(result)
    if isinstance(mistake.said, str):
        assert said == filled(mistake.said)
    else:
        assert mistake.said.search(said), said
    assert not INTERNALS.search(shown), shown
    assert said.count("\n") < 3, said
    assert "hidden" not in shown, shown
    after = contents(tmp_path)
    assert {path: after.get(path) for path in before} == before, "a mistake changes no file"


def test_an_error_names_the_help_of_its_own_verb(tmp_path):
    result = asked(tmp_path, ["webhooks", "list", "--config", "nowhere.yaml"])
    lines = result.stderr.splitlines()
    assert "  See 'scribe-emulator webhooks list --help' for more information." in lines, result.stderr


def test_each_mistake_is_in_the_list_once():
    assert len({mistake.name for mistake in MISTAKES}) == len(MISTAKES)
    causes = {(mistake.arguments, str(mistake.files), str(mistake.environment)) for mistake in MISTAKES}
    assert len(causes) == len(MISTAKES)
