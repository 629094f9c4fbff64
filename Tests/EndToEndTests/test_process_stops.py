"""SIGTERM: one server stops in the midst of all kinds of work, and the next one has all that was acknowledged."""

import contextlib
import pathlib
import re
import socket
import stat
import subprocess
import threading
from types import SimpleNamespace

import boto3
import h2.events
import pytest
import requests
from client import BUCKET, Transaction
from crash_scenarios import Namespaces
from crashes import CrashSite
from emulator import PATIENCE, TLS, Server, running, state_folder, wait_until
from http2_client import Connection
from journal import Events, Wait
from listen_client import Listener, voice
from namespaces import EkaClient, access, created
from session_client import SessionClient, recording
from websockets.sync.client import connect

FOREVER = ("--data-dir", "data", "--long-poll", "1h", "--transcriber", "command:sh -c 'sleep 100000' {file}")
AT_ONCE = (
    "--data-dir", "data", "--durability", "full", "--transcriber", "command:sh -c \"echo I have a fever\" {file}")
#: Namespaces with a held poll each.
OPEN = 5


def upload(transaction: Transaction, s3, name: str):
    s3.put_object(Bucket=BUCKET, Key=f"{transaction.folder}/{name}", Body=recording(1, name))
    transaction.uploaded.append(name)


def begun(server: Server, name: str, commits: bool) -> Transaction:
    """Transaction with an upload, whose transcription never ends."""
    transaction = server.client().transaction(name)
    assert transaction.init().status_code == 201
    upload(transaction, transaction.client.s3(), "1.wav")
    assert not commits or transaction.commit().status_code == 200
    return transaction


def half_an_upload(server: Server, site: CrashSite) -> socket.socket:
    """Connection on which a part of a file has arrived."""
    url = server.client().s3().generate_presigned_url("put_object", {"Bucket": "b", "Key": "k"})
    connection = socket.create_connection(("127.0.0.1", server.port))
    mark = b"half of it"
    connection.sendall(
        f"PUT {url.removeprefix(server.base_url)} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
        "Content-Length: 1000000\r\n\r\n".encode() + mark + bytes(600_000))
    wait_until(lambda: site.holding(mark), "the upload has begun")
    return connection


def children(server: Server) -> list[str]:
    return subprocess.run(["pgrep", "-P", str(server.process.pid)], capture_output=True, text=True).stdout.split()


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    """All kinds of work, begun before one SIGTERM. Afterwards a traced server runs on the same data."""
    site = CrashSite(tmp_path_factory.mktemp("stops"), *FOREVER)
    server, work = site.server, SimpleNamespace(site=site, answers=[], trace=site.folder / "trace")
    try:
        work.kept, work.parked = begun(server, "kept", commits=False), begun(server, "parked", commits=True)
        work.keys = work.kept.client.session.get(f"{server.base_url}/credentials").json()["credentials"]
        work.sessions = SessionClient(server.base_url)
        work.streamed = work.sessions.create(upload_type="stream")
        stream = connect(work.streamed["upload_url"], max_size=None, legacy=True)
        stream.send(recording(8)[44:])
        stream.ping().wait(PATIENCE)
        work.namespaces = Namespaces(site)
        work.namespaces.begin(server)
        polls = [work.parked.poll]
        for number in range(OPEN):
            client = EkaClient(access(server, created(server, f"open-{number}"), "prefix"))
            polls.append(client.transaction("visit").poll)
            assert client.transaction("visit").init().status_code == 201
        threads = [threading.Thread(target=lambda poll=poll: work.answers.append(poll().status_code)) for poll in polls]
        # The open stream waits for the end of its session, and counts as well.
        others = server.metric("scribe_held_polls")
        for thread in threads:
            thread.start()
        wait_until(lambda: server.metric("scribe_held_polls") == others + len(polls), "the polls are held")
        work.programs = wait_until(lambda: children(server), "the programs run")
        with half_an_upload(server, site), Listener(server) as work.listener:
            work.listener.send(voice(1.0))
            server.stop()
            work.listener.end()
        for thread in threads:
            thread.join(PATIENCE)
        work.address, work.left = server.base_url, site.holding(Namespaces.AUDIO)
        work.temporary = list(site.temporary.iterdir())
        site.flags = AT_ONCE
        site.start(prefix=[
            "strace", "-D", "-f", "-y", "-qq", "-e", "trace=fsync,fdatasync", "-o", str(work.trace)])
        yield work
    finally:
        site.close()


