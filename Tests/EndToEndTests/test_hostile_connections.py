"""Hostile bytes on connections: each gets a clear answer or a clean close, and the next request is served."""

import socket
import subprocess

import pytest
import requests
from emulator import IMPATIENT, PATIENCE, running, wait_until
from tls import DOORS


@pytest.fixture(scope="module")
def server(patient):
    """It closes no connection for being idle: one that is closed, is closed for what was sent."""
    return patient


@pytest.fixture(params=DOORS)
def connect(request):
    """Opens a connection to a server: plain, or encrypted."""
    return lambda server, timeout=PATIENCE: DOORS[request.param](server, timeout)


@pytest.fixture
def exchange(server, connect):
    """Sends bytes on a connection of their own; returns all that comes back until the server closes."""

    def run(data: bytes, half_close=False) -> bytes:
        with connect(server) as connection:
            try:
                connection.sendall(data)
                if half_close:
                    connection.shutdown(socket.SHUT_WR)
            except OSError:
                pass
            answer = b""
            try:
                while piece := connection.recv(65536):
                    answer += piece
            except ConnectionResetError:
                pass
        return answer

    yield run
    assert requests.get(f"{server.base_url}/livez").status_code == 200


def head(method="GET", path="/livez", *fields, version="1.1", host="Host: x"):
    lines = [f"{method} {path} HTTP/{version}", *([host] if host else []), *fields]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


LOGIN = "/connect-auth/v1/account/login"


