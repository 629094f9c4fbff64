"""Clients of every API, unchanged, through nginx over three servers that share PostgreSQL and S3: `make scale-test`.

The tests are those of one server. Here `server` is nginx, which passes each request to another server.
"""

import collections
import concurrent.futures
import contextlib
import socket
import uuid

import pytest
import requests
import test_ambient_sessions
import test_browser
import test_deepgram_sdk
import test_live_consultations
import test_omi_audio
import test_omi_conversations
import test_omi_pages
import test_omi_segments
import test_python_sdk
import test_s3_multipart
import test_s3_objects
import test_s3_signatures
import test_session_streams
import test_sessions
from ambient_samples import START, later, samples
from balancer import balanced
from chromium import browse
from client import BUCKET
from emulator import PATIENCE, RECOGNISER, TLS, wait_until
from replica_load import Load, done, recorded
from session_client import recording
from suki_client import SukiClient
from webhooks import FAST, WHOLE, Consultant, Receiver, settle
from websocket_driver import open_socket
from websockets.exceptions import ConnectionClosed
from websockets.frames import CloseCode

FLAGS = (
    "--long-poll", "3s", "--object-wait", "1s", "--suki-shortest", "0s", "--conversation-timeout", "2s",
    "--omi-idle", "4s")

#: Tests of the modules below that are not about clients of a balancer.
LEFT_OUT = {
    # They ask the operator API without a token, which it refuses to requests that a proxy forwarded.
    "test_expiry_in_the_middle_of_an_upload",
    "test_the_deepgram_sdk_sends_the_url_of_a_recording_and_a_callback_address",
    "test_a_fault_rule_of_webhooks_applies_to_a_callback",
    "test_a_session_that_failed_is_not_called_skipped_or_completed",
    "test_a_socket_closes_when_its_session_takes_no_more_audio",
    # They read the metrics of one server, or rely on a limit that each server counts alone.
    "test_a_client_that_hangs_up_half_way_leaves_the_old_object", "test_recordings_count_while_they_are_received",
    "test_pages_that_send_no_token_block_no_other_page_and_hold_little_memory",
    # nginx refuses these paths itself.
    "test_hostile_keys_are_refused",
    # They set the flags that `balanced` sets, start an nginx of their own, or need no server.
    "test_links_follow_the_public_url_and_trusted_proxies_only",
    "test_links_uploads_and_sockets_work_behind_nginx_as_the_staging_page_has_it",
    "test_the_compose_file_puts_the_lines_for_nginx_where_its_site_includes_them",
}

MODULES = (
    test_ambient_sessions, test_browser, test_deepgram_sdk, test_live_consultations, test_omi_audio,
    test_omi_conversations, test_omi_pages, test_omi_segments, test_python_sdk, test_s3_multipart, test_s3_objects,
    test_s3_signatures, test_session_streams, test_sessions)

FOUND = [
    (name, body)
    for module in MODULES for name, body in vars(module).items() if name.startswith("test_") and callable(body)]
assert LEFT_OUT <= dict(FOUND).keys() and len(dict(FOUND)) == len(FOUND), "a name is unknown, or there are two of it"
globals().update({name: body for name, body in FOUND if name not in LEFT_OUT})

sdk, recordings = test_python_sdk.sdk, test_python_sdk.recordings
chunks, answers = test_browser.chunks, test_browser.answers
impatient = test_live_consultations.impatient


@pytest.fixture(scope="module")
def server(place, tmp_path_factory):
    with balanced(tmp_path_factory.mktemp("balanced"), place, *FLAGS) as balancer:
        yield balancer


@pytest.fixture(scope="module")
def served(place, tmp_path_factory):
    """Gives a function that returns three servers behind nginx with these flags, once for equal flags."""
    balancers = {}
    with contextlib.ExitStack() as stack:
        def served(*flags: str):
            if flags not in balancers:
                kept = [flag for flag in flags if flag not in TLS]
                balancers[flags] = stack.enter_context(balanced(tmp_path_factory.mktemp("served"), place, *kept))
            return balancers[flags]

        yield served


@pytest.fixture(scope="module", autouse=True)
def more_servers(place):
    """Replaces each server that a test starts itself by three behind nginx."""
    def running(folder, *flags):
        return balanced(folder / "balanced", place, *(flag for flag in flags if flag not in ("--ephemeral", *TLS)))

    with pytest.MonkeyPatch.context() as patch:
        for module in MODULES:
            # Another server in a test of deepgram-sdk uses the balanced ones as its recogniser.
            if hasattr(module, "running") and module is not test_deepgram_sdk:
                patch.setattr(module, "running", running)
        yield


@pytest.fixture(scope="module")
def listening(place, tmp_path_factory):
    flags = (*FLAGS, "--transcriber", RECOGNISER)
    with balanced(tmp_path_factory.mktemp("listening"), place, *flags) as balancer:
        yield balancer


@pytest.fixture(scope="module")
def visit(tmp_path_factory):
    """The shared browser trusts the authority of another server."""
    return lambda url, posted: browse(url, tmp_path_factory.mktemp("browser") / "profile", posted)


@pytest.fixture(scope="module")
def ambient(server):
    return server


@pytest.fixture(scope="module")
def omi(server):
    return server


@pytest.fixture
def client(request, server):
    """The client of the test's own module."""
    if request.function.__module__ != "test_ambient_sessions":
        return server.client()
    return ambient_client(server)


@pytest.fixture
def s3(server):
    return server.client().s3()


def ambient_client(server) -> SukiClient:
    client = SukiClient(server.base_url, subject=f"dr-{uuid.uuid4()}")
    client.initialize()
    return client


