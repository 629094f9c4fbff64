"""Fault rules of a namespace, and the rules that nobody may add."""

import contextlib
import http.client
import threading

import boto3
import botocore.config
import pytest
import requests
from client import BUCKET
from emulator import PATIENCE, TLS
from listen_client import SPEECH, environment
from namespaces import (
    Access, EkaClient, OmiDevice, access, ambient_client, control, deepgram, eka, omi, s3, session, suki,
)
from session_client import recording
from suki_client import session_path
from websockets.exceptions import ConnectionClosed

FLAGS = (
    "--object-wait", "50ms", "--suki-shortest", "0s", "--long-poll", "3s",
    "--webhook-pauses", "50ms,50ms,50ms", *TLS)
PROBLEM = "application/problem+json"
CONFIG = "/voice/api/v2/config"


class Faults:
    """The rules of a namespace."""

    def __init__(self, server, inside: Access):
        self.server, self.query = server, {"namespace": inside.name}

    def call(self, method: str, path="faults", **options) -> requests.Response:
        return control(self.server, method, path, params=self.query, **options)

    def add(self, kind="faults", **rule) -> dict:
        answer = self.call("POST", kind, json=rule)
        assert answer.status_code == 201, answer.text
        return answer.json()

    def next(self, **rule) -> dict:
        return self.add("faults/next", **rule)

    def change(self, id: str, **change) -> dict:
        answer = self.call("PATCH", f"faults/{id}", json=change)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def clear(self):
        assert self.call("DELETE").status_code == 204

    @property
    def rules(self) -> list[dict]:
        return self.call("GET").json()["faults"]

    @property
    def applied(self) -> list[int]:
        return [rule["applied"] for rule in self.rules]

    def advance(self, by: str, **more):
        answer = self.call("POST", "clock/advance", json={"by": by, **more})
        assert answer.status_code == 200 and answer.json()["is_done"], answer.text

    def freeze(self):
        self.call("PUT", "clock", json={"mode": "frozen"}).raise_for_status()

    def waiting(self) -> list[str]:
        return [each["what"] for each in self.call("GET", "clock").json()["waiting"]]

    def transaction(self, id: str) -> dict:
        return self.call("GET", f"transactions/{id}").json()


class Place:
    """A namespace with its rules, and ways to get at it."""

    def __init__(self, server, **options):
        answer = control(server, "POST", "namespaces", json=options)
        assert answer.status_code == 201, answer.text
        self.server, self.made = server, answer.json()
        self.inside = access(server, self.made, "credentials")
        self.faults = Faults(server, self.inside)

    def eka(self, way="credentials") -> EkaClient:
        return EkaClient(access(self.server, self.made, way))


@pytest.fixture(scope="module")
def server(served):
    return served(*FLAGS)


@pytest.fixture
def place(server):
    return Place(server)


def s3_of(client: EkaClient, attempts=1, **options):
    """boto3, which tries as often as it is told to."""
    keys = client.keys()
    return boto3.client(
        "s3", endpoint_url=client.base_url, region_name="ap-south-1", aws_access_key_id=keys["AccessKeyId"],
        aws_secret_access_key=keys["SecretKey"], aws_session_token=keys["SessionToken"], verify=client.access.verify,
        config=botocore.config.Config(
            retries={"mode": "standard", "total_max_attempts": attempts}, s3={"addressing_style": "path"}, **options))


def stored(client: EkaClient) -> list[tuple[str, int]]:
    """Keys and sizes of the bucket's objects."""
    found = client.s3().list_objects_v2(Bucket=BUCKET).get("Contents", [])
    return [(each["Key"], each["Size"]) for each in found]


def lost(call) -> requests.Response | None:
    """The answer; None if the connection broke before it."""
    try:
        return call()
    except (requests.exceptions.ConnectionError, requests.exceptions.ChunkedEncodingError):
        return None


def recorded(client: EkaClient, id: str, templates=("transcript_template", "soap")):
    """A transaction that is stopped, and ready to be committed."""
    transaction = client.transaction(id)
    assert transaction.init(templates).status_code == 201
    client.s3().put_object(Bucket=BUCKET, Key=f"{transaction.folder}/1.wav", Body=recording(3))
    transaction.uploaded.append("1.wav")
    assert transaction.stop().status_code == 200
    return transaction


