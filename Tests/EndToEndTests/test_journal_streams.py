"""Sockets of the journal, recorded and played back, and the journal's event streams and limits."""

import contextlib
import json
import struct
import threading
from socket import SHUT_RDWR, SO_LINGER, SOL_SOCKET

import pytest
import requests
from emulator import LIMITED, NAMED, PATIENCE, SCARCE, wait_until
from faults import FLAGS, Place, sdk_heard
from journal import Events, Journal, Wait
from listen_client import KEY, SPEECH
from namespaces import EkaClient, OmiDevice, access, control, created, listener
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect


@pytest.fixture(scope="module")
def server(served):
    return served(*FLAGS)


@pytest.fixture
def place(server):
    return Place(server)


def ended_socket(server, name: str) -> dict:
    """The last socket of a namespace, once it has ended."""
    def ended():
        found = Journal(server, name).all(kind="socket")
        return found and found[-1]["end"] != "open" and found[-1]

    return wait_until(ended, "the socket has ended")


def recorded(server, inside) -> str:
    """The recording of the last socket."""
    number = ended_socket(server, inside.name)["id"]
    answer = Journal(server, inside.name).call("GET", f"/{number}/recording")
    assert answer.status_code == 200, answer.text
    return answer.text


def play(server, inside, text: str, **query):
    answer = control(
        server, "POST", "playbacks", params={"namespace": inside.name, **query}, data=text.encode(),
        headers={"Content-Type": "application/x-ndjson"})
    assert answer.status_code == 201, answer.text
    return answer.json()


def test_the_deepgram_sdk_gets_the_same_results_from_a_recording_as_from_the_server(server, place):
    heard = sdk_heard(server, place)
    text = recorded(server, place.inside)
    assert place.inside.key not in text and "words and names" in text.splitlines()[0]
    for query in ({"fast": "true"}, {}, {"fast": "true", "match": "true"}):
        play(server, place.inside, text, **query)
        # Without pauses the end may come before the client has sent its own.
        assert sdk_heard(server, place)[0] == heard[0], query
    found = Journal(server, place.inside.name).all(kind="socket")
    assert [each.get("playback") for each in found] == [None, "playback-1", "playback-2", "playback-3"]
    # It was played as often as it should be: this is the server's own again.
    assert sdk_heard(server, place) == heard
    assert "playback" not in Journal(server, place.inside.name).all(kind="socket")[-1]


def test_a_client_that_differs_is_closed_and_the_journal_says_why(server, place):
    with listener(place.inside) as socket:
        socket.send(SPEECH, "CloseStream")
        socket.end()
    text = recorded(server, place.inside)
    play(server, place.inside, text, match="true", fast="true")
    with listener(place.inside) as socket, pytest.raises(ConnectionClosed) as closed:
        socket.send(SPEECH[:-3200], "Finalize")
        while True:
            socket.socket.recv(timeout=PATIENCE)
    assert closed.value.rcvd.code == 1008 and "differs from the recording" in closed.value.rcvd.reason
    assert "differs from the recording" in ended_socket(server, place.inside.name)["reason"]


def test_a_client_with_a_wrong_key_gets_no_recording(server, place):
    play(
        server, place.inside,
        '{"scribe_recording":1,"operation":"openListenSocket","path":"/v1/listen"}\n'
        '{"ms":0,"from":"server","text":"secret"}')
    url = f"{place.inside.socket_url}/v1/listen?encoding=linear16&sample_rate=16000"
    with connect(url, subprotocols=["token", "wrong"]) as socket:
        with pytest.raises(ConnectionClosed) as closed:
            socket.recv(timeout=PATIENCE)
    assert closed.value.rcvd.code == 1008 and "INVALID_AUTH" in closed.value.rcvd.reason
    with listener(place.inside) as socket:
        assert socket.socket.recv(timeout=PATIENCE) == "secret"


def test_a_device_gets_the_frames_of_a_recording(server, place):
    with OmiDevice(place.inside) as device:
        device.ready()
        device.say("I have had a fever for three days", start=0, end=2)
        first = device.until(1)
    text = recorded(server, place.inside)
    assert "fever" in text
    play(server, place.inside, text, fast="true")
    with OmiDevice(place.inside) as device:
        assert device.until(1) == first


