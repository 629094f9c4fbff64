"""Load for crash tests: clients that note what a server acknowledges, until it is gone."""

import random
import threading

from client import BUCKET
from device_client import Device
from emulator import PATIENCE, Server, wait_until

WORKERS = 4
#: Results of earlier rounds that each check looks at again.
SAMPLE = 5
#: Statuses of a transaction, in their order.
ORDER = ["init", "stopped", "commit"]


def tone() -> bytes:
    """Half a second of a tone, as a WAV file."""
    samples = b"".join(int(1000 * ((n % 40) - 20) / 20).to_bytes(2, "little", signed=True) for n in range(4000))
    size = len(samples)
    return (
        b"RIFF" + (36 + size).to_bytes(4, "little") + b"WAVEfmt " + (16).to_bytes(4, "little") + b"\1\0\1\0"
        + (8000).to_bytes(4, "little") + (16000).to_bytes(4, "little") + b"\2\0\x10\0data"
        + size.to_bytes(4, "little") + samples)


class Load:
    """Four clients that record transactions, and a device that talks. Each notes its acknowledged steps."""

    def __init__(self, server: Server, talks=True):
        self.client, self.audio = server.client(), tone()
        self.s3 = self.client.s3()
        self.device = Device(server).ready()
        self.lock, self.stopping = threading.Lock(), threading.Event()
        #: Number of acknowledged steps.
        self.count = 0
        self.transactions, self.state, self.objects, self.results = {}, {}, {}, {}
        #: Texts that the device has got back.
        self.echoed = []
        self.problems = []
        work = [self.record] * WORKERS + [self.talk] * talks
        self.threads = [threading.Thread(target=self.work, args=(each,)) for each in work]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        for thread in self.threads:
            thread.join(PATIENCE)
        self.device.drop()

    def work(self, step):
        """Repeats a step until the load ends, or its server."""
        dice = random.Random(threading.get_ident())
        try:
            while not self.stopping.is_set():
                step(dice)
        except Exception as error:  # noqa: BLE001  (clients raise all sorts of errors when a server is gone)
            if not self.stopping.is_set():
                self.problems.append(repr(error))

    def note(self, table: dict, key, value):
        with self.lock:
            table[key] = value
            self.count += 1

    def record(self, dice: random.Random):
        """Records one transaction."""
        transaction = self.client.transaction()
        self.transactions[transaction.id] = transaction
        if transaction.init(["soap"]).status_code == 201:
            self.note(self.state, transaction.id, "init")
        for number in range(1, dice.randint(2, 5)):
            # No two uploads have the same bytes, so that an old and a new object cannot be taken for each other.
            body, key = self.audio + dice.randbytes(200), f"{transaction.folder}/{number}.wav"
            self.s3.put_object(Bucket=BUCKET, Key=key, Body=body)
            self.note(self.objects, key, body)
            transaction.uploaded.append(f"{number}.wav")
        if transaction.stop().status_code == 200:
            self.note(self.state, transaction.id, "stopped")
        if transaction.commit().status_code == 200:
            self.note(self.state, transaction.id, "commit")
        answer = transaction.poll()
        if answer.status_code == 200:
            self.note(self.results, transaction.id, answer.json()["data"]["output"])

    def talk(self, dice: random.Random):
        """Says one thing, and waits for its echo."""
        text = f"word {len(self.echoed)}"
        self.device.say(text)
        assert self.device.until(len(self.echoed) + 1)[-1] == text
        self.echoed.append(text)

    def check(self, server: Server):
        """Asserts that a server has all that another one on the same data acknowledged."""
        assert not self.problems
        self.client.base_url, self.device.server = server.base_url, server
        rows = self.client.session.get(f"{server.base_url}/voice/api/v2/transaction/history").json()["data"]
        statuses = {row["txn_id"]: row["user_status"] for row in rows}
        assert len(statuses) == len(rows), "a transaction is there twice"
        for identifier, status in self.state.items():
            found = statuses.get(identifier)
            assert found is not None, f"{identifier} was {status}, and is lost"
            assert ORDER.index(found) >= ORDER.index(status), f"{identifier} was {status}, and is {found}"
        s3 = self.client.s3()
        for key, body in self.objects.items():
            assert s3.get_object(Bucket=BUCKET, Key=key)["Body"].read() == body, key
        for identifier, status in self.state.items():
            if status == "commit":
                output, known = self.output(identifier), self.results.get(identifier)
                assert known is None or output == known, "a result has changed"
        stored = self.device.stored()
        assert stored[:len(self.echoed)] == self.echoed and len(stored) <= len(self.echoed) + 1

    def output(self, identifier: str):
        """Results of a committed transaction."""
        poll = self.transactions[identifier].poll
        answer = wait_until(lambda: (a := poll()).status_code != 202 and a, f"{identifier} has results")
        assert answer.status_code == 200, f"{identifier} was committed, and is {answer.status_code}"
        return answer.json()["data"]["output"]

    def sample(self, dice: random.Random) -> dict:
        """Some of the results."""
        known = sorted(self.results)
        return {identifier: self.results[identifier] for identifier in dice.sample(known, min(SAMPLE, len(known)))}

    @property
    def events(self) -> set[tuple[str, str]]:
        """Events that a receiver must be told about the acknowledged steps."""
        begun = {(identifier, "session.started") for identifier in self.state}
        ended = {identifier for identifier, status in self.state.items() if status == "commit"}
        return begun | {(identifier, f"session.{event}") for identifier in ended for event in ("ended", "completed")}