@contextlib.contextmanager
def aside(call):
    """Runs a call in a thread. Gives a list that its result comes into; at the end it is there."""
    results = []

    def run():
        try:
            results.append(call())
        except Exception as error:  # noqa: BLE001 (it is the result)
            results.append(error)

    (thread := threading.Thread(target=run)).start()
    yield results
    thread.join(PATIENCE)
    assert results, "the call has not ended"


def read_raw(server, path: str, context=None) -> tuple[int, dict, bytes, int | None]:
    """Status, headers and body of an answer as Python's own client reads it, and how many bytes are missing."""
    encrypted = context and http.client.HTTPSConnection("localhost", server.tls_port, timeout=PATIENCE, context=context)
    with contextlib.closing(
        encrypted or http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    ) as connection:
        connection.request("GET", path)
        answer = connection.getresponse()
        try:
            return answer.status, dict(answer.getheaders()), answer.read(), 0
        except http.client.IncompleteRead as error:
            return answer.status, dict(answer.getheaders()), error.partial, error.expected


def answers_of(place, **added: str):
    """Gives a function that asks each family: for an answer, and the check of its errors.
    Everybody has logged in before."""
    inside, root = place.inside, place.inside.base_url
    ambient, client = ambient_client(inside), place.eka()
    ambient.initialize()
    link = client.s3().generate_presigned_url("get_object", {"Bucket": BUCKET, "Key": "k"})
    bearer, device = {"Authorization": client.session.headers["Authorization"]}, OmiDevice.headers_of(inside)

    def answers() -> dict[str, tuple]:
        def ask(method: str, url: str, **headers: str) -> requests.Response:
            return requests.request(method, url, headers={**headers, **added}, timeout=PATIENCE)

        return {
            "eka": (ask("GET", f"{root}/voice/api/v2/transaction/history", **bearer), eka),
            "session": (ask("GET", f"{root}/voice/v1/sessions/s-1", **bearer), session),
            "suki": (ask("GET", root + session_path("s", "status"), sdp_suki_token=ambient.sdp_suki_token), suki),
            "omi": (ask("GET", f"{root}/v1/conversations", **device), omi),
            "listen": (ask("POST", f"{root}/v1/listen", Authorization=f"Token {inside.key}"), deepgram),
            "s3": (ask("GET", link), s3),
        }

    return answers


def sdk_heard(server, place) -> tuple[list[str], list]:
    """Types of the messages that Deepgram's SDK hears, and the errors that it tells."""
    from deepgram import DeepgramClient
    from deepgram.core.events import EventType

    messages, errors, ended = [], [], threading.Event()
    client = DeepgramClient(api_key=place.inside.key, environment=environment(server))
    with client.listen.v1.connect(
        model="nova-3", encoding="linear16", sample_rate="16000", endpointing="300"
    ) as connection:
        connection.on(EventType.MESSAGE, messages.append)
        connection.on(EventType.ERROR, errors.append)
        connection.on(EventType.CLOSE, lambda _: ended.set())
        threading.Thread(target=connection.start_listening, daemon=True).start()
        try:
            connection.send_media(SPEECH)
            connection.send_close_stream()
        except ConnectionClosed as error:
            errors.append(error)
        assert ended.wait(PATIENCE)
    return [message.type for message in messages], errors


#: Fetches paths and opens live sockets, and posts what it saw.
PAGE = """<script>(async () => {
    const seen = [];
    for (const path of PATHS) {
        try {
            const answer = await fetch("ROOT" + path);
            seen.push([answer.status, (await answer.text()).includes("On purpose")]);
        } catch (error) { seen.push([0, error.name]); }
    }
    for (let i = 0; i < 4; i++) seen.push(await new Promise(resolve => {
        const socket = new WebSocket("ADDRESS/v1/listen?encoding=linear16&sample_rate=16000", ["token", "KEY"]);
        socket.onopen = () => {
            socket.send(new Uint8Array(32000));
            if (i == 3) socket.send(JSON.stringify({type: "CloseStream"}));
        };
        socket.onclose = event => resolve([event.code, event.reason]);
    }));
    await fetch("/", {method: "POST", body: JSON.stringify(seen)});
})();</script>"""