@pytest.mark.parametrize(
    "request_, status",
    [
        (head("POST", LOGIN, "Content-Length: 2", "Content-Length: 3") + b"{}", 400),
        (head("POST", LOGIN, "Content-Length: 2", "Content-Length: 2") + b"{}", 400),
        (head("POST", LOGIN, "Content-Length: 2", "Transfer-Encoding: chunked") + b"2\r\n{}\r\n0\r\n\r\n", 400),
        (head("POST", LOGIN, "Content-Length: +2") + b"{}", 400),
        (head("POST", LOGIN, "Content-Length: -1"), 400),
        (head("POST", LOGIN, "Content-Length: 99999999999999999999999"), 400),
        (head("POST", LOGIN, "Content-Length: 2,2") + b"{}", 400),
        (head("POST", LOGIN, "Transfer-Encoding: chunked", "Transfer-Encoding: identity") + b"0\r\n\r\n", (400, 501)),
        (head("POST", LOGIN, "Transfer-Encoding: gzip, chunked") + b"0\r\n\r\n", 501),
        (head("POST", LOGIN, "Transfer-Encoding: chunked", version="1.0") + b"0\r\n\r\n", 400),
        (head("POST", LOGIN, "Transfer-Encoding: chunked") + b"zz\r\n{}\r\n0\r\n\r\n", 400),
        (head("POST", LOGIN, "Transfer-Encoding: chunked") + b"-2\r\n{}\r\n0\r\n\r\n", 400),
        (head("POST", LOGIN, "Transfer-Encoding: chunked") + b"FFFFFFFFFFFFFFFFF\r\n{}", 400),
        (head(host="Host: a\r\nHost: b"), 400), (head(host=None), 400),
        (b"GET /livez HTTP/1.1\r\nHost: x\r\n folded: y\r\n\r\n", 400),
        (b"GET /livez HTTP/1.1\r\nHost : x\r\n\r\n", 400),
        (b"GET /livez HTTP/9.9\r\nHost: x\r\n\r\n", 400),
        (b"nonsense\r\n\r\n", 400), (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
        (head("GET", "/livez", "X: " + "x" * 100_000), 431),
        (head("GET", "/livez", *[f"X-{n}: {n}" for n in range(3000)]), 431),
        (head("GET", "/" + "x" * 100_000), (400, 431)),
    ],
)
def test_malformed_requests_are_refused_and_the_connection_is_closed(exchange, request_, status):
    smuggled = head("GET", "/voice/ping")
    answer = exchange(request_ + smuggled)
    assert answer[:9] == b"HTTP/1.1 ", answer
    assert int(answer[9:12]) in (status if isinstance(status, tuple) else (status,)), answer
    assert answer.count(b"HTTP/1.1 ") == 1, "what follows is not taken for a request"
    assert b"pong" not in answer


def test_half_a_body_is_400(exchange):
    for fields, body in [(["Content-Length: 100"], b'{"client_id"'), (["Transfer-Encoding: chunked"], b"64\r\n{")]:
        answer = exchange(head("POST", LOGIN, *fields) + body, half_close=True)
        assert answer.startswith(b"HTTP/1.1 400 "), answer


@pytest.mark.parametrize("field", [
    "Connection: close", "Connection: Close", "CONNECTION: CLOSE", "Connection: x, Close"])
def test_connection_close_is_recognised_in_every_spelling(exchange, field):
    assert exchange(head("GET", "/livez", field)).startswith(b"HTTP/1.1 200 ")


def test_http_1_0_is_answered_and_closed(exchange):
    assert b" 200 " in exchange(head(version="1.0", host=None))


def test_a_connection_is_kept_and_pipelining_answers_in_order(exchange):
    answer = exchange(head() + head("GET", "/voice/ping") + head("GET", "/livez", "Connection: close"))
    assert [answer.find(word) for word in (b"alive", b"pong")] == sorted(
        answer.find(word) for word in (b"alive", b"pong"))
    assert answer.count(b"HTTP/1.1 200") == 3


@pytest.mark.parametrize("path", [
    "/livez", "/readyz", "/voice/ping", "/openapi.yaml", "/voice/nothing", LOGIN, "/bucket/key", "/"])
def test_head_is_answered_like_get_without_a_body(server, exchange, path):
    answer = exchange(head("HEAD", path, "Connection: close"))
    status, body = answer.split(b"\r\n", 1)[0], answer.split(b"\r\n\r\n", 1)[1]
    assert body == b""
    if path not in (LOGIN, "/bucket/key", "/"):
        assert int(status.split()[1]) == requests.get(f"{server.base_url}{path}").status_code


def test_curl_with_http2_over_plain_http_is_served(server):
    for method in ("GET", "POST"):
        answer = subprocess.run(
            ["curl", "-s", "-m", str(PATIENCE), "--http2", "-X", method, "-w", "%{http_code}",
             f"{server.base_url}/voice/ping"],
            capture_output=True, text=True,
        ).stdout
        assert answer == '{"ping":"pong"}200' if method == "GET" else answer.endswith("405")
    upgrade = head("GET", "/voice/ping", "Upgrade: websocket", "Connection: Upgrade")
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as connection:
        connection.sendall(upgrade)
        answer = connection.recv(2000)
        assert b"pong" in answer and b"connection: close" in answer.lower()
    # A client that asks for more in one go gets it, on another connection and at once.
    url = f"{server.base_url}/voice/ping"
    answers = subprocess.run(
        ["curl", "-s", "-m", str(PATIENCE), "--http2", url, url], capture_output=True, text=True).stdout
    assert answers == '{"ping":"pong"}' * 2


def test_a_held_poll_ends_when_its_client_disconnects(connect, server):
    client = server.client()
    transaction = client.transaction()
    transaction.init()
    request = head("GET", f"/voice/api/v3/status/{transaction.id}", f"auth: {client.tokens['access_token']}")
    for goes in (lambda connection: connection.close(), lambda connection: connection.shutdown(socket.SHUT_WR)):
        connection = connect(server)
        connection.sendall(request)
        wait_until(lambda: server.metric("scribe_held_polls") == 1, "the poll is held")
        goes(connection)
        wait_until(lambda: server.metric("scribe_held_polls") == 0, "the poll is let go")
        connection.close()


def test_a_large_upload_that_is_refused_is_not_read_to_its_end(server, connect):
    """403 is known after the head; the client learns it without sending 400 MB."""
    sent = 0
    with connect(server) as connection:
        connection.sendall(head("PUT", "/bucket/key", "Content-Length: 400000000"))
        answer = connection.recv(2000)
        assert answer.startswith(b"HTTP/1.1 403 ")
        assert b"connection: close" in answer.lower()
        with pytest.raises(OSError):
            while sent < 40_000_000_000:
                sent += connection.send(bytes(1000))
    assert requests.get(f"{server.base_url}/livez").status_code == 200


def test_an_upload_by_the_byte_takes_no_more_than_its_size(server, connect):
    url = server.client().s3().generate_presigned_url(
        "put_object", {"Bucket": "b", "Key": "bytes"}).removeprefix(server.base_url)
    before = server.memory("VmRSS")
    with connect(server) as connection:
        connection.sendall(head("PUT", url, "Content-Length: 20000", host=f"Host: 127.0.0.1:{server.port}"))
        for _ in range(20_000):
            connection.sendall(b"x")
        assert b" 200 " in connection.recv(4000)
    assert server.memory("VmRSS") - before < 50 << 20


def test_an_object_beyond_the_limit_is_refused_by_its_head(server, connect):
    s3 = server.client().s3()
    url = s3.generate_presigned_url("put_object", {"Bucket": "b", "Key": "k"}).removeprefix(server.base_url)
    with connect(server) as connection:
        connection.sendall(head("PUT", url, f"Content-Length: {501 << 20}", host=f"Host: 127.0.0.1:{server.port}"))
        answer = b""
        while piece := connection.recv(4000):
            answer += piece
    assert b"EntityTooLarge" in answer


@pytest.mark.parametrize(
    "first",
    [
        b"GET /livez HTTP/1.1\r\nHost: x\r\nX: ", head("POST", LOGIN, "Content-Length: 100000"),
        head("POST", LOGIN, "Transfer-Encoding: chunked") + b"FFFF\r\n",
    ],
)
def test_slow_heads_and_slow_bodies_are_ended_while_others_are_served(connect, served, first):
    """A byte now and then keeps no connection."""
    server = served(*IMPATIENT)
    with connect(server) as connection:
        connection.settimeout(0.1)
        connection.sendall(first)

        def is_ended():
            try:
                connection.sendall(b"x")
                return not connection.recv(1000)
            except TimeoutError:
                return False
            except OSError:
                return True

        wait_until(is_ended, "the slow request is ended")
    assert requests.get(f"{server.base_url}/livez").status_code == 200


def test_hundreds_of_idle_connections_do_not_keep_others_out(server, connect):
    connections = [connect(server) for _ in range(300)]
    try:
        assert requests.get(f"{server.base_url}/livez").status_code == 200
    finally:
        for connection in connections:
            connection.close()


def test_connections_beyond_the_limit_wait_their_turn_and_faults_hold_half_of_them(tmp_path):
    """With 260 open files allowed, one address takes 60 connections; the next is served when one of them ends."""
    with running(tmp_path, "--ephemeral", "--host", "127.0.0.1", prefix=["prlimit", "--nofile=260"]) as server:
        waiting = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(60)]
        for connection in waiting:
            connection.sendall(head())
            assert connection.recv(1000).startswith(b"HTTP/1.1 200 ")
        with socket.create_connection(("127.0.0.1", server.port), timeout=1) as late:
            late.sendall(head())
            with pytest.raises(TimeoutError):
                late.recv(1000)
            waiting.pop().close()
            late.settimeout(PATIENCE)
            assert late.recv(1000).startswith(b"HTTP/1.1 200 ")
        for connection in waiting:
            connection.close()
        hung = [socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) for _ in range(40)]
        for connection in hung:
            connection.sendall(head("GET", "/voice/ping", "X-Scribe-Fault: connection=hang"))

        def is_reset(connection):
            connection.setblocking(False)
            try:
                return connection.recv(1, socket.MSG_PEEK) == b""
            except BlockingIOError:
                return False
            except ConnectionResetError:
                return True

        wait_until(lambda: sum(map(is_reset, hung)) >= 10, "the faults beyond half of the connections are reset")
        assert requests.get(f"{server.base_url}/livez").status_code == 200
        assert sum(map(is_reset, hung)) == 10
        for connection in hung:
            connection.close()
