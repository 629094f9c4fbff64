"""The journal shows a request alike, however its head came, and shows a request that waits before its answer."""

import pathlib
import socket
import ssl
import threading

import pytest
import requests
from client import BUCKET
from emulator import NAMED, PATIENCE, wait_until
from journal import Journal
from namespaces import Access, EkaClient, access, control, created, finished
from session_client import recording

#: What differs from one exchange to the next. The answer's text has its id.
OWN = {"id", "started_at", "ms", "request_id", "response"}
LONG = "x" * 20_000

#: Heads of requests, from the target on. Each has its own way to be read wrongly.
HEADS = {
    "fields twice, with spaces and without":
        "/a?b=c HTTP/1.1\r\nHost: a.example\r\nX-One:1\r\nx-one: \t 2  2 \t\r\nEmpty:\r\n\r\n",
    "cookies": "/a HTTP/1.1\r\nHost: a\r\nCookie: a=b; c=d\r\nCookie: e=f\r\n\r\n",
    "credentials":
        "/a?X-Amz-Signature=0123456789abcdef&token=abc HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer abcdef.ghi\r\n\r\n",
    "a target with a host": "http://b.example/c?d=e HTTP/1.1\r\nHost: a\r\n\r\n",
    "no target": " HTTP/1.1\r\nHost: a\r\n\r\n",
    "slashes and escapes": "//a///b%20c%2Fd/../e?f=%00&g HTTP/1.1\r\nHost: a\r\n\r\n",
    "text beyond ASCII": "/a HTTP/1.1\r\nHost: a\r\nName: Anna Müller 你好\r\n\r\n",
    "a port in the host": "/a HTTP/1.1\r\nhost: [::1]:8080\r\n\r\n",
    "no host": "/a HTTP/1.1\r\nX: y\r\n\r\n",
    "two hosts": "/a HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    "an old version": "/a HTTP/1.0\r\nHost: a\r\n\r\n",
    "an old version without a host": "/a HTTP/1.0\r\nX: y\r\n\r\n",
    "a connection that ends": "/a HTTP/1.1\r\nHost: a\r\nConnection: Close\r\n\r\n",
    "a connection that goes on": "/a HTTP/1.1\r\nHost: a\r\nConnection: Keep-Alive\r\n\r\n",
    "a folded field": "/a HTTP/1.1\r\nHost: a\r\nX: y\r\n z\r\nW: v\r\n\r\n",
    "lines without a carriage return": "/a HTTP/1.1\nHost: a\nX: y\n\r\n",
    "a field without a colon": "/a HTTP/1.1\r\nHost: a\r\nX\r\n\r\n",
    "a name with a space": "/a HTTP/1.1\r\nHost: a\r\nX : y\r\n\r\n",
    "a control character": "/a HTTP/1.1\r\nHost: a\r\nX: y\x01z\r\n\r\n",
    "a carriage return in a value": "/a HTTP/1.1\r\nHost: a\r\nX: y\rz\r\n\r\n",
    "no body": "/a HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n",
    "another protocol": "/a HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n",
    "a long field": f"/a HTTP/1.1\r\nHost: a\r\nX: {LONG}\r\n\r\n",
    "many fields": "/a HTTP/1.1\r\nHost: a\r\n" + "".join(f"X-{n}: {n}\r\n" for n in range(500)) + "\r\n",
}


@pytest.fixture
def inside(server):
    return access(server, created(server), "prefix")


def unread(connection: socket.socket) -> int:
    """Bytes of a connection that its server has not read, from the kernel's table of connections."""
    try:
        ends = [f":{port:04X}" for port in (connection.getpeername()[1], connection.getsockname()[1])]
    except OSError:
        # The server has answered and closed it.
        return 0
    for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        if fields[1].endswith(ends[0]) and fields[2].endswith(ends[1]):
            return int(fields[4].split(":")[1], 16)
    return 0


def sent(server, pieces: list[bytes], secure: bool) -> bytes:
    """The first line of the answer to a request in pieces. TCP must not join them."""
    connection = socket.create_connection(("127.0.0.1", server.tls_port if secure else server.port), PATIENCE)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if secure:
        connection = ssl.create_default_context(cafile=server.authority).wrap_socket(
            connection, server_hostname="localhost")
    with connection:
        for piece in pieces[:-1]:
            connection.sendall(piece)
            wait_until(lambda: unread(connection) == 0, "the server has read the piece")
        connection.sendall(pieces[-1])
        return connection.makefile("rb").readline()