def parallel(work, count: int) -> list:
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        return list(pool.map(work, range(count)))


def test_consecutive_requests_reach_every_server(server):
    for _ in range(9):
        assert requests.get(f"{server.base_url}/voice/v1/only-here", timeout=PATIENCE).status_code == 404
    wait_until(lambda: server.answers("/voice/v1/only-here").total() == 9, "nginx has logged the requests")
    assert [server.answers("/voice/v1/only-here")[f"127.0.0.1:{each.port}"] for each in server.servers] == [3, 3, 3]


def test_a_client_cannot_choose_host_and_scheme_of_links(server):
    forged = {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "scribe.example"}
    found = requests.get(f"{server.base_url}/voice/v1/.well-known/medscribealliance", headers=forged, timeout=PATIENCE)
    assert found.json()["endpoints"]["base_url"] == f"{server.base_url}/voice/v1"


def test_an_upload_whose_client_hangs_up_leaves_the_old_object(server, s3):
    where = {"Bucket": BUCKET, "Key": "260510/s3/balanced"}
    s3.put_object(**where, Body=b"whole")
    path = s3.generate_presigned_url("put_object", where).removeprefix(server.base_url)
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as connection:
        connection.sendall(
            f"PUT {path} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nContent-Length: 100000\r\n\r\n".encode())
        connection.sendall(bytes(50_000))
    wait_until(lambda: f"PUT /{BUCKET}/{where['Key']} 400 " in server.answer_log, "nginx has noticed")
    assert [s3.get_object(**where)["Body"].read() for _ in server.servers] == [b"whole"] * 3


@pytest.mark.parametrize("count", range(3))
def test_the_end_of_an_ambient_session_stores_what_was_sent_to_another_server(server, count):
    client, audio = ambient_client(server), samples(30)
    session = client.create_session()
    stream = client.start(session, START)
    stream.audio(audio)
    # The next server answers the end, or the second or third after it.
    for _ in range(count):
        client.status(session)
    client.end(session)
    assert client.wait(session) == "completed"
    assert [client.fetch(each).content[44:] for each in client.recordings(session)] == [audio]
    assert stream.wait_closed(PATIENCE) == 1000


def test_a_new_socket_of_an_ambient_session_closes_the_one_on_another_server(server):
    client = ambient_client(server)
    session = client.create_session()
    old = client.start(session, START)
    old.audio(samples(3))
    with client.start(session, later(15)) as new:
        assert old.wait_closed(PATIENCE) == 1008
        new.audio(samples(4))
        new.finish()
    client.end(session)
    assert client.wait(session) == "completed"
    assert [len(client.fetch(each).content) - 44 for each in client.recordings(session)] == [3 * 32_000, 4 * 32_000]


def test_a_refused_socket_gets_the_reason_while_its_client_still_sends(server):
    """nginx resets the client's connection if a server ends its own before it has read the client's bytes."""
    closings = collections.Counter()
    for _ in range(40):
        address = f"ws://127.0.0.1:{server.port}/v1/listen?encoding=linear16&sample_rate=16000"
        with open_socket(address, subprotocols=["token", "wrong"]) as refused:
            with contextlib.suppress(ConnectionClosed):
                for _ in range(1000):
                    refused.send(bytes(3200))
            closings[refused.protocol.close_code] += 1
    assert closings[CloseCode.ABNORMAL_CLOSURE] == 0, closings


@pytest.fixture
def balancer(place, tmp_path):
    """Servers of which a test kills one."""
    with balanced(tmp_path / "balanced", place, "--long-poll", "60s", *FAST) as balancer:
        yield balancer


def test_webhooks_of_a_session_arrive_once_and_in_order(balancer):
    with Receiver() as receiver:
        Consultant(balancer).register(f"{receiver.url}/good")

        def visits(_) -> list:
            client = balancer.client()
            transactions = [recorded(client, client.s3()) for _ in range(3)]
            for transaction in transactions:
                assert transaction.commit().status_code == 200
                done(transaction)
            return transactions

        finished = {transaction.id for found in parallel(visits, 4) for transaction in found}
        settle(balancer.servers[0])
        heard = collections.defaultdict(list)
        for session, event in receiver.heard["/good"]:
            heard[session].append(event)
        assert heard == {session: WHOLE for session in finished}


def test_polls_that_a_killed_server_held_are_answered_by_another(balancer):
    client = balancer.client()
    transaction = recorded(client, client.s3())
    url = f"{balancer.base_url}/voice/api/v3/status/{transaction.id}"
    with concurrent.futures.ThreadPoolExecutor() as pool:
        held = [
            pool.submit(requests.get, url, headers=client.session.headers, timeout=PATIENCE) for _ in balancer.servers]
        for each in balancer.servers:
            wait_until(lambda: each.metric("scribe_held_polls") == 1, "each server holds a poll")
        balancer.servers[1].kill()
        # Without a repetition by the client: nginx has sent nothing to a server that refuses the connection.
        assert transaction.commit().status_code == 200
        assert [each.result().status_code for each in held] == [200, 200, 200]
    assert [balancer.client().transaction().init().status_code for _ in range(6)] == [201] * 6


def test_a_killed_server_loses_nothing_of_the_visits_that_run_through_the_balancer(balancer):
    load = Load(balancer, recording(3))
    with Receiver() as receiver:
        Consultant(balancer).register(f"{receiver.url}/good")
        with load.running():
            balancer.servers[1].kill()
        load.check()
        settle(balancer.servers[0])
        for number in range(load.count):
            # A message whose answer the killed server did not store is sent again.
            heard = [event for session, event in receiver.heard["/good"] if session == f"i-{number}"]
            assert list(dict.fromkeys(heard)) == WHOLE, heard
