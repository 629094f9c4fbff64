"""Visits on shared servers whose clients repeat what fails, as SDKs do."""

import concurrent.futures
import contextlib
import threading

import requests
import urllib3
from client import BUCKET
from emulator import PATIENCE, Server, wait_until
from session_client import recording


def retrying(session: requests.Session):
    """Repeats what the balancer or a lost connection refused, writes too."""
    again = urllib3.Retry(12, backoff_factor=0.1, backoff_max=5, status_forcelist=(502, 503, 504), allowed_methods=None)
    session.mount("http://", requests.adapters.HTTPAdapter(max_retries=again))


def recorded(client, s3, count: int = 2):
    """A transaction with chunks that differ, not committed yet."""
    transaction = client.transaction()
    assert transaction.init(["soap"]).status_code == 201
    for number in range(1, count + 1):
        body = recording(3, f"{transaction.id}-{number}")
        s3.put_object(Bucket=BUCKET, Key=f"{transaction.folder}/{number}.wav", Body=body)
        transaction.uploaded.append(f"{number}.wav")
    assert transaction.stop().status_code == 200
    return transaction


def done(transaction):
    return wait_until(
        lambda: (answer := transaction.poll()).status_code == 200 and answer, f"{transaction.id} is done")


class Load:
    """Visits of eight uploads, all at once. Each one waits for the others after its third upload."""

    def __init__(self, server: Server, audio: bytes, count: int = 6):
        self.server, self.audio, self.count = server, audio, count
        self.half_way = threading.Barrier(count + 1)
        #: Bytes of the acknowledged uploads, by key.
        self.stored: dict[str, bytes] = {}
        #: Results of the visits.
        self.outputs: list[list[dict]] = []

    def visit(self, number: int) -> list[dict]:
        client = self.server.client()
        retrying(client.session)
        s3 = client.s3(retries={"total_max_attempts": 12, "mode": "standard"})
        transaction = client.transaction(f"i-{number}")
        assert transaction.init(["soap"]).status_code == 201
        for chunk in range(1, 9):
            if chunk == 4:
                self.half_way.wait(PATIENCE)
            key, body = f"{transaction.folder}/{chunk}.wav", self.audio + f"{number}-{chunk}".encode()
            s3.put_object(Bucket=BUCKET, Key=key, Body=body)
            self.stored[key] = body
            transaction.uploaded.append(f"{chunk}.wav")
        assert transaction.stop().status_code == 200 and transaction.commit().status_code == 200
        return done(transaction).json()["data"]["output"]

    @contextlib.contextmanager
    def running(self):
        """Starts the visits. The body of `with` runs from their half on, and the end waits for their results."""
        with concurrent.futures.ThreadPoolExecutor(self.count) as pool:
            visits = [pool.submit(self.visit, number) for number in range(self.count)]
            self.half_way.wait(PATIENCE)
            yield
            self.outputs = [each.result() for each in visits]

    def check(self, beside: tuple[str, ...] = ()):
        """Every visit has its result, every acknowledged upload is read back, and the history has the visits.

        `beside` has the ids of the other transactions of the business.
        """
        assert [output["status"] for output in sum(self.outputs, [])] == ["success"] * self.count, self.outputs
        client = self.server.client()
        s3 = client.s3()
        assert len(self.stored) == 8 * self.count
        for key, body in self.stored.items():
            assert s3.get_object(Bucket=BUCKET, Key=key)["Body"].read() == body, key
        history = client.session.get(f"{self.server.base_url}/voice/api/v2/transaction/history").json()["data"]
        visits = {f"i-{number}" for number in range(self.count)}
        assert sorted(row["txn_id"] for row in history) == sorted(visits | set(beside))
