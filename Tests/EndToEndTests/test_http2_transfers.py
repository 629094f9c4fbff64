"""Downloads and uploads over HTTP/2: windows are large, are renewed, and count against the memory budget."""

import contextlib
import hashlib
import itertools
import json
import os
import pathlib
import random
import socket
import subprocess

import boto3
import h2.events
import pytest
import requests
from chromium import browse, serving, trusting_browser
from emulator import PATIENCE, SCARCE
from http2_client import Connection

HERE = pathlib.Path(__file__).parent


@pytest.fixture(scope="module")
def server(patient):
    """It closes no connection for being idle, and no poll is over: what ends, ends for what was sent."""
    return patient


class Content:
    """What is downloaded: no part of it looks like the next."""

    BLOCK = random.Random(1).randbytes(1_000_000)
    COUNT = 16

    def __len__(self):
        return len(self.BLOCK) * self.COUNT

    def __iter__(self):
        return (number.to_bytes(4, "big") + self.BLOCK[4:] for number in range(self.COUNT))


def summary(pieces) -> str:
    """How much it is, and its hash."""
    digest, length = hashlib.sha256(), 0
    for piece in pieces:
        digest.update(piece)
        length += len(piece)
    return f"{length} {digest.hexdigest()}"


@pytest.fixture(scope="module")
def expected():
    return summary(Content())


def presigned(server, verb: str, address: str, key="large") -> str:
    client = server.client()
    keys = client.session.get(f"{server.base_url}/credentials").json()["credentials"]
    s3 = boto3.client(
        "s3", endpoint_url=address, region_name="ap-south-1", aws_access_key_id=keys["AccessKeyId"],
        aws_secret_access_key=keys["SecretKey"], aws_session_token=keys["SessionToken"])
    return s3.generate_presigned_url(verb, {"Bucket": "b", "Key": key})


@pytest.fixture(scope="module")
def url(server):
    """From which the content is downloaded."""
    assert requests.put(presigned(server, "put_object", server.base_url), data=Content()).status_code == 200
    return presigned(server, "get_object", f"https://127.0.0.1:{server.tls_port}")


def output(*command, **options) -> str:
    answer = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, **options)
    assert answer.returncode == 0, answer.stderr
    return answer.stdout.strip()


def with_curl(server, url, folder):
    version = output(
        "curl", "--http2", "-sS", "--cacert", server.authority, "-o", folder / "got", "-w", "%{http_version}", url)
    assert version == "2"
    with open(folder / "got", "rb") as file:
        (folder / "got").unlink()
        return summary(iter(lambda: file.read(1 << 20), b""))


def with_java(server, url, folder):
    output("keytool", "-importcert", "-noprompt", "-file", server.authority, "-keystore", folder / "trust",
           "-storepass", "changeit")
    answer = output("java", f"-Djavax.net.ssl.trustStore={folder}/trust", "-Djavax.net.ssl.trustStorePassword=changeit",
                    HERE / "Download.java", url)
    version, _, rest = answer.partition(" ")
    assert version == "HTTP_2"
    return rest


def with_node(server, url, folder):
    program = """
        const { origin, pathname, search } = new URL(process.argv[1])
        const session = require("http2").connect(origin), hash = require("crypto").createHash("sha256")
        let length = 0
        session.request({ ":path": pathname + search })
            .on("data", piece => { hash.update(piece); length += piece.length })
            .on("end", () => { console.log(length, hash.digest("hex")); session.close() })
    """
    return output("node", "-e", program, url, env={"PATH": os.environ["PATH"], "NODE_EXTRA_CA_CERTS": server.authority})


PAGE = """<!doctype html>
<script type="module">
const { url, length } = await (await fetch("plan.json")).json()
const whole = new Uint8Array(length)
let count = 0, thrown = null
try {
  for (const reader = (await fetch(url)).body.getReader();;) {
    const { done, value } = await reader.read()
    if (done) break
    whole.set(value, count)
    count += value.length
  }
} catch (error) { thrown = String(error) }
const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", whole))
const hex = [...hash].map(byte => byte.toString(16).padStart(2, "0")).join("")
await fetch("done", { method: "POST", body: JSON.stringify({ summary: `${count} ${hex}`, thrown }) })
</script>"""


def with_chromium(server, url, folder):
    content = {"/": PAGE.encode(), "/plan.json": json.dumps({"url": url, "length": len(Content())}).encode()}
    browser = trusting_browser(server, folder)
    with serving(content) as (port, posted):
        answer = browse(f"http://localhost:{port}/", folder / "profile", posted, *browser["flags"],
                        environment=browser["environment"])
    assert answer["thrown"] is None
    return answer["summary"]


def with_h2(server, url, folder, *fields, step=None):
    """With a window of one frame. With a step, both windows grow by each so many bytes, as soon as they are here."""
    digest, length, ended = hashlib.sha256(), 0, False
    with Connection(server, INITIAL_WINDOW_SIZE=16_384) as connection:
        authority, path = url.removeprefix("https://").split("/", 1)
        stream = connection.open("GET", f"/{path}", *fields, authority=authority)
        while not ended:
            assert connection.receive(acknowledge=not step), f"the connection ended after {length} bytes"
            ended = any(isinstance(event, h2.events.StreamEnded) for event in connection.events)
            for event in connection.events:
                if isinstance(event, h2.events.DataReceived):
                    digest.update(event.data)
                    length += len(event.data)
                    for begin in range(0, len(event.data), step) if step and not ended else ():
                        for window in (None, stream):
                            connection.h2.increment_flow_control_window(min(step, len(event.data) - begin), window)
            connection.events.clear()
            connection.flush()
    return f"{length} {digest.hexdigest()}"


