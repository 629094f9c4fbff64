"""HTTP/2 requests: answers, uploads, polls and the end of connections."""

import json
import pathlib
import socket
import ssl

import h2.errors
import h2.events
import pytest
import requests
from emulator import IMPATIENT, PATIENCE, wait_until
from http2_client import CREDENTIALS, LOGIN, Connection


@pytest.fixture(scope="module")
def server(patient):
    """It closes no connection for being idle: one that is closed, is closed for what was sent."""
    return patient


@pytest.fixture
def connection(server):
    with Connection(server) as connection:
        yield connection
    assert requests.get(f"{server.base_url}/livez").status_code == 200


def test_many_streams_are_answered_over_one_connection(connection):
    streams = [connection.open(path="/voice/ping") for _ in range(30)]
    for stream in streams:
        status, _, body = connection.answer(stream)
        assert (status, body) == (200, b'{"ping":"pong"}')


def test_bodies_arrive_and_links_are_https(connection):
    status, _, body = connection.answer(connection.open("POST", LOGIN, body=CREDENTIALS))
    assert status == 200
    token = json.loads(body)["access_token"]
    status, _, body = connection.answer(
        connection.open("POST", "/v1/file-upload?txn_id=t-h2", ("authorization", f"Bearer {token}"), body=b"{}",
                        authority="scribe.test:8443"))
    assert (status, json.loads(body)["uploadData"]["url"]) == (200, "https://scribe.test:8443/m-prod-ekascribe-batch/")


def test_no_header_of_http_1_and_no_hsts_is_in_an_answer(connection):
    _, headers, _ = connection.answer(connection.open(path="/v1/listen"))
    assert not {"connection", "upgrade", "transfer-encoding", "keep-alive", "strict-transport-security"} & set(headers)


def test_a_request_with_expect_continue_gets_a_100(connection):
    stream = connection.open("POST", LOGIN, ("expect", "100-continue"), end=False)
    assert dict(connection.until(h2.events.InformationalResponseReceived, stream).headers)[":status"] == "100"
    connection.h2.send_data(stream, CREDENTIALS, end_stream=True)
    connection.flush()
    assert connection.answer(stream)[0] == 200


@pytest.mark.parametrize(
    "authority, fields, status",
    [
        (None, [("host", "api.eka.care")], 200), (None, [], 400), ("api.eka.care", [("host", "api.eka.care")], 200),
        ("api.eka.care", [("host", "evil.example")], 400), (None, [("host", "a"), ("host", "b")], 400), ("", [], 400),
    ],
)
def test_a_request_must_name_exactly_one_authority(connection, authority, fields, status):
    stream = connection.open("GET", "/voice/ping", *fields, authority=authority)
    assert connection.answer(stream)[0] == status
    assert connection.answer(connection.open())[0] == 200, "the connection goes on"


@pytest.mark.parametrize(
    "fields, status",
    [([(f"x-{n}", "n") for n in range(1100)], 431), ([("x", "a" + "\u0301" * 3000)], 400)],
    ids=["1100 fields", "3000 combining marks"],
)
def test_a_request_with_too_many_fields_or_combining_marks_is_refused_and_the_connection_goes_on(
        connection, fields, status):
    assert connection.answer(connection.open("GET", "/voice/ping", *fields))[0] == status
    assert connection.answer(connection.open())[0] == 200, "the connection goes on"


def test_an_upload_that_is_refused_is_not_read_to_its_end(connection):
    stream = connection.open("PUT", "/bucket/key", ("content-length", "400000000"), end=False, authority="localhost")
    assert dict(connection.until(h2.events.ResponseReceived, stream).headers)[":status"] == "403"
    assert connection.until(h2.events.StreamReset, stream).error_code == h2.errors.ErrorCodes.NO_ERROR
    assert connection.answer(connection.open())[0] == 200, "the connection goes on"


