"""Faults of connections and sockets as clients see them, each family's own error,
and what a request asks for itself."""

import contextlib
import json

import faults
import h2.events
import pytest
import requests
import tls
from ambient_samples import START, samples
from chromium import serving
from deepgram.core.api_error import ApiError
from emulator import PATIENCE, PLAIN, STRICT, run, wait_until
from faults import CONFIG, PAGE, answers_of, aside, read_raw, sdk_heard
from http2_client import Connection
from journal import Journal
from listen_client import SPEECH, results, voice
from namespaces import AllianceClient, OmiDevice, access, ambient_client, listener
from websocket_driver import open_socket
from websockets.exceptions import ConnectionClosed, InvalidStatus

server, place = faults.server, faults.place
PING, DISCOVERY = "/voice/ping", "/voice/v1/.well-known/medscribealliance"


# Broken connections.

@pytest.mark.parametrize("door", ["plain", "tls"])
def test_a_reset_connection_ends_without_a_byte(server, place, door):
    place.faults.add(operation="ping", connection="reset")
    with tls.DOORS[door](server, PATIENCE) as connection:
        connection.sendall(f"GET /ns/{place.inside.name}{PING} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        with contextlib.suppress(ConnectionResetError):
            assert connection.recv(1000) == b"" and door == "tls", (
                "something was answered, or it was closed and not reset")
    pytest.raises(requests.exceptions.ConnectionError, place.eka("prefix").get, PING)
    assert place.faults.applied == [2]


@pytest.mark.parametrize("encrypted", [False, True], ids=["plain", "tls"])
def test_a_half_answer_is_cut_and_a_dribbling_answer_arrives_whole(server, place, encrypted):
    context = tls.trusting(server) if encrypted else None
    path = f"/ns/{place.inside.name}{DISCOVERY}"
    whole = read_raw(server, path, context)[2]
    place.faults.next(operation="readDiscovery", connection="half")
    status, headers, half, missing = read_raw(server, path, context)
    assert status == 200 and int(headers["Content-Length"]) == len(whole) == len(half) + missing
    assert half == whole[:len(whole) // 2]
    place.faults.next(operation="readDiscovery", connection="dribble", rate=8000)
    assert read_raw(server, path, context)[2:] == (whole, 0)
    place.faults.next(operation="readDiscovery", connection="half")
    with pytest.raises((requests.exceptions.ConnectionError, requests.exceptions.ChunkedEncodingError)):
        requests.get(
            f"{'https://localhost:%d' % server.tls_port if encrypted else server.base_url}{path}",
            verify=server.authority)


def test_a_dribbling_answer_comes_in_pieces(server, place):
    place.faults.add(operation="readDiscovery", connection="dribble", rate=5000)
    with tls.plain(server, PATIENCE) as connection:
        connection.sendall(
            f"GET /ns/{place.inside.name}{DISCOVERY} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        pieces = list(iter(lambda: connection.recv(65_536), b""))
    assert len(pieces) > 2 and json.loads(b"".join(pieces).split(b"\r\n\r\n", 1)[1])["endpoints"]


def test_a_request_that_hangs_ends_with_its_client_or_its_namespace(server, place):
    place.faults.add(operation="ping", connection="hang")
    client = place.eka("prefix")
    pytest.raises(requests.exceptions.ReadTimeout, client.session.get, client.base_url + PING, timeout=0.2)
    with aside(lambda: client.get(PING)) as results:
        wait_until(lambda: place.faults.applied == [2], "the request hangs")
        assert (
            not results
            and client.session.delete(f"{server.base_url}/__admin/namespaces/{place.inside.name}").status_code == 204)
    assert isinstance(results[0], requests.exceptions.ConnectionError)


def test_over_http_2_only_the_requests_stream_breaks(server, place):
    prefix = f"/ns/{place.inside.name}"
    with Connection(server) as connection:
        whole = connection.answer(connection.open(path=prefix + DISCOVERY))[2]
        for fault in ("reset", "half"):
            place.faults.next(operation="readDiscovery", connection=fault)
            stream = connection.open(path=prefix + DISCOVERY)
            connection.until(h2.events.StreamReset, stream)
            mine = [event for event in connection.events if getattr(event, "stream_id", None) == stream]
            body = b"".join(event.data for event in mine if isinstance(event, h2.events.DataReceived))
            assert (
                body == (whole[:len(whole) // 2] if fault == "half" else b"")
                and (len(mine) > 1) == (fault == "half"))
        place.faults.next(operation="ping", connection="hang")
        hanging = connection.open(path=prefix + PING)
        place.faults.next(operation="readDiscovery", connection="dribble", rate=8000)
        assert connection.answer(connection.open(path=prefix + DISCOVERY))[2] == whole
        assert not any(getattr(event, "stream_id", None) == hanging for event in connection.events)
        assert connection.answer(connection.open(path=prefix + PING))[0] == 200


# Sockets.

def test_the_deepgram_sdk_loses_doubles_and_waits_for_results(server, place):
    whole, errors = sdk_heard(server, place)
    assert whole[-1] == "Metadata" and "Results" in whole and not errors
    where = {"operation": "openListenSocket"}
    place.faults.next(**where, results="missing", messages='*"type":"Results"*')
    assert sdk_heard(server, place) == ([kind for kind in whole if kind != "Results"], [])
    place.faults.next(**where, results="doubled", messages='*"type":"Results"*')
    assert sdk_heard(server, place)[0].count("Results") == 2 * whole.count("Results")
    place.faults.next(**where, results="doubled")
    assert sdk_heard(server, place)[0] == [kind for kind in whole for _ in range(2)]
    place.faults.next(**where, results="missing")
    assert sdk_heard(server, place) == ([], [])
    for late in (
        {"delay": "20ms"}, {"delay": "10ms..30ms", "after_sent": 1000}, {"delay": "10ms~40ms", "after_received": 1000}
    ):
        place.faults.next(**where, **late)
        assert sdk_heard(server, place) == (whole, []), late
    assert set(place.faults.applied) == {1}


def test_the_deepgram_sdk_loses_its_socket_and_its_upgrade(server, place):
    place.faults.next(operation="openListenSocket", after_received=1)
    messages, errors = sdk_heard(server, place)
    assert "Metadata" not in messages and errors
    place.faults.next(operation="openListenSocket", status=503)
    with pytest.raises((ApiError, InvalidStatus), match="503"):
        sdk_heard(server, place)
    assert sdk_heard(server, place)[0][-1] == "Metadata"


@pytest.mark.parametrize("rule, count, closed", [
    ({"after_sent": 0}, 0, None), ({"after_received": 0, "close": 1013}, 0, (1013, "")),
    ({"after_sent": 2}, 2, None), ({"after_sent": 2, "close": 1011, "reason": "NET-0000 é"}, 2, (1011, "NET-0000 é")),
    ({"after_sent": 1, "close": 4999, "results": "doubled"}, 1, (4999, "")), ({"after_received": 1}, None, None),
    ({"after_received": 2, "close": 3000}, None, (3000, ""))], ids=str)
def test_a_live_socket_ends_after_the_number_of_messages_in_the_rule(place, rule, count, closed):
    place.faults.next(operation="openListenSocket", **rule)
    with listener(place.inside, "interim_results=true&endpointing=300") as socket:
        with contextlib.suppress(ConnectionClosed):
            socket.send(voice(1), voice(1), "KeepAlive")
        socket.end()
        assert count in (None, len(socket.messages)), socket.messages
        received = socket.socket.protocol.close_rcvd
        assert (received and (received.code, received.reason)) == closed
        assert socket.socket.protocol.close_code == (closed[0] if closed else 1006)
    with listener(place.inside, "endpointing=300") as socket:
        socket.send(SPEECH, "CloseStream")
        assert socket.end()[-1]["type"] == "Metadata", "the next socket is whole"


@pytest.mark.parametrize("rule", [{"results": "late"}, {"after_sent": 1000}], ids=str)
def test_one_advance_of_the_namespaces_clock_sends_all_late_messages(server, place, rule):
    place.faults.freeze()
    place.faults.next(operation="openListenSocket", delay="1h", clock="world", **rule)
    with listener(place.inside, "endpointing=300") as socket:
        socket.send(SPEECH, "CloseStream")
        wait_until(lambda: "fault" in place.faults.waiting(), "the first message is held")
        journal = Journal(server, place.inside.name)
        number = journal.all(kind="socket")[-1]["id"]
        wait_until(lambda: "Metadata" in journal.call("GET", f"/{number}").text, "all messages are made")
        with pytest.raises(TimeoutError):
            socket.socket.recv(timeout=0)
        place.faults.advance("1h")
        socket.end()
        assert results(socket.messages, final=True) and socket.messages[-1]["type"] == "Metadata"


def test_sockets_of_devices_and_pages_close_with_a_code_and_a_reason(server, place):
    place.faults.add(operation="openDeviceSocket", after_received=2, close=4001, reason="sign in again", times=1)
    place.faults.add(operation="openPageSocket", after_sent=1, close=4003, times=1)
    with OmiDevice(place.inside) as device:
        device.say("I have had a cough.", "I have a fever.")
        assert device.end() == (4001, "sign in again")
    with OmiDevice(access(server, place.made, "prefix"), path="/v4/web/listen") as page:
        assert page.end() == (4003, "")
    # Who the client is, only the first message tells.
    place.faults.next(operation="openPageSocket", client="dev-client", after_sent=1, close=4005)
    with OmiDevice(access(server, place.made, "prefix"), path="/v4/web/listen") as page:
        assert page.end() == (4005, "")
    # Only the token, which comes after the upgrade, names the namespace.
    place.faults.next(operation="openPageSocket", after_sent=2, close=4004)
    with OmiDevice(place.inside, path="/v4/web/listen") as page:
        assert page.end() == (4004, "")
    with OmiDevice(place.inside) as device:
        device.say("I am well.")
        assert device.until(1) == ["I am well."]
    place.faults.next(operation="openDeviceSocket", status=403)
    with pytest.raises(InvalidStatus) as refusal:
        OmiDevice(place.inside)
    assert refusal.value.response.status_code == 403


def test_a_refused_upgrade_applies_no_rule_of_sockets(place):
    place.faults.add(id="socket", operation="openListenSocket", after_sent=0, close=4001, times=1)
    place.faults.add(id="upgrade", operation="openListenSocket", status=503, times=1)
    with pytest.raises(InvalidStatus) as refusal:
        listener(place.inside)
    assert refusal.value.response.headers["X-Scribe-Fault-Applied"] == "upgrade" and place.faults.applied == [0, 1]
    with listener(place.inside) as socket:
        assert socket.end() == [] and socket.close_frame == (4001, "")


def test_an_ambient_stream_breaks_and_a_second_one_ends_the_session(place):
    client = ambient_client(place.inside)
    client.initialize()
    session = client.create_session()
    place.faults.next(operation="openAmbientSocket", after_received=2)
    with client.start(session, START) as stream, pytest.raises(ConnectionClosed) as broken:
        while True:
            stream.audio(samples(0.5))
    assert broken.value.rcvd is None
    with client.start(session, START) as stream:
        stream.audio(samples(3))
        stream.finish()
    client.end(session)
    assert client.wait(session) == "completed"


def test_the_stream_of_a_session_breaks_and_can_be_opened_again(place):
    client = AllianceClient(place.inside)
    made = client.create(upload_type="stream", templates=["soap"])
    place.faults.next(operation="openSessionSocket", after_received=1, close=1011)
    with open_socket(made["upload_url"]) as socket, pytest.raises(ConnectionClosed) as broken:
        socket.send(samples(1))
        socket.recv(timeout=PATIENCE)
    assert broken.value.rcvd.code == 1011
    client.send(made["upload_url"], samples(3))
    client.end(made["session_id"], 0)
    assert client.results(made["session_id"])["status"] == "completed"


def test_a_page_sees_codes_of_sockets_and_broken_answers(server, place, visit):
    root, rules, mode = f"{server.base_url}/ns/{place.inside.name}", place.faults, "/connect-auth/v1/auth-mode"
    rules.add(operation="ping", status=503, code="busy", message="On purpose", times=1)
    rules.add(operation="readDiscovery", connection="reset")
    rules.add(operation="readAuthMode", connection="half")
    rules.add(operation="openListenSocket", after_sent=0, close=4001, reason="bye", times=1)
    rules.add(operation="openListenSocket", after_received=1, times=1)
    rules.add(operation="openListenSocket", status=503, nth=3)
    page, paths = PAGE, json.dumps([PING, DISCOVERY, mode, PING])
    for name, value in {"ROOT": root, "ADDRESS": f"ws{root[4:]}", "PATHS": paths, "KEY": place.inside.key}.items():
        page = page.replace(name, value)
    with serving({"/": page.encode()}) as (port, posted):
        seen = visit(f"http://localhost:{port}/", posted)
    assert seen[:4] == [[503, True], [0, "TypeError"], [0, "TypeError"], [200, False]]
    assert seen[4:] == [[4001, "bye"], [1006, ""], [1006, ""], [1000, ""]]


# The fault that a request asks for itself.

def test_a_request_asks_for_a_fault_of_its_own(place):
    client = place.eka()
    place.faults.add(operation="readConfig", every=2, status=500)

    def asked(text: str) -> requests.Response:
        return client.get(CONFIG, headers={"X-Scribe-Fault": text})

    answer = asked("status=503; delay=20ms; code=made_up; retry-after=9")
    assert (answer.status_code, answer.headers["X-Scribe-Fault-Applied"], answer.headers["Retry-After"]) == (
        503, "header", "9")
    assert answer.json()["error"]["code"] == "made_up"
    assert asked("delay=10ms..20ms").status_code == 200 and asked("when=after;status=502").status_code == 502
    for broken in ("connection=reset", "connection=half", "connection=reset; when=after"):
        with pytest.raises((requests.exceptions.ConnectionError, requests.exceptions.ChunkedEncodingError)):
            asked(broken)
    assert asked("connection=dribble; rate=100000").json()["data"]
    assert client.get(CONFIG).status_code == 200 and client.get(CONFIG).status_code == 500
    headers = {
        "Authorization": f"Token {place.inside.key}", "X-Scribe-Fault": "after_sent=0; close=4002; reason=asked for"}
    address = f"{place.inside.socket_url}/v1/listen?encoding=linear16&sample_rate=16000"
    with open_socket(address, additional_headers=headers) as socket, pytest.raises(ConnectionClosed) as closed:
        socket.recv(timeout=PATIENCE)
    assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (4002, "asked for")


@pytest.mark.parametrize("flags", [PLAIN, STRICT], ids=["off", "strict"])
def test_the_server_ignores_the_fault_header_unless_the_setting_allows_it(served, flags):
    server = served(*flags)
    for text in ("status=503", "nonsense"):
        answer = requests.get(server.base_url + PING, headers={"X-Scribe-Fault": text}, timeout=PATIENCE)
        assert answer.status_code == 200 and "X-Scribe-Fault-Applied" not in answer.headers


def test_no_value_of_the_fault_header_ends_the_server(server):
    for text in ("=", "status=503;=", "==;status=503", "\u00e9", "status=" + "5" * 4000, ";" * 1000):
        headers = {"X-Scribe-Fault": text.encode()}
        assert requests.get(server.base_url + PING, headers=headers, timeout=PATIENCE).status_code == 400, text


# Each family's own error.

@pytest.mark.parametrize("status", [400, 429, 503])
def test_a_fault_has_the_error_format_of_each_family(place, status):
    answers = answers_of(place)
    place.faults.add(path="*", status=status, retry_after=7, message="On purpose", code="MadeUp")
    for family, (answer, check) in answers().items():
        assert (answer.status_code, answer.headers["Retry-After"]) == (status, "7"), (family, answer.text)
        assert (
            answer.headers["X-Scribe-Fault-Applied"] == "fault-1"
            and "On purpose" in answer.text), (family, answer.text)
        check(answer)
        # Errors of devices have no code.
        assert ("MadeUp" in answer.text) == (family != "omi"), (family, answer.text)


def test_the_body_of_a_rule_replaces_the_error_of_the_family(place):
    client = place.eka()
    place.faults.next(operation="readConfig", body={"a": [1, None]})
    assert (answer := client.get(CONFIG)).status_code == 200 and answer.json() == {"a": [1, None]}
    place.faults.next(operation="readConfig", status=502, body="<h1>é</h1>", content_type="text/html; charset=utf-8")
    answer = client.get(CONFIG)
    assert (answer.status_code, answer.text, answer.headers["Content-Type"]) == (
        502, "<h1>é</h1>", "text/html; charset=utf-8")


@pytest.mark.parametrize("text", [
    "status", "status=99", "status=503; status=500", "nth=1; status=500", "limit=1/1s", "operation=ping; status=500",
    ";", "status=503; connection=reset", "delay=-1s", "status=503; twice=true"])
def test_an_invalid_fault_header_gets_400_in_each_familys_format(place, text):
    # Some families have a status of their own for what a client says wrongly.
    # The same for all families: no SDK sends such a header.
    statuses = {}
    for family, (answer, check) in answers_of(place, **{"X-Scribe-Fault": text})().items():
        assert answer.status_code == statuses.get(family, 400), (family, answer.text)
        check(answer)


# Sockets that an operator sees and ends.

def sockets(place) -> list[dict]:
    return place.faults.call("GET", "sockets").json()["sockets"]


@pytest.mark.parametrize("flags, code, reason", [
    (("--code", "4321", "--reason", "come back"), 4321, "come back"), ((), 1001, ""), (("--reset",), None, ""),
], ids=["code", "usual", "reset"])
def test_the_sockets_verbs_list_and_end_an_open_socket(server, place, flags, code, reason):
    where = ("--url", server.base_url, "--namespace", place.inside.name)
    assert run("sockets", "list", *where).stdout == "no open sockets\n"
    with listener(place.inside) as visit:
        visit.send(voice(1.0))
        [found] = wait_until(
            lambda: [one for one in sockets(place) if one["received"] == 1], "the message was counted")
        number = str(found["id"])
        if flags == ():
            listed = run("sockets", "list", *where).stdout
            assert listed.startswith(f"{number}  /v1/listen  client ") and "received 1" in listed, listed
        ended = run("sockets", "close", number, *flags, *where)
        assert ended.returncode == 0 and ended.stdout.startswith(f"closed: {number}  /v1/listen"), ended
        with pytest.raises((ConnectionClosed, ConnectionResetError)) as caught:
            while True:
                visit.socket.recv(timeout=PATIENCE)
        received = getattr(caught.value, "rcvd", None)
        assert (received and (received.code, received.reason)) == (code and (code, reason))
    wait_until(lambda: not sockets(place), "nothing is open")


def test_a_rule_that_is_added_while_a_socket_is_open_applies_to_its_further_messages(place):
    with listener(place.inside) as visit:
        visit.send(voice(1.0))
        wait_until(lambda: [one for one in sockets(place) if one["received"] == 1], "the message was counted")
        rule = place.faults.add(operation="openListenSocket", after_received=2, close=4009, times=1)
        visit.send("KeepAlive")
        wait_until(lambda: sockets(place)[0].get("fault") == rule["id"], "the rule applies")
        visit.send("KeepAlive")
        with pytest.raises(ConnectionClosed) as closed:
            while True:
                visit.socket.recv(timeout=PATIENCE)
        assert closed.value.rcvd.code == 4009
    assert place.faults.applied == [1]