@pytest.mark.parametrize("method, secure", [("GET", False), ("POST", True), *(
    pytest.param(*each, marks=pytest.mark.full)
    for each in [("GET", True), ("POST", False), ("PROPFIND", False), ("PROPFIND", True)])])
def test_a_request_is_shown_alike_in_one_piece_and_in_two(server, inside, method, secure):
    journal, known, wrong = Journal(server, inside.name), 0, {}
    for name, rest in HEADS.items():
        rest = rest if "://" in rest or rest.startswith(" ") else f"/ns/{inside.name}{rest}"
        head = f"{method} {rest}".encode()
        shown = []
        for pieces in ([head], [head[:-3], head[-3:]], [b"\r\n" + head]):
            status = sent(server, pieces, secure)
            new = [journal.read(each["id"]) for each in journal.all(after=known)]
            known = max([known, *(each["id"] for each in new)])
            shown.append((status, [{key: value for key, value in each.items() if key not in OWN} for each in new]))
        if shown[0] != shown[1] or shown[0] != shown[2]:
            wrong[name] = shown
    assert wrong == {}
    assert known > 3 * len(HEADS) / 2


def test_requests_of_one_connection_keep_their_own_heads(server, inside):
    journal = Journal(server, inside.name)
    path = f"/ns/{inside.name}/voice/api/v2/config"

    def head(number: int) -> bytes:
        return f"GET {path}?n={number} HTTP/1.1\r\nHost: a\r\nX-Number: {number}\r\n\r\n".encode()

    with socket.create_connection(("127.0.0.1", server.port), PATIENCE) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        answers = connection.makefile("rb")

        def answered():
            length = 0
            while (line := answers.readline()) != b"\r\n":
                assert line
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            answers.read(length)

        # Two at once, the second with a half, and its rest, which looks like a request, after both answers.
        number = 0
        for _ in range(30):
            connection.sendall(head(number) + head(number + 1) + b"GET /ns/")
            answered()
            answered()
            connection.sendall(head(number + 2).removeprefix(b"GET /ns/"))
            answered()
            connection.sendall(head(number + 3))
            answered()
            number += 4
    found = journal.details(operation="readConfig")
    assert [each["query"] for each in found] == [f"n={n}" for n in range(number)]
    for each in found:
        fields = {field["name"].lower(): field["value"] for field in each["request"]["headers"]}
        assert each["query"] == f"n={fields['x-number']}"


def test_a_request_that_waits_is_in_the_journal_before_its_answer(server, inside):
    client, journal = EkaClient(inside), Journal(server, inside.name)
    control(server, "PUT", "clock", params={"namespace": inside.name}, json={"mode": "frozen"}).raise_for_status()
    client.transaction("held").init()
    poll = threading.Thread(target=lambda: client.transaction("held").poll())
    poll.start()
    wait_until(
        lambda: [each["end"] for each in journal.all(operation="readStatus")] == ["open"], "the held poll is shown")
    control(server, "POST", "clock/advance", params={"namespace": inside.name}, json={"by": "1m"}).raise_for_status()
    poll.join(PATIENCE)
    assert [each["end"] for each in journal.all(operation="readStatus")] == ["whole"]
    added = control(
        server, "POST", "faults/next", params={"namespace": inside.name},
        json={"operation": "readConfig", "delay": "1m", "clock": "world"})
    assert added.status_code == 201, added.text
    late = threading.Thread(target=lambda: client.get("/voice/api/v2/config"))
    late.start()
    wait_until(
        lambda: [each["end"] for each in journal.all(operation="readConfig")] == ["open"], "the late answer is shown")
    control(server, "POST", "clock/advance", params={"namespace": inside.name}, json={"by": "1m"}).raise_for_status()
    late.join(PATIENCE)
    assert [each["end"] for each in journal.all(operation="readConfig")] == ["whole"]


def recorded_visit(client: EkaClient):
    """A finished transaction, whose answer the server has cached, and that answer."""
    transaction = client.transaction("t-1")
    transaction.init()
    client.s3().put_object(Bucket=BUCKET, Key=f"{transaction.folder}/1.wav", Body=recording(1))
    transaction.uploaded.append("1.wav")
    transaction.stop()
    transaction.commit()
    finished(transaction)
    answer = transaction.poll()
    assert transaction.poll().text == answer.text
    return transaction, answer