def test_a_body_that_stops_ends_its_stream_and_no_other(served):
    server = served(*IMPATIENT)
    client = server.client()
    transaction = client.transaction()
    transaction.init()
    with Connection(server) as connection:
        slow = connection.open("POST", LOGIN, ("content-length", "100000"), body=b"{", end=False)
        # A held poll stays open when the slow stream ends.
        held = connection.open(
            "GET", f"/voice/api/v3/status/{transaction.id}", ("auth", client.tokens["access_token"]))
        assert connection.answer(connection.open())[0] == 200
        connection.until(h2.events.StreamReset, slow)
        assert connection.answer(connection.open())[0] == 200
        assert not any(getattr(event, "stream_id", None) == held for event in connection.events)
        assert server.metric("scribe_held_polls") == 1


def test_half_a_body_resets_its_stream_with_a_protocol_error_and_gets_no_answer(connection):
    stream = connection.open("POST", LOGIN, ("content-length", "100"), body=b"{", end=True)
    reset = connection.until(h2.events.StreamReset, stream)
    assert reset.error_code == h2.errors.ErrorCodes.PROTOCOL_ERROR
    assert connection.answer(connection.open())[0] == 200, "the connection goes on"
    assert not any(
        isinstance(event, h2.events.ResponseReceived) and event.stream_id == stream for event in connection.events)


def test_a_held_poll_ends_when_its_stream_is_reset(server, connection):
    client = server.client()
    transaction = client.transaction()
    transaction.init()
    stream = connection.open(
        "GET", f"/voice/api/v3/status/{transaction.id}", ("auth", client.tokens["access_token"]))
    wait_until(lambda: server.metric("scribe_held_polls") == 1, "the poll is held")
    connection.h2.reset_stream(stream)
    connection.flush()
    wait_until(lambda: server.metric("scribe_held_polls") == 0, "the poll is let go")
    assert connection.answer(connection.open())[0] == 200


@pytest.mark.parametrize("goes", ["close", "shutdown"])
def test_a_held_poll_ends_when_its_connection_ends(server, goes):
    with Connection(server) as connection:
        client = server.client()
        transaction = client.transaction()
        transaction.init()
        connection.open("GET", f"/voice/api/v3/status/{transaction.id}", ("auth", client.tokens["access_token"]))
        wait_until(lambda: server.metric("scribe_held_polls") == 1, "the poll is held")
        connection.socket.close() if goes == "close" else connection.socket.shutdown(socket.SHUT_WR)
        wait_until(lambda: server.metric("scribe_held_polls") == 0, "the poll is let go")


def test_an_upload_that_breaks_off_is_no_error_of_the_server(server):
    client = server.client()
    url = client.s3().generate_presigned_url("put_object", {"Bucket": "b", "Key": "broken"})
    with Connection(server) as connection:
        stream = connection.open(
            "PUT", url.removeprefix(server.base_url), ("content-length", "100000"), body=b"x" * 1000, end=False,
            authority=f"127.0.0.1:{server.port}")
        connection.h2.reset_stream(stream)
        connection.flush()
        assert connection.answer(connection.open())[0] == 200
    assert "unexpected error" not in server.log


def test_an_upload_of_megabytes_arrives_whole(server):
    client = server.client()
    body = pathlib.Path("/proc/self/exe").read_bytes()[:3_000_000]
    s3 = client.s3()
    url = s3.generate_presigned_url("put_object", {"Bucket": "b", "Key": "h2"})
    with Connection(server) as connection:
        stream = connection.open(
            "PUT", url.removeprefix(server.base_url), ("content-length", str(len(body))), end=False,
            authority=f"127.0.0.1:{server.port}")
        sent = 0
        while sent < len(body):
            size = min(len(body) - sent, connection.h2.local_flow_control_window(stream), 16_384)
            if size == 0:
                assert connection.receive()
                continue
            connection.h2.send_data(stream, body[sent:sent + size], end_stream=sent + size == len(body))
            connection.flush()
            sent += size
        assert connection.answer(stream)[0] == 200
    assert s3.get_object(Bucket="b", Key="h2")["Body"].read() == body


def test_a_client_that_offers_no_alpn_protocol_gets_http_1(server):
    raw = socket.create_connection(("127.0.0.1", server.tls_port), timeout=PATIENCE)
    context = ssl.create_default_context(cafile=server.authority)
    with context.wrap_socket(raw, server_hostname="localhost") as connection:
        connection.sendall(b"GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        assert connection.recv(1000).startswith(b"HTTP/1.1 200")