def test_clients_that_leave_or_stay_silent_hold_no_playback(server, place):
    head = '{"scribe_recording":1,"operation":"openListenSocket","path":"/v1/listen"}\n'
    lines = [{"ms": number * 20, "from": "server", "text": str(number)} for number in range(200)]
    play(server, place.inside, head + "\n".join(map(json.dumps, lines)), times=12)

    def leave():
        with listener(place.inside) as socket:
            assert socket.socket.recv(timeout=PATIENCE) == "0"

    leaving = [threading.Thread(target=leave) for _ in range(10)]
    [each.start() for each in leaving]
    [each.join(PATIENCE) for each in leaving]
    journal = Journal(server, place.inside.name)
    wait_until(lambda: all(each["end"] != "open" for each in journal.all(kind="socket")), "all sockets have ended")
    # A namespace that ends closes a socket that is played to.
    with listener(place.inside) as socket:
        assert socket.socket.recv(timeout=PATIENCE) == "0"
        control(server, "DELETE", f"namespaces/{place.inside.name}").raise_for_status()
        with pytest.raises(ConnectionClosed) as closed:
            while True:
                socket.socket.recv(timeout=PATIENCE)
        assert closed.value.rcvd.code == 1012


def test_a_page_that_names_its_namespace_in_its_first_message_is_in_no_other_journal(server):
    """Not even for a moment: it would be counted, told to others, and push out what is there."""
    Journal(server).call("DELETE").raise_for_status()
    made = created(server)
    token = EkaClient(access(server, made, "credentials")).tokens["access_token"]
    events = Events(server, "default")
    with connect(f"ws://127.0.0.1:{server.port}/v4/web/listen", open_timeout=PATIENCE) as socket:
        socket.send(json.dumps({"type": "auth", "token": token}))
        assert json.loads(socket.recv(timeout=PATIENCE))["success"]
        assert Journal(server, made["name"]).all(kind="socket")[0]["end"] == "open"
    assert ended_socket(server, made["name"])["client"] == made["client_id"]
    counts = Journal(server).call("GET").json()
    assert (counts["entries"], counts["bytes"], counts["dropped"]) == (0, 0, 0)
    # The default namespace has a socket that names none.
    with connect(f"ws://127.0.0.1:{server.port}/v4/web/listen", open_timeout=PATIENCE) as socket:
        socket.send("{}")
        with pytest.raises(ConnectionClosed):
            while True:
                socket.recv(timeout=PATIENCE)
    own = ended_socket(server, "default")["id"]
    # Events are in order, so one of the first socket would have come before.
    wait_until(lambda: any(each.get("end", "open") != "open" for _, each in events.events), "its end is told")
    assert {each["id"] for _, each in events.events} == {own}


def reset(socket):
    socket.socket.setsockopt(SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0))
    socket.socket.close()


@pytest.mark.parametrize("leave, end", [
    (reset, "cut"), (lambda socket: socket.socket.shutdown(SHUT_RDWR), "cut"),
    # A frame with a reserved code, and one without a mask.
    (lambda socket: socket.socket.sendall(b"\x83\x80abcd"), "cut"),
    (lambda socket: socket.socket.sendall(b"\x81\x01a"), "cut"),
    (lambda socket: socket.close(), "whole"), (lambda socket: socket.close(1001), "whole"),
    (lambda socket: socket.send('{"type":"CloseStream"}'), "whole"),
], ids=["reset", "vanished", "reserved code", "unmasked", "closed", "going away", "ended by the server"])
def test_a_socket_is_whole_in_the_journal_only_if_it_was_closed(server, place, leave, end):
    with contextlib.suppress(OSError, ConnectionClosed), listener(place.inside) as socket:
        socket.send(SPEECH)
        leave(socket.socket)
        assert ended_socket(server, place.inside.name)["end"] == end


def test_a_socket_that_a_rule_ends_without_a_close_frame_is_cut_in_the_journal(server, place):
    rules = [({"after_sent": 0}, "cut"), ({"after_received": 1}, "cut"), ({"after_sent": 0, "close": 4000}, "whole")]
    for rule, end in rules:
        place.faults.next(operation="openListenSocket", **rule)
        with listener(place.inside) as socket:
            with contextlib.suppress(ConnectionClosed):
                socket.send(SPEECH)
            socket.end()
        assert ended_socket(server, place.inside.name)["end"] == end, rule


def test_a_key_in_a_field_of_its_own_is_masked(server):
    journal = Journal(server)
    assert journal.call("DELETE").status_code == 204
    with connect(f"ws://127.0.0.1:{server.port}/v1/listen?encoding=linear16", open_timeout=PATIENCE,
                 subprotocols=["token"], additional_headers=[("Sec-WebSocket-Protocol", KEY)]) as socket:
        socket.send(json.dumps({"type": "CloseStream"}))
    assert ended_socket(server, "default")["operation"] == "openListenSocket"
    assert KEY not in json.dumps(journal.details(operation="openListenSocket"))