def test_sigterm_in_the_midst_of_an_upload_answers_held_polls_also_of_namespaces_and_exits(stopped):
    assert stopped.answers == [202] * (1 + OPEN)
    with contextlib.suppress(requests.ConnectionError):
        pytest.fail(f"it still answers: {requests.get(stopped.address).status_code}")


def test_a_stop_sends_goaway_answers_open_requests_and_ends_streams_of_the_journal_and_waits(tmp_path):
    with running(tmp_path, "--ephemeral", *TLS) as server, Connection(server) as connection:
        events, waiting = Events(server, "default"), Wait(server, "default")
        assert connection.answer(connection.open())[0] == 200
        server.stop()
        assert events.ended.wait(PATIENCE) and server.process.returncode == 0
        waiting.join(PATIENCE)
        assert waiting.status == 422
        connection.end()
        assert any(isinstance(event, h2.events.ConnectionTerminated) for event in connection.events)


def test_sigterm_closes_sockets_with_1001(stopped):
    assert stopped.listener.close_frame[0] == 1001


def test_sigterm_ends_programs_of_the_server_and_the_next_start_does_their_work(stopped):
    assert [each for each in stopped.programs if pathlib.Path(f"/proc/{each}").exists()] == []
    stopped.parked.client.base_url = stopped.site.server.base_url
    assert stopped.parked.poll().status_code == 200


def test_data_tokens_and_credentials_survive_a_restart(stopped):
    transaction = stopped.kept
    # With the token and the credentials of the first server.
    transaction.client.base_url = stopped.site.server.base_url
    keys = stopped.keys
    s3 = boto3.client(
        "s3", endpoint_url=stopped.site.server.base_url, region_name="ap-south-1",
        aws_access_key_id=keys["AccessKeyId"], aws_secret_access_key=keys["SecretKey"],
        aws_session_token=keys["SessionToken"])
    upload(transaction, s3, "2.wav")
    assert transaction.commit().status_code == 200
    assert transaction.poll().status_code == 200


def test_only_the_owner_can_read_data_folders(stopped):
    data = stopped.site.data
    state = state_folder(data)
    for path, mode in [(data, 0o700), (data / "signing-key", 0o600), (state, 0o700), (state / "scribe.sqlite", 0o600)]:
        assert stat.S_IMODE(path.stat().st_mode) == mode, path


def test_streamed_audio_of_an_open_socket_survives_a_stop(stopped):
    client = stopped.sessions
    client.base = client.base.replace(client.root, stopped.site.server.base_url)
    read = client.call("GET", f"/sessions/{stopped.streamed['session_id']}", (202,)).json()
    assert read["audio_files"] == ["1.wav"]


def test_a_stop_deletes_namespaces_with_their_audio_and_the_main_state_stays(stopped):
    assert (stopped.left, stopped.temporary) == (0, [])
    stopped.namespaces.check(stopped.site.server)


def test_a_power_cut_finds_everything_synced_under_full_durability(stopped):
    """Traced: before the answer to an upload its file, its folder and the database's log are synced."""
    transaction = stopped.site.server.client().transaction()
    transaction.init()
    s3 = transaction.client.s3()
    before = len(stopped.trace.read_text().splitlines())
    upload(transaction, s3, "1.wav")
    synced = "\n".join(stopped.trace.read_text().splitlines()[before:])
    assert re.search(r"/objects/[0-9a-f]{2}/[0-9a-f-]{17}\.[0-9a-f]{8}>", synced)
    assert re.search(r"/objects/[0-9a-f]{2}>", synced)
    assert re.search(r"scribe\.sqlite-wal>", synced)