@pytest.mark.parametrize(
    "client",
    [with_curl, pytest.param(with_java, marks=pytest.mark.full), with_node, with_chromium, with_h2],
    ids=lambda client: client.__name__.removeprefix("with_"))
def test_a_large_download_arrives_whole(server, url, expected, tmp_path, client):
    assert client(server, url, tmp_path) == expected


def test_a_client_that_reads_by_4_kilobytes_is_no_flood(server, url, tmp_path):
    """As Go's client does whose program reads by so much. HAProxy is between this and one for each frame."""
    megabytes = 40
    fields = ("range", f"bytes=0-{megabytes * 1_000_000 - 1}")
    assert with_h2(server, url, tmp_path, fields, step=4_096) == summary(itertools.islice(Content(), megabytes))


class Upload:
    """An object on its way to the server, frame by frame, by whatever its windows allow."""

    def __init__(self, server, connection, content: bytes, key: str):
        host = f"127.0.0.1:{server.tls_port}"
        path = presigned(server, "put_object", f"https://{host}", key).removeprefix(f"https://{host}")
        self.connection, self.content, self.sent = connection, content, 0
        self.stream = connection.open(
            "PUT", path, ("content-length", str(len(content))), authority=host, end=False)

    def send(self, padding=None) -> bool:
        """The next frame; false where no window is left or all has gone."""
        h2 = self.connection.h2
        overhead = 0 if padding is None else padding + 1
        size = min(
            h2.local_flow_control_window(self.stream) - overhead, 16_384 - overhead, len(self.content) - self.sent)
        if size <= 0:
            return False
        self.sent += size
        h2.send_data(
            self.stream, self.content[self.sent - size : self.sent], self.sent == len(self.content), pad_length=padding)
        self.connection.flush()
        return True

    def finish(self, padding=None) -> int:
        while self.sent < len(self.content):
            if not self.send(padding):
                assert self.connection.receive(), "the connection ended"
        return self.connection.answer(self.stream)[0]


CONTENT = random.Random(7).randbytes(4 << 20)


@pytest.mark.parametrize("padding", [None, 0, 255])
def test_windows_are_large_and_renewed_while_an_upload_is_read(server, padding):
    with Connection(server) as connection:
        upload = Upload(server, connection, CONTENT, f"windows/{padding}.bin")
        assert upload.send(padding)
        connection.until(h2.events.WindowUpdated)
        streams = connections = 0
        while upload.sent < len(CONTENT):
            if not upload.send(padding):
                assert connection.receive()
            streams = max(streams, connection.h2._get_stream_by_id(upload.stream).outbound_flow_control_window)
            connections = max(connections, connection.h2.outbound_flow_control_window)
        assert connection.answer(upload.stream)[0] == 200
        assert 128 << 10 < streams <= 256 << 10
        assert 512 << 10 < connections <= 1 << 20


def test_cancelled_and_refused_uploads_do_not_reduce_the_window_of_later_uploads(server):
    """Uploads that are given up, and those that nobody reads for they are refused."""
    with Connection(server) as connection:
        for turn in range(40):
            upload = Upload(server, connection, CONTENT, "given-up.bin")
            while upload.sent < 60_000:
                if not upload.send():
                    assert connection.receive()
            connection.h2.reset_stream(upload.stream)
            connection.flush()
        for turn in range(40):
            stream = connection.open("PUT", "/m-prod-voice-record/refused.bin", body=bytes(16_000), end=False)
            connection.until(h2.events.ResponseReceived, stream)
        whole = Upload(server, connection, CONTENT, "whole.bin")
        assert whole.finish() == 200


def test_windows_are_not_renewed_while_the_memory_budget_is_used_up(served):
    """And nobody is refused for it: the upload goes on once there is memory again."""
    server = served(*SCARCE)
    token = server.client().tokens["access_token"]
    head = f"PUT /voice/api/v2/config HTTP/1.1\r\nHost: localhost\r\nauth: {token}\r\n" \
        "Content-Type: application/json\r\nContent-Length: 8388608\r\n\r\n"

    def is_renewed(connection) -> bool:
        connection.h2.ping(bytes(8))
        connection.flush()
        connection.until(h2.events.PingAckReceived)
        return any(
            isinstance(event, h2.events.WindowUpdated) and event.stream_id == 0 for event in connection.events)

    with contextlib.ExitStack() as connections:
        with contextlib.ExitStack() as bodies:
            # As much as one business may have.
            for _ in range(7):
                body = bodies.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE))
                body.sendall(head.encode() + bytes(8_000_000))
            # What was sent last may not have been read yet.
            for _ in range(100):
                connection = connections.enter_context(Connection(server))
                upload = Upload(server, connection, CONTENT, "waiting.bin")
                assert upload.send()
                if not is_renewed(connection):
                    break
            else:
                raise AssertionError("the window is renewed whatever memory there is")
            while upload.send():
                pass
            assert upload.sent == 65_535
        assert upload.finish() == 200