def test_the_journal_shows_the_answer_of_a_fault_and_not_the_usual_one(server, inside):
    client, journal = EkaClient(inside), Journal(server, inside.name)
    transaction, usual = recorded_visit(client)
    body = "!" * len(usual.content)
    added = control(
        server, "POST", "faults/next", params={"namespace": inside.name},
        json={"operation": "readStatus", "when": "after", "status": 200, "body": body})
    assert added.status_code == 201, added.text
    assert transaction.poll().text == body
    assert transaction.poll().text == usual.text
    shown = [each["response"]["body"]["text"] for each in journal.details(operation="readStatus", status=200)]
    assert shown[-4:] == [usual.text, usual.text, body, usual.text]


@pytest.mark.parametrize("origin", [None, "http://localhost:3000", "https://foreign.example"])
def test_the_journal_shows_the_fields_of_each_answer_from_the_cache(server, inside, origin):
    client, journal = EkaClient(inside), Journal(server, inside.name)
    transaction, usual = recorded_visit(client)
    headers = {} if origin is None else {"Origin": origin}
    path = client.base_url.removeprefix(server.base_url) + f"/voice/api/v3/status/{transaction.id}"
    urls = [server.base_url + path, f"https://localhost:{server.tls_port}{path}"]
    for url in [*urls, *urls]:
        answer = client.session.get(url, headers=headers, verify=server.authority, timeout=PATIENCE)
        assert answer.text == usual.text
        shown = journal.details(operation="readStatus")[-1]
        # Hummingbird adds two later.
        sent = {name: value for name, value in answer.headers.lower_items() if name not in ("date", "server")}
        assert {field["name"].lower(): field["value"] for field in shown["response"]["headers"]} == sent
        assert shown["request_id"] == sent["x-request-id"]
        assert shown["response"]["body"]["text"] == usual.text


def test_the_journal_names_a_cached_answer_of_a_seeded_namespace_as_its_client_does(server):
    inside = access(server, control(server, "POST", "namespaces", json={"seed_value": 3}).json(), "prefix")
    client, journal = EkaClient(inside), Journal(server, inside.name)
    transaction, _ = recorded_visit(client)
    answer = client.get(f"/voice/api/v3/status/{transaction.id}")
    shown = journal.details(operation="readStatus")[-1]
    fields = {field["name"].lower(): field["value"] for field in shown["response"]["headers"]}
    assert shown["request_id"] == fields["x-request-id"] == answer.headers["x-request-id"]


def test_a_head_request_for_a_cached_answer_is_recorded_without_a_body(server, inside):
    client, journal = EkaClient(inside), Journal(server, inside.name)
    transaction, _ = recorded_visit(client)
    answer = client.session.head(f"{client.base_url}/voice/api/v3/status/{transaction.id}", timeout=PATIENCE)
    assert answer.status_code == 200 and answer.content == b""
    [found] = journal.details(method="HEAD")
    assert (found["status"], found["end"]) == (200, "whole")
    assert "response_bytes" not in found and "body" not in found["response"]


def test_a_journal_of_metadata_has_the_size_of_a_cached_answer_and_no_text(served):
    server = served(*NAMED)
    Journal(server).call("DELETE").raise_for_status()
    client = EkaClient(Access(server.base_url))
    transaction, answer = recorded_visit(client)
    client.session.head(f"{client.base_url}/voice/api/v3/status/{transaction.id}", timeout=PATIENCE)
    journal = Journal(server)
    found = journal.details(operation="readStatus", method="GET")[-1]
    assert (found["status"], found["end"], found["response_bytes"]) == (200, "whole", len(answer.content))
    texts = "".join(journal.views().values())
    for secret in (f"/{transaction.id}", client.tokens["access_token"], "Authorization", '"text"', "patient"):
        assert secret not in texts
    assert all(each["end"] == "whole" for each in journal.all())


def test_a_head_request_and_a_preflight_of_an_operator_leave_the_journal_as_it_was(server):
    journal = Journal(server)
    # A full journal has the same length after each request.
    journal.call("DELETE").raise_for_status()
    before = len(journal.all())
    for method in ("OPTIONS", "GET", "HEAD"):
        requests.request(
            method, f"{server.base_url}/__admin/info", headers={"Origin": "http://localhost:1"}, timeout=PATIENCE)
    requests.get(f"{server.base_url}/healthz", timeout=PATIENCE)
    assert len(journal.all()) == before