NEVER = 1_000_000_001
LONG = "x" * 70_000
#: Rules that are refused with 400, and what the answer says of them.
REFUSED = [
    ({}, "names no effect"), ({"operation": "initTransaction"}, "names no effect"), ({"nth": 2}, "names no effect"),
    ({"operation": "webhook"}, "names no effect"), ({"operation": "note"}, "names no effect"),
    ({"message": "m"}, "status"), ({"retry_after": 3}, "status"), ({"rate": 5}, "rate"),
    ({"operation": "webhook", "twice": False}, "names no effect"), ({"when": "after"}, "names no effect"),
    # Unknown names.
    ({"statuz": 503}, "status"), ({"Status": 503}, "status"), ({"": 1}, ""),
    ({"stat\nus": 503}, ""), ({LONG: 1}, ""), ({"operation": "comitTransaction", "status": 500}, "commitTransaction"),
    ({"operation": "putobject", "status": 500}, "PutObject"), ({"operation": "webhok", "twice": True}, "webhook"),
    ({"operation": "notes", "empty": True}, "note"), ({"operation": "addFault", "status": 500}, "operation"),
    ({"method": ["GET", "PUT"], "status": 500}, "method"), ({"query": [], "status": 500}, "query"),
    ({"header": "no name: x", "status": 500}, "header"), ({"no_header": "", "status": 500}, "no_header"),
    ({"method": "POST1", "status": 500}, "POST"),
    ({"connection": "rest"}, "reset"), ({"when": "before1", "status": 500}, "before"),
    ({"operation": "note", "fail": "note_faild"}, "note_failed"), ({"results": "missing1"}, "missing"),
    ({"delay": "1s", "clock": "worlds"}, "world"), ({"client": "nobody-of-that-name", "status": 500}, "nearest"),
    # Conditions that exclude each other.
    ({"nth": 1, "every": 2, "status": 500}, "exclude"), ({"nth": 1, "probability": 0.5, "status": 500}, "exclude"),
    ({"every": 1, "probability": 0.5, "status": 500}, "exclude"), ({"nth": 2, "times": 2, "status": 500}, "times"),
    ({"operation": "initTransaction", "method": "GET", "status": 500}, "method"),
    ({"operation": "initTransaction", "path": "/voice/api/v2/transaction/commit/*", "status": 500}, "path"),
    ({"operation": "readConfig", "path": "/voice/api/v2/configs", "status": 500}, "path"),
    ({"operation": "webhook", "client": "dev-client", "twice": True}, "client"),
    ({"operation": "transcription", "path": "/x", "empty": True}, "path"),
    ({"operation": "note", "header": "a: b", "empty": True}, "header"),
    ({"operation": "note", "event": "e", "empty": True}, "event"), ({"event": "session.ended", "status": 500}, "event"),
    # Effects that a socket cannot have, or that need one.
    ({"operation": "openListenSocket", "connection": "half"}, "connection"),
    ({"operation": "openDeviceSocket", "connection": "dribble"}, "connection"),
    ({"operation": "openAmbientSocket", "status": 500, "when": "after"}, "when"),
    ({"path": "/v4/web/listen", "delay": "1s", "when": "after"}, "when"),
    ({"operation": "initTransaction", "after_sent": 1}, "after_sent"),
    ({"operation": "webhook", "event": "session.endet", "twice": True}, "session.ended"),
    ({"operation": "webhook", "event": "callback", "wrong_signature": True}, "wrong_signature"),
    # Effects of another place, or that exclude each other.
    ({"operation": "initTransaction", "twice": True}, "webhook"), ({"operation": "webhook", "status": 500}, "requests"),
    ({"operation": "note", "connection": "reset"}, "requests"),
    ({"operation": "transcription", "close": 1011}, "sockets"), ({"status": 500, "after_sent": 1}, "requests"),
    ({"fail": "note_failed"}, "note"), ({"status": 500, "connection": "reset"}, "connection"),
    ({"limit": "1/1s", "delay": "1s"}, "delay"), ({"limit": "1/1s", "connection": "hang"}, "connection"),
    ({"limit": "1/1s", "when": "after"}, "when"), ({"connection": "half", "when": "before"}, "when"),
    ({"connection": "dribble", "when": "before"}, "when"), ({"connection": "hang", "delay": "1s"}, "delay"),
    ({"connection": "reset", "rate": 5}, "rate"), ({"status": 500, "body": "b", "code": "c"}, "code"),
    ({"status": 500, "content_type": "text/plain"}, "content_type"), ({"status": 204, "body": "b"}, "status"),
    ({"status": 200}, "status"), ({"status": 399, "code": "c"}, "status"),
    ({"clock": "world", "status": 500}, "clock"),
    ({"operation": "webhook", "twice": True, "wrong_signature": True}, "wrong_signature"),
    ({"operation": "note", "fail": "note_failed", "empty": True}, "empty"), ({"close": 1011}, "close"),
    ({"after_sent": 1, "reason": "r"}, "reason"), ({"messages": "*"}, "messages"),
    # Wrong types, and beyond the edges.
    ({"status": "five"}, "status"), ({"status": 500.5}, "status"), ({"status": None}, "status"),
    ({"status": True}, "status"), ({"status": [500]}, "status"), ({"status": {"a": 1}}, "status"),
    ({"status": 500, "operation": 7}, "operation"), ({"status": 500, "path": ["/"]}, "path"),
    ({"status": 500, "header": {"a": "b"}}, "header"), ({"status": 500, "id": 1}, "id"),
    ({"status": 500, "id": ""}, "id"), ({"status": 500, "code": False}, "code"), ({"delay": 2}, "delay"),
    ({"operation": "note", "empty": 1}, "empty"), ({"operation": "webhook", "twice": "yes"}, "twice"),
    ({"status": 500, "probability": "often"}, "probability"), ({"results": True}, "results"),
    ({"operation": "note", "fail": 7}, "fail"), ({"status": 500, "times": None}, "times"), ({"limit": 5}, "limit"),
    ({"status": 199, "body": "b"}, "status"), ({"status": 600}, "status"), ({"status": -1}, "status"),
    ({"status": 2**63}, "status"), ({"status": 500, "times": 0}, "times"), ({"status": 500, "times": -1}, "times"),
    ({"status": 500, "times": NEVER}, "times"), ({"status": 500, "times": 10**30}, "times"),
    ({"status": 500, "nth": 0}, "nth"), ({"status": 500, "every": 0}, "every"),
    ({"status": 500, "every": NEVER}, "every"),
    ({"status": 500, "probability": 0}, "probability"), ({"status": 500, "probability": 1.0001}, "probability"),
    ({"status": 500, "probability": -0.5}, "probability"), ({"status": 500, "probability": "nan"}, "probability"),
    ({"status": 500, "probability": "inf"}, "probability"), ({"status": 500, "retry_after": -1}, "retry_after"),
    ({"status": 500, "retry_after": 86_401}, "retry_after"), ({"connection": "dribble", "rate": 0}, "rate"),
    ({"connection": "dribble", "rate": NEVER}, "rate"), ({"after_sent": -1}, "after_sent"),
    ({"after_received": NEVER}, "after_received"),
    *(({"after_sent": 1, "close": code}, "close") for code in (0, 999, 1004, 1005, 1006, 1015, 2999, 5000, 65_536)),
    ({"after_sent": 1, "close": 1011, "reason": "r" * 124}, "reason"),
    ({"after_sent": 1, "close": 1011, "reason": "é" * 62}, "reason"), ({"status": 500, "id": "i" * 65}, "id"),
    ({"status": 500, "code": "c" * 101}, "code"), ({"status": 500, "message": "m" * 1001}, "message"),
    ({"status": 500, "path": "/" + "p" * 1024}, "path"), ({"status": 500, "header": "a: " + "h" * 1024}, "header"),
    ({"status": 500, "transaction": "t" * 256}, "transaction"), ({"status": 500, "body": LONG}, "body"),
    ({"status": 500, "body": {"text": LONG}}, "body"),
    ({"status": 500, "body": "b", "content_type": "a/b\r\nx-y: z"}, "content_type"),
    ({"status": 500, "code": "a\nb"}, "code"),
    *(({"delay": text}, "delay") for text in (
        "", "-1s", "1", "soon", "1e9d", "25h", "86401s", "2s..1s", "1s..1s", "1s..", "..1s", "1s..2s..3s", "0s~1s",
        "2s~1s", "1s~", "~", "nan s", "99999999999999999999s")),
    *(({"limit": text}, "limit") for text in (
        "", "5", "/1m", "5/", "0/1m", "-1/1m", "1000001/1m", "5/0s", "5/-1s", "5/1m/2", "1.5/1m", "5/1e99d", "5 / 1m")),
    *(
        ({"status": 500, "path": text}, "path")
        for text in ("", "voice", "/__admin/*", "/__console", "/ns/a/voice", "/voice?x=1")),
    *(({"status": 500, "header": text}, "header") for text in ("", ":", ": x", "a b: c", "a\nb: c")),
]
