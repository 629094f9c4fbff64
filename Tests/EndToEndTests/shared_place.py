"""A PostgreSQL cluster and a bucket of S3 for one test run, and servers that share them."""

import collections
import contextlib
import glob
import os
import pathlib
import pwd
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

from emulator import PATIENCE, Server, wait_until

BUCKET = "scribe"
#: A user of PostgreSQL that needs a password.
GUARDED = "guarded"
KEYS = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "a-secret-of-the-tests"}


def free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        listeners = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [listener.getsockname()[1] for listener in listeners]


def free_port() -> int:
    return free_ports(1)[0]


class Network:
    """A network namespace: another machine for whatever runs in it, which a test can take off the net. Takes root."""

    def __init__(self):
        number = os.getpid()
        self.name = f"scribe{number}"
        # Two addresses of a network of four.
        network, first = f"10.{number >> 14 & 0xFF}.{number >> 6 & 0xFF}", (number & 0x3F) << 2
        self.near, self.far = f"{network}.{first + 1}", f"{network}.{first + 2}"
        self.prefix = ("ip", "netns", "exec", self.name)

    def __enter__(self):
        ip("netns", "add", self.name)
        ip("link", "add", self.name, "type", "veth", "peer", "name", "far", "netns", self.name)
        ip("address", "add", f"{self.near}/30", "dev", self.name)
        ip("link", "set", self.name, "up")
        ip("-n", self.name, "address", "add", f"{self.far}/30", "dev", "far")
        ip("-n", self.name, "link", "set", "far", "up")
        return self

    def __exit__(self, *_):
        ip("link", "delete", self.name)
        ip("netns", "delete", self.name)

    @contextlib.contextmanager
    def lost(self):
        """Drops all packets for a while, in both directions. No connection ends by it."""
        ends = [(("-n", self.name), self.near), ((), self.far)]
        for end, peer in ends:
            ip(*end, "route", "add", "blackhole", f"{peer}/32")
        try:
            yield
        finally:
            for end, peer in ends:
                ip(*end, "route", "delete", "blackhole", f"{peer}/32")


def ip(*arguments: str):
    subprocess.run(["ip", *arguments], check=True, timeout=PATIENCE)


class PostgreSQL:
    """A cluster of its own, which only this machine reaches. PostgreSQL does not run as root."""

    def __init__(self, folder: pathlib.Path | str = "/tmp", fsync: str = "off", network: Network | None = None):
        programs = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
        assert programs, "PostgreSQL is not installed; run scripts/install test"
        self.programs, self.port, self.fsync = programs[-1], free_port(), fsync
        # Its own user must reach the folder.
        self.data = pathlib.Path(tempfile.mkdtemp(prefix="scribe-postgres-", dir=folder))
        self.host, self.prefix = network.far if network else "127.0.0.1", network.prefix if network else ()
        if os.getuid() == 0:
            user = pwd.getpwnam("postgres")
            os.chown(self.data, user.pw_uid, user.pw_gid)
            self.prefix += ("setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups")
        self.call("initdb", "-D", self.data / "cluster", "-U", "scribe", "--auth=trust", "-E", "UTF8", "--locale=C")
        rules = self.data / "cluster/pg_hba.conf"
        # The first rule that fits decides.
        first, last = f"host all {GUARDED} all scram-sha-256\n", "host all all 10.0.0.0/8 trust\n"
        rules.write_text(first + rules.read_text() + last)
        self.start()
        self.count = 0

    def call(self, program: str, *arguments):
        subprocess.run(
            [*self.prefix, f"{self.programs}/{program}", *arguments], check=True, stdout=subprocess.DEVNULL,
            cwd=self.data, timeout=PATIENCE)

    def start(self):
        options = f"-p {self.port} -k {self.data} -c listen_addresses={self.host} -c max_connections=1000"
        options += f" -c fsync={self.fsync}"
        self.call("pg_ctl", "-D", self.data / "cluster", "-w", "-o", options, "-l", self.data / "log", "start")

    def stop(self, mode: str = "fast"):
        """`immediate` is what `kill -9` of the server is."""
        self.call("pg_ctl", "-D", self.data / "cluster", "-w", "-m", mode, "stop")

    def sql(self, statement: str) -> list[list[str]]:
        """Runs statements by psql. Returns rows as texts."""
        where = ("-h", self.data, "-p", str(self.port), "-U", "scribe", "-d", "postgres")
        done = subprocess.run(
            [*self.prefix, f"{self.programs}/psql", *where, "-q", "-t", "-A", "-c", statement], check=True,
            stdout=subprocess.PIPE, text=True, cwd=self.data, timeout=PATIENCE)
        return [line.split("|") for line in done.stdout.splitlines()]

    def processes(self) -> list[int]:
        """Process ids: the postmaster, and one for each connection and each worker."""
        postmaster = (self.data / "cluster/postmaster.pid").read_text().splitlines()[0]
        children = pathlib.Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
        return [int(process) for process in [postmaster, *children]]

    @contextlib.contextmanager
    def frozen(self):
        """Stops all processes for a while. Connections stay open, and get no answer."""
        stopped: list[int] = []
        # The postmaster is stopped first, and starts no other process then.
        while left := [process for process in self.processes() if process not in stopped]:
            for process in left:
                os.kill(process, signal.SIGSTOP)
            stopped += left
        try:
            yield
        finally:
            for process in reversed(stopped):
                os.kill(process, signal.SIGCONT)

    @property
    def url(self) -> str:
        return f"postgres://scribe@{self.host}:{self.port}/postgres"

    def schema(self) -> str:
        """The URL of a schema that nobody else uses."""
        self.count += 1
        return f"{self.url}?schema=s{self.count}"


