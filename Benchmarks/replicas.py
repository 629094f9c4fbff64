"""Measures servers on PostgreSQL and S3 beside one on SQLite, and prints a table: replicas.py BINARY WORK_FOLDER

A consultation is the one of bench.py. PostgreSQL, SeaweedFS and nginx are started as `make scale-test` does, but with
PostgreSQL's fsync. CPU time is the kernel's count for all processes of a part, divided by the consultations."""

import contextlib
import os
import pathlib
import statistics
import sys
import time

import bench
from bench_table import print_table
from servers import TICKS, Process, Recogniser, Scribe, busy_seconds, cpu_seconds

BINARY, WORK = sys.argv[1], pathlib.Path(sys.argv[2])
# The modules of the tests read it.
os.environ["SCRIBE_BINARY"] = BINARY
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Tests/EndToEndTests"))

from balancer import Balancer  # noqa: E402  (in Tests/EndToEndTests)
from shared_place import BUCKET, KEYS, PostgreSQL, SeaweedFS, postgres, seaweed  # noqa: E402

ROUNDS = 3
#: Consultations of one round, by recogniser: as many as a server does in some seconds.
COUNTS = {"fake": 1000, "300 ms a chunk": 200}


class Replica(Scribe):
    """Server on PostgreSQL and S3."""

    def __init__(self, folder: pathlib.Path, schema: str, endpoint: str, *flags: str):
        objects = f"s3://{BUCKET}/{schema.rpartition('=')[2]}?endpoint={endpoint}"
        super().__init__(
            folder, BINARY, "--database", schema, "--objects", objects, "--trusted-proxies", "127.0.0.0/8", *flags)

    def command(self):
        return [self.binary, "serve", "--port", str(self.port), *self.flags]


class Group:
    """Servers behind nginx, which takes their load as one server does."""

    def __init__(self, balancer: Balancer, servers: list[Process]):
        self.balancer, self.servers = balancer, servers
        self.port, self.url = balancer.port, balancer.base_url

    def cpu_seconds(self) -> float:
        return sum(server.cpu_seconds() for server in self.servers)


def postgres_seconds(database: PostgreSQL) -> float:
    """CPU seconds of all processes of PostgreSQL, also of those that have ended."""
    postmaster, *children = database.processes()
    fields = pathlib.Path(f"/proc/{postmaster}/stat").read_text().rpartition(")")[2].split()
    ended = sum(map(int, fields[13:15])) / TICKS
    return ended + sum(cpu_seconds(process) for process in [postmaster, *children])


@contextlib.contextmanager
def started(folder: pathlib.Path, count: int, database: PostgreSQL, service: SeaweedFS, *flags: str):
    """One server on SQLite for 0, else that many servers behind nginx."""
    folder.mkdir()
    with contextlib.ExitStack() as stack:
        if count == 0:
            yield stack.enter_context(Scribe(folder / "sqlite", BINARY, *flags))
            return
        schema = database.schema()
        servers = [
            stack.enter_context(Replica(folder / f"server-{number}", schema, service.endpoint, *flags))
            for number in range(count)]
        balancer = Balancer(folder / "nginx", servers)
        stack.callback(balancer.stop)
        yield Group(balancer, servers)


def counted(database: PostgreSQL) -> dict[str, float]:
    """Kilobytes of the log, and commits, since the cluster began."""
    kilobytes, commits = database.sql(
        "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') / 1024, sum(xact_commit) FROM pg_stat_database")[0]
    return {"WAL": float(kilobytes), "commits": float(commits)}


def measure(server: Scribe | Group, database: PostgreSQL, service: SeaweedFS, count: int) -> dict[str, float]:
    """Consultations per second, and CPU milliseconds of each part for one of them."""
    bench.consult(server, bench.names(count // 10))  # so that caches are filled and statements prepared
    parts = {"PostgreSQL": lambda: postgres_seconds(database), "S3": lambda: cpu_seconds(service.process.pid)}
    if isinstance(server, Group):
        parts["nginx"] = lambda: cpu_seconds(server.balancer.process.pid)
    before, log = {name: seconds() for name, seconds in parts.items()}, counted(database)
    busy, began = busy_seconds(), time.monotonic()
    taken = bench.consult(server, bench.names(count))
    cores = (busy_seconds() - busy) / (time.monotonic() - began)
    used = {name: 1000 * (seconds() - before[name]) / taken["scenarios"] for name, seconds in parts.items()}
    if isinstance(server, Group):
        # PostgreSQL tells its statistics a second late.
        time.sleep(2)
        used |= {name: (value - log[name]) / taken["scenarios"] for name, value in counted(database).items()}
    return {"rate": bench.per_second(taken), "server": bench.cpu_milliseconds(taken), "cores": cores, **used}


def main():
    bench.WORK = WORK
    # A server's copies of its uploads lie on the file system that everything else is measured on.
    os.environ.update(KEYS, TMPDIR=str(WORK))
    # PostgreSQL runs as a user of its own.
    WORK.chmod(0o755)
    found: dict[tuple, list[dict]] = {}
    with postgres(WORK, fsync="on") as database, seaweed(WORK / "seaweed") as service, Recogniser(0.3) as recogniser:
        flags = {"fake": (), "300 ms a chunk": ("--transcriber", recogniser.flag)}
        for number in range(ROUNDS):
            for speech in flags:
                for count in range(4):
                    folder = WORK / f"round-{number}-{count}-{len(flags[speech])}"
                    with started(folder, count, database, service, *flags[speech]) as server:
                        taken = measure(server, database, service, COUNTS[speech])
                    found.setdefault((speech, count), []).append(taken)
    rows = []
    for (speech, count), rounds in found.items():
        def median(name: str, digits=1, rounds=rounds) -> str:
            values = [each[name] for each in rounds if name in each]
            return f"{statistics.median(values):.{digits}f}" if values else ""

        on_sqlite = count == 0
        rows.append({
            "recogniser": speech,
            "servers": "one on SQLite" if on_sqlite else f"{count} on PostgreSQL and S3, behind nginx",
            "consultations/s": median("rate", 0), "CPU ms each: servers": median("server"),
            "PostgreSQL": "" if on_sqlite else median("PostgreSQL"), "S3": "" if on_sqlite else median("S3"),
            "nginx": median("nginx"), "log KB": median("WAL", 0), "commits": median("commits", 0),
            "busy cores": median("cores"),
        })
    print_table(rows)
    print(f"\n{os.cpu_count()} cores for all parts and the load generator; medians of {ROUNDS} rounds.")


if __name__ == "__main__":
    main()
