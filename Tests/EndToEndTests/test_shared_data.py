"""Two processes on one data folder, with the lock shared: what several servers on one database will be.

`SCRIBE_TEST_SHARED_LEASE` shares the lock and sets the lease, in seconds. It is for these tests only.
"""

import collections
import contextlib
import http.client
import socket
import threading
import time

import speech
from emulator import Server, wait_until
from speech_service import SpeechService
from webhooks import FAST, WHOLE, Consultant, Receiver, settle

LEASE = 2


@contextlib.contextmanager
def started(tmp_path, name: str, *flags: str):
    folder = tmp_path / name
    folder.mkdir(exist_ok=True)
    server = Server(
        folder, "--data-dir", str(tmp_path / "data"), *flags, environment={"SCRIBE_TEST_SHARED_LEASE": str(LEASE)})
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.stop()


def upload(client, s3, audio: bytes, count: int = 2):
    """A transaction with chunks that differ, not committed yet."""
    transaction = client.transaction()
    assert transaction.init(["soap"]).status_code == 201
    for number in range(1, count + 1):
        body = audio + f"{transaction.id}-{number}".encode()
        s3.put_object(Bucket="m-prod-voice-record", Key=f"{transaction.folder}/{number}.wav", Body=body)
        transaction.uploaded.append(f"{number}.wav")
    assert transaction.stop().status_code == 200
    return transaction


def done(transaction):
    return wait_until(
        lambda: (answer := transaction.poll()).status_code == 200 and answer, f"{transaction.id} is done")


def wave(spoken, tmp_path) -> bytes:
    return speech.encode(spoken[: 3 * speech.RATE], tmp_path / "chunk.wav").read_bytes()


def test_the_jobs_of_a_process_that_is_killed_are_done_by_the_other_within_the_lease(tmp_path, spoken):
    audio = wave(spoken, tmp_path)
    # It takes recordings, and never answers.
    silent = socket.create_server(("127.0.0.1", 0), backlog=64)
    first_flags = ("--transcriber", f"openai:http://127.0.0.1:{silent.getsockname()[1]}/v1")
    with silent, SpeechService() as service, started(tmp_path, "first", *first_flags) as first:
        client = first.client()
        transactions = [upload(client, client.s3(), audio) for _ in range(3)]
        for transaction in transactions:
            assert transaction.commit().status_code == 200
        with started(tmp_path, "second", "--transcriber", service.transcriber("openai")) as second:
            for transaction in transactions:
                # Its own process works on it still.
                assert transaction.poll(waitTime=0).status_code == 202
            assert service.requests == []
            # The first process renews its leases: nobody takes its jobs while it lives.
            time.sleep(2 * LEASE)
            assert service.requests == []
            first.kill()
            other = second.client()
            for transaction in transactions:
                transaction.client = other
                done(transaction)
            asked = collections.Counter(request["audio"] for request in service.requests)
            assert len(asked) == 6 and set(asked.values()) == {1}


def test_two_processes_do_each_job_once_and_deliver_each_event_once_in_order(tmp_path, spoken):
    audio = wave(spoken, tmp_path)
    with SpeechService(delay=0.02) as service, Receiver() as receiver, contextlib.ExitStack() as stack:
        flags = ("--transcriber", service.transcriber("openai"), *FAST)
        servers = [stack.enter_context(started(tmp_path, name, *flags)) for name in ("first", "second")]
        Consultant(servers[0]).register(f"{receiver.url}/good")
        finished, lock = [], threading.Lock()

        def consult(server: Server):
            client = server.client()
            s3 = client.s3()
            for _ in range(8):
                transaction = upload(client, s3, audio)
                assert transaction.commit().status_code == 200
                done(transaction)
                with lock:
                    finished.append(transaction)

        threads = [threading.Thread(target=consult, args=(server,)) for server in servers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(finished) == 16
        asked = collections.Counter(request["audio"] for request in service.requests)
        assert len(asked) == 32 and set(asked.values()) == {1}
        # What one has stored the other answers.
        for transaction in finished:
            own = transaction.poll().json()
            transaction.client = servers[1 if transaction.client.base_url == servers[0].base_url else 0].client()
            assert transaction.poll().json() == own
        settle(servers[0])
        heard = collections.defaultdict(list)
        for session, event in receiver.heard["/good"]:
            heard[session].append(event)
        assert len(heard) == 16 and all(events == WHOLE for events in heard.values()), heard


def test_a_start_deletes_no_file_of_an_upload_to_another_process(tmp_path):
    body = b"RIFF" + bytes(300_000)
    with started(tmp_path, "first") as first:
        client = first.client()
        session = client.session.post(f"{first.base_url}/voice/v1/sessions", json={"upload_type": "chunked"}).json()
        connection = http.client.HTTPConnection("127.0.0.1", first.port)
        connection.putrequest("POST", f"/voice/v1/sessions/{session['session_id']}/audio/1.wav")
        connection.putheader("Authorization", client.session.headers["Authorization"])
        connection.putheader("Content-Type", "audio/wav")
        connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body[:280_000])
        wait_until(lambda: list((tmp_path / "data").glob("states/*/objects/??/*")), "a part of it is stored")
        with started(tmp_path, "second") as second:
            assert second.client().tokens
            connection.send(body[280_000:])
            answer = connection.getresponse()
            assert answer.status in (200, 201), answer.read()
        [stored] = (tmp_path / "data").glob("states/*/objects/??/*")
        assert stored.read_bytes() == body


def test_a_process_that_needs_exclusive_access_does_not_start_while_others_share_the_folder(tmp_path):
    with started(tmp_path, "first"):
        folder = tmp_path / "alone"
        folder.mkdir()
        try:
            Server(folder, "--data-dir", str(tmp_path / "data"))
        except AssertionError as error:
            assert "in use" in str(error) or "uses" in str(error), error
        else:
            raise AssertionError("it started")