@contextlib.contextmanager
def postgres(*arguments, **options):
    server = PostgreSQL(*arguments, **options)
    try:
        yield server
    finally:
        server.stop("immediate")
        shutil.rmtree(server.data, ignore_errors=True)


class Relay:
    """A way to a service of this machine. What passes goes through `pass_on`."""

    def __init__(self, port: int):
        self.target = port
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                server = socket.create_connection(("127.0.0.1", self.target))
                threading.Thread(target=self.pass_on, args=(client, server, True), daemon=True).start()
                threading.Thread(target=self.pass_on, args=(server, client, False), daemon=True).start()


class CommitCutter(Relay):
    """A way to PostgreSQL that ends connections at a commit, before or after PostgreSQL gets it."""

    def __init__(self, port: int, is_sent: bool):
        self.is_sent, self.left = is_sent, 0
        super().__init__(port)

    def pass_on(self, source: socket.socket, sink: socket.socket, is_client: bool):
        # The text of a statement is sent once in a connection, then its name.
        commit = None
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                if is_client and (found := re.search(rb"(s\d+)\0COMMIT\0", data)):
                    commit = b"\0" + found[1] + b"\0"
                if commit and self.left > 0 and commit in data:
                    self.left -= 1
                    if self.is_sent:
                        # The answer gets lost.
                        source.shutdown(socket.SHUT_WR)
                        sink.sendall(data)
                        time.sleep(0.3)
                    break
                sink.sendall(data)
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


class RequestCounter(Relay):
    """A way to an HTTP service that counts the requests by their method, and the answers by their status."""

    def __init__(self, url: str):
        self.requests = collections.Counter()
        self.answers = collections.Counter()
        super().__init__(int(url.rpartition(":")[2]))
        self.url = f"http://127.0.0.1:{self.port}"

    def pass_on(self, source: socket.socket, sink: socket.socket, is_client: bool):
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                # A client that waits for each answer begins each request, and each answer, with a read of its own.
                if is_client and (found := re.match(rb"(GET|HEAD|PUT|POST|DELETE) /", data)):
                    self.requests[found[1].decode()] += 1
                if not is_client and (found := re.match(rb"HTTP/1\.1 (\d+)", data)):
                    self.answers[int(found[1])] += 1
                sink.sendall(data)
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


