"""Crash tests' ground: a data folder whose server tests kill and start again, and what each scenario does there."""

import contextlib
import os
import pathlib

from emulator import PATIENCE, Server
from namespaces import Access, EkaClient, counts
from webhooks import FAST

#: No silence ends a stream, however long other scenarios take.
FLAGS = (
    "--data-dir", "data", "--allow-reset", "--fixtures", "fixtures.yaml", "--long-poll", "3s", "--suki-shortest", "0s",
    "--listen-idle", "1h", "--omi-idle", "1h", "--conversation-timeout", "10m", *FAST)
#: `late` holds results back for 2 s, so that a kill finds a job to do.
FIXTURES = "fixtures: [{name: late, delay: 2}]\n"
LATE = {"fixture": "fixture:late"}


def fill(server: Server, name: str):
    """Begins a transaction of that name, and stores an object. Both are acknowledged."""
    client = EkaClient(Access(server.base_url))
    assert client.transaction(name).init().status_code == 201
    client.s3().put_object(Bucket="kept", Key=name, Body=b"audio")


def content(server: Server) -> tuple[list[str], int]:
    """Names of all transactions, and the number of objects."""
    return EkaClient(Access(server.base_url)).history(), counts(server)["objects"]


class CrashSite:
    """Data folder with a running server. Each start keeps the data, and gives the server another port."""

    def __init__(self, folder: pathlib.Path, *flags: str):
        self.folder, self.flags = folder, flags or FLAGS
        self.data, self.temporary = folder / "data", folder / "temporary"
        self.temporary.mkdir()
        (folder / "fixtures.yaml").write_text(FIXTURES)
        self.start()

    def start(self, *flags: str, **options):
        self.server = Server(
            self.folder, *self.flags, *flags, environment={"TMPDIR": str(self.temporary)}, **options)

    def crash(self):
        """Kills the server and starts it again."""
        self.server.kill()
        self.start()

    def has_died(self):
        """Waits for a server that a test kills from elsewhere, and starts it again."""
        self.server.process.wait(PATIENCE)
        self.start()

    def close(self):
        if self.server.process.poll() is None:
            self.server.stop()

    def holding(self, content: bytes) -> int:
        """Number of files below the folder that contain these bytes."""
        found = 0
        for folder, _, files in os.walk(self.folder):
            for name in files:
                # The server removes files meanwhile.
                with contextlib.suppress(FileNotFoundError):
                    found += content in pathlib.Path(folder, name).read_bytes()
        return found


class Scenario:
    """Work of one API family, acknowledged before a kill."""

    def __init__(self, site: CrashSite):
        self.site = site

    def begin(self, server: Server):
        """Does work, and returns once the server has acknowledged it."""
        raise NotImplementedError

    def while_down(self):
        """Runs between the kill and the next start."""

    def check(self, server: Server):
        """Asserts that all acknowledged work is there exactly once, and takes it to its end."""
        raise NotImplementedError
