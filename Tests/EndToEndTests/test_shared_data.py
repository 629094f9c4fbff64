"""Two processes on one data folder, with the lock shared: what several servers on one database will be.

`SCRIBE_TEST_SHARED_LEASE` shares the lock and sets the lease, in seconds. It is for these tests only. All tests share
two processes, and the last test kills the first process.
"""

import collections
import contextlib
import http.client
import pathlib
import sqlite3
import threading
import time
from types import SimpleNamespace

import pytest
from client import BUCKET
from emulator import PATIENCE, Server, state_folder, wait_until
from session_client import recording
from speech_service import SpeechService
from webhooks import FAST, WHOLE, Consultant, Receiver, settle

#: In seconds.
LEASE = 2
#: Of an upload that begins before the second process, and ends after it has started.
BODY = b"RIFF" + bytes(300_000)
BEGINNING = 280_000


class HeldService(SpeechService):
    """Speech service that answers while `is_open` is set."""

    def __init__(self):
        super().__init__()
        self.is_open = threading.Event()
        self.is_open.set()

    def _recognised(self, request, fault):
        self.is_open.wait(PATIENCE)
        return super()._recognised(request, fault)


@contextlib.contextmanager
def started(data: pathlib.Path, name: str, service: SpeechService):
    folder = data.parent / name
    folder.mkdir()
    flags = ("--data-dir", str(data), "--transcriber", service.transcriber("openai"), "--long-poll", "500ms", *FAST)
    server = Server(folder, *flags, environment={"SCRIBE_TEST_SHARED_LEASE": str(LEASE)})
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.stop()


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """Both processes with a speech service each. The first has had a part of an upload since before the second began.
    """
    data = tmp_path_factory.mktemp("shared") / "data"
    with contextlib.ExitStack() as stack:
        services = [stack.enter_context(service) for service in (HeldService(), SpeechService(delay=0.02))]
        first = stack.enter_context(started(data, "first", services[0]))
        client = first.client()
        made = client.session.post(f"{first.base_url}/voice/v1/sessions", json={"upload_type": "chunked"}).json()
        upload = http.client.HTTPConnection("127.0.0.1", first.port)
        upload.putrequest("POST", f"/voice/v1/sessions/{made['session_id']}/audio/1.wav")
        upload.putheader("Authorization", client.session.headers["Authorization"])
        upload.putheader("Content-Type", "audio/wav")
        upload.putheader("Content-Length", str(len(BODY)))
        upload.endheaders(BODY[:BEGINNING])
        [stored] = wait_until(lambda: list(data.glob("states/*/objects/??/*")), "a part of it is stored")
        second = stack.enter_context(started(data, "second", services[1]))
        yield SimpleNamespace(
            data=data, servers=[first, second], services=services, upload=upload, stored=stored)


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


def asked(services: list[SpeechService]) -> collections.Counter:
    """How often the services were asked about each recording."""
    return collections.Counter(request["audio"] for service in services for request in service.requests)


def jobs(data: pathlib.Path, state: str) -> dict[int, tuple[str, int]]:
    """Transcriptions in a state: owner, and end of the lease in milliseconds since 1970, by id."""
    with contextlib.closing(sqlite3.connect(state_folder(data) / "scribe.sqlite", timeout=PATIENCE)) as database:
        rows = database.execute(
            "SELECT id, owner, lease_until FROM jobs WHERE kind = 'transcribe' AND state = ?", (state,)).fetchall()
    return {number: (owner, lease) for number, owner, lease in rows}


def test_a_start_deletes_no_file_of_an_upload_to_another_process(pair):
    assert pair.servers[1].client().tokens
    pair.upload.send(BODY[BEGINNING:])
    answer = pair.upload.getresponse()
    assert answer.status in (200, 201), answer.read()
    assert pair.stored.read_bytes() == BODY


def test_a_process_that_needs_exclusive_access_does_not_start_while_others_share_the_folder(pair, tmp_path):
    with pytest.raises(AssertionError, match="in use|uses"):
        Server(tmp_path, "--data-dir", str(pair.data))


def test_two_processes_do_each_job_once_and_deliver_each_event_once_in_order(pair):
    before = asked(pair.services)
    with Receiver() as receiver:
        consultant = Consultant(pair.servers[0])
        hook = consultant.register(f"{receiver.url}/good")
        finished, lock = [], threading.Lock()

        def consult(server: Server):
            client = server.client()
            s3 = client.s3()
            for _ in range(8):
                transaction = recorded(client, s3)
                assert transaction.commit().status_code == 200
                done(transaction)
                with lock:
                    finished.append(transaction)

        threads = [threading.Thread(target=consult, args=(server,)) for server in pair.servers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(finished) == 16
        times = asked(pair.services) - before
        assert len(times) == 32 and set(times.values()) == {1}
        # What one has stored the other answers.
        urls = [server.base_url for server in pair.servers]
        for transaction in finished:
            own = transaction.poll().json()
            transaction.client = pair.servers[1 - urls.index(transaction.client.base_url)].client()
            assert transaction.poll().json() == own
        settle(pair.servers[0])
        consultant.unregister(hook)
        heard = collections.defaultdict(list)
        for session, event in receiver.heard["/good"]:
            heard[session].append(event)
        assert len(heard) == 16 and all(events == WHOLE for events in heard.values()), heard


def test_the_jobs_of_a_process_that_is_killed_are_done_by_the_other_within_the_lease(pair):
    first, second = pair.servers
    pair.services[0].is_open.clear()
    before = asked(pair.services)
    client = first.client()
    transactions = [recorded(client, client.s3()) for _ in range(3)]
    for transaction in transactions:
        assert transaction.commit().status_code == 200

    # The second process may be faster with one of them.
    wait_until(lambda: not jobs(pair.data, "pending"), "the processes work on all jobs")
    held = jobs(pair.data, "running")
    # The first process renews its leases: the other one takes no job of it while it lives.
    end = max(lease for _, lease in held.values())
    wait_until(lambda: time.time() * 1000 > end, "the leases have ended")
    renewed = jobs(pair.data, "running")
    assert renewed and all(held[job][0] == owner and lease > end for job, (owner, lease) in renewed.items())
    assert len({owner for owner, _ in renewed.values()}) == 1
    assert len(asked(pair.services[1:]) - before) == 6 - len(renewed)
    first.kill()
    other = second.client()
    for transaction in transactions:
        transaction.client = other
        done(transaction)
    times = asked(pair.services[1:]) - before
    assert len(times) == 6 and set(times.values()) == {1}
    # So that the threads of its requests end with the test.
    pair.services[0].is_open.set()