def bucket_client(endpoint: str):
    import boto3

    return boto3.client(
        "s3", endpoint_url=endpoint, region_name="us-east-1", aws_access_key_id=KEYS["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=KEYS["AWS_SECRET_ACCESS_KEY"])


class SeaweedFS:
    """An S3 service in one process, with its data on disk. A test can kill it and start it again."""

    def __init__(self, folder: pathlib.Path):
        self.program, self.folder = pathlib.Path(sys.executable).parent / "weed", folder
        assert self.program.exists(), "SeaweedFS is not installed; run scripts/install scale"
        folder.mkdir(exist_ok=True)
        parts = ("master", "volume", "filer", "admin", "s3")
        names = [f"{part}.port{kind}" for part in parts for kind in ("", ".grpc")]
        ports = dict(zip(names, free_ports(len(names))))
        self.endpoint = f"http://127.0.0.1:{ports['s3.port']}"
        self.flags = [f"-{name}={port}" for name, port in ports.items()] + ["-s3.port.iceberg=0", "-s3.port.lance=0"]
        self.start()

    def start(self):
        """Starts the service, and waits until the bucket takes objects."""
        flags = [
            f"-dir={self.folder / 'data'}", f"-bucket={BUCKET}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-webdav=false",
            "-admin.ui=false", "-master.telemetry=false", "-volume.max=100", "-master.volumeSizeLimitMB=256",
            *self.flags]
        (self.folder / "data").mkdir(exist_ok=True)
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(
                [self.program, "mini", *flags], stdout=log, stderr=log, cwd=self.folder,
                env={"PATH": os.environ["PATH"], "HOME": str(self.folder), **KEYS})
        wait_until(self.takes_objects, "SeaweedFS takes objects")

    def takes_objects(self) -> bool:
        assert self.process.poll() is None, (self.folder / "log").read_text()
        try:
            self.client().put_object(Bucket=BUCKET, Key="try", Body=b"x")
            self.client().delete_object(Bucket=BUCKET, Key="try")
            return True
        except Exception:  # noqa: BLE001  (whatever boto3 makes of a service that does not listen yet)
            time.sleep(0.1)
            return False

    def client(self):
        """A client of boto3 for the bucket."""
        return bucket_client(self.endpoint)

    def bodies(self, folder: str) -> list[bytes]:
        """The bytes of all uploads below a prefix, sorted."""
        client = self.client()
        pages = client.get_paginator("list_objects_v2").paginate(Bucket=BUCKET, Prefix=f"{folder}/")
        names = [entry["Key"] for page in pages for entry in page.get("Contents", [])]
        return sorted(
            client.get_object(Bucket=BUCKET, Key=name)["Body"].read() for name in names if not name.endswith("-owner"))

    def kill(self):
        self.process.kill()
        self.process.wait()


@contextlib.contextmanager
def seaweed(folder: pathlib.Path):
    service = SeaweedFS(folder)
    try:
        yield service
    finally:
        service.kill()


@contextlib.contextmanager
def bucket():
    """A bucket at moto's server."""
    port = free_port()
    process = subprocess.Popen(
        [pathlib.Path(sys.executable).parent / "moto_server", "-p", str(port)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    endpoint = f"http://127.0.0.1:{port}"
    try:
        client = bucket_client(endpoint)

        def made() -> bool:
            try:
                client.create_bucket(Bucket=BUCKET)
                return True
            except Exception:  # noqa: BLE001  (whatever boto3 makes of a server that does not listen yet)
                time.sleep(0.1)
                return False

        wait_until(made, "the bucket is there")
        yield endpoint, client
    finally:
        process.terminate()
        process.wait(timeout=PATIENCE)


@contextlib.contextmanager
def replica(path: pathlib.Path, database: str, endpoint: str, *flags: str, folder: str | None = None, **variables):
    """A server beside others on one database and one bucket."""
    path.mkdir(exist_ok=True)
    # A prefix belongs to one database.
    folder = folder or database.rpartition("schema=")[2]
    objects = f"s3://{BUCKET}/{folder}?endpoint={endpoint}"
    server = Server(path, "--database", database, "--objects", objects, *flags, environment=KEYS | variables)
    server.prefix = folder
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.stop()


def main():
    """Runs a command with a cluster of its own: `SCRIBE_TEST_DATABASE` has its URL."""
    with postgres() as server:
        run = subprocess.run(sys.argv[1:], env={**os.environ, "SCRIBE_TEST_DATABASE": server.url}, check=False)
    sys.exit(run.returncode)


if __name__ == "__main__":
    main()