def test_the_metadata_journal_stores_no_text_of_a_client_that_differs(served):
    server = served(*NAMED)
    place = Place(server)
    head = '{"scribe_recording":1,"operation":"openListenSocket","path":"/v1/listen"}\n'
    play(server, place.inside, head + '{"ms":0,"from":"client","text":"word of one"}', match="true")
    with listener(place.inside) as socket, pytest.raises(ConnectionClosed) as closed:
        socket.socket.send("word of another")
        socket.socket.recv(timeout=PATIENCE)
    assert "word of another" in closed.value.rcvd.reason
    journal = Journal(server, place.inside.name)
    wait_until(lambda: journal.all(kind="socket")[-1]["end"] != "open", "the socket has ended")
    assert "word of" not in json.dumps(journal.details()) + journal.call("GET", "/export").text


def test_the_journal_is_followed_live(server, place):
    events = Events(server, place.inside.name, operation="readTransaction")
    everything = Events(server, place.inside.name)
    client = EkaClient(place.inside)
    client.get("/voice/api/v2/transaction/nobody")
    wait_until(lambda: events.events and events.events[-1][1].get("status"), "the request is told")
    assert [each["operation"] for _, each in events.events] == ["readTransaction"] * len(events.events)
    with listener(place.inside) as socket:
        wait_until(lambda: any(each.get("kind") == "socket" for _, each in everything.events), "the socket is told")
        socket.send(SPEECH, "CloseStream")
        socket.end()
    wait_until(lambda: any(name == "exchange" and each["kind"] == "socket" and each["end"] == "whole"
                           for name, each in everything.events), "the end of the socket is told")
    frames = [each for name, each in everything.events if name == "frame"]
    recording = [json.loads(line) for line in recorded(server, place.inside).splitlines()[1:]]
    assert [
        {key: value for key, value in each.items() if key != "id"}
        for each in frames if "pong" not in each] == recording


def test_streams_and_waits_end_with_their_namespace(server):
    """test_process_stops.py has those that end with the server."""
    made = created(server)["name"]
    events, waiting = Events(server, made), Wait(server, made)
    control(server, "DELETE", f"namespaces/{made}").raise_for_status()
    assert events.ended.wait(PATIENCE)
    waiting.join(PATIENCE)
    assert waiting.status == 422


def test_thirty_two_streams_are_open_at_a_time(served):
    # Tests before left streams of the other server open.
    server = served(*LIMITED)
    streams = [Events(server, "default") for _ in range(32)]
    answer = Journal(server).call("GET", "/stream")
    assert answer.status_code == 503 and answer.json()["code"] == "busy"
    for each in streams:
        each.answer.raw._fp.fp.raw._sock.shutdown(2)

    def is_open_again():
        with Journal(server).call("GET", "/stream", stream=True) as answer:
            return answer.status_code == 200

    wait_until(is_open_again, "a place is free")


def test_the_journal_stores_a_limited_number_of_exchanges_and_counts_the_dropped_ones(served):
    server = served(*LIMITED)
    Journal(server).call("DELETE").raise_for_status()
    for number in range(80):
        requests.get(f"{server.base_url}/voice/ping?number={number}", timeout=PATIENCE)
    answer = Journal(server).call("GET", params={"limit": 1000}).json()
    assert [each["query"] for each in answer["requests"]] == [f"number={number}" for number in range(30, 80)]
    assert (answer["entries"], answer["dropped"], answer["max"]) == (50, 30, 50)


def test_journals_stay_within_the_memory_of_namespaces(served):
    """A quarter of 40 MB is less than the journals of ten busy namespaces would take."""
    server = served(*SCARCE)
    clients = [EkaClient(access(server, created(server), "prefix")) for _ in range(10)]
    body = {"text": "word " * 12_000}
    for number in range(36):
        for client in clients:
            client.session.post(
                f"{client.base_url}/voice/api/v2/transaction/init/{number}", json=body, timeout=PATIENCE)
    taken = [Journal(server, client.access.name).call("GET").json() for client in clients]
    assert sum(each["bytes"] for each in taken) <= 10_000_000
    assert sum(each["dropped"] for each in taken) > 0 and all(each["entries"] > 0 for each in taken)
    for client in clients:
        control(server, "DELETE", f"namespaces/{client.access.name}").raise_for_status()
