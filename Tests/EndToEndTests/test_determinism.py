"""The same requests are answered with the same bytes, where the clock is frozen and identifiers come from a seed value."""

import concurrent.futures
import contextlib
import json
import re
import threading
import uuid

import botocore.httpsession
import pytest
import requests
from ambient_samples import START, samples
from client import BUCKET
from emulator import LINKS, run, running, wait_until
from listen_client import SPEECH, voice
from namespaces import AllianceClient, Access, EkaClient, OmiDevice, access, ambient_client, control, created, listener
from session_client import recording
from websocket_driver import Socket

FLAGS = ("--ephemeral", "--long-poll", "1h", "--object-wait", "50ms", "--suki-shortest", "0s")
NOW = "2031-03-05T08:00:00Z"
#: Members with machine time, a signature or a credential.
OWN = LINKS | {
    "AccessKeyId", "SecretKey", "SessionToken", "Expiration", "expires_at", "policy", "x-amz-credential", "x-amz-date",
    "x-amz-security-token", "x-amz-signature", "access_token", "refresh_token", "suki_token", "device_code", "user_code",
    "url", "token",
}
MEMBER = re.compile(r'"(%s)":("(?:[^"\\]|\\.)*"|[-0-9.]+)' % "|".join(sorted(OWN)))
#: Header fields that differ for the same reasons.
FIELDS = {"date", "set-cookie"}


class Recorder(threading.local):
    """What one thread's clients were answered. Its clients' own identifiers are numbers."""

    def __init__(self):
        self.answers, self.made = None, 0

    def add(self, *answer):
        if self.answers is not None:
            self.answers.append(answer)


RECORDER = Recorder()


@pytest.fixture(scope="module", autouse=True)
def recorded():
    """Every client of this process is recorded: those of `requests`, boto3, and sockets."""
    adapter, boto, unique = requests.adapters.HTTPAdapter.send, botocore.httpsession.URLLib3Session.send, uuid.uuid4

    def sent(self, request, **options):
        answer = adapter(self, request, **options)
        RECORDER.add(request.method, request.path_url.split("?")[0], answer.status_code, dict(answer.headers), answer.content)
        return answer

    def sent_by_boto(self, request):
        answer = boto(self, request)
        RECORDER.add(request.method, request.url.split("?")[0], answer.status_code, dict(answer.headers), answer.content)
        return answer

    def numbered():
        if RECORDER.answers is None:
            return unique()
        RECORDER.made += 1
        return uuid.UUID(int=RECORDER.made, version=4)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(requests.adapters.HTTPAdapter, "send", sent)
        patch.setattr(botocore.httpsession.URLLib3Session, "send", sent_by_boto)
        patch.setattr(uuid, "uuid4", numbered)
        yield


def heard(socket: Socket):
    """Records the messages of a socket."""
    receive = socket.socket.recv

    def received(**options):
        message = receive(**options)
        RECORDER.add("socket", message)
        return message

    socket.socket.recv = received
    return socket


def plain(text: str, inside: Access, port: int) -> str:
    """Without the values that each answer has for itself, and without names of this namespace and server."""
    text = MEMBER.sub(r'"\1":', text)
    for name, sign in [(inside.client, "CLIENT"), (inside.partner, "PARTNER"), (inside.name, "NS"), (f":{port}", ":PORT")]:
        text = text.replace(name, sign)
    # Links are signed.
    return re.sub(r'https?://[^"<\s\\]*', "LINK", text)


def comparable(answer: tuple, inside: Access, port: int) -> list:
    if answer[0] == "socket":
        return ["socket", plain(str(answer[1]), inside, port)]
    method, path, status, headers, content = answer
    fields = {name.lower(): value for name, value in headers.items() if name.lower() not in FIELDS}
    # Of a body with a token.
    if MEMBER.search(content.decode("latin-1")) or b"http" in content:
        fields.pop("content-length", None), fields.pop("etag", None)
    shown = plain(json.dumps([method, re.sub(r"/(content|audio)/[^/]+$", r"/\1/TICKET", path), status, fields]), inside, port)
    return [shown, plain(content.decode("latin-1"), inside, port)]


class Run:
    """A visit of each family, one request after another."""

    def __init__(self, server, inside: Access):
        self.server, self.inside, self.answers = server, inside, []

    @contextlib.contextmanager
    def recording(self):
        RECORDER.answers, RECORDER.made = [], len(self.answers) * 1000
        try:
            yield
        finally:
            port = self.server.port
            self.answers += [comparable(each, self.inside, port) for each in RECORDER.answers]
            RECORDER.answers = None

    def done(self):
        """Waits for work in the background, by calls that are not recorded: what a poll sees depends on it."""
        answers, RECORDER.answers = RECORDER.answers, None
        query = {"namespace": self.inside.name}
        wait_until(
            lambda: control(self.server, "GET", "info", params=query).json()["counts"]["jobs"] == 0, "nothing is left to do")
        RECORDER.answers = answers

    def first(self):
        """Transactions, uploads, documents, templates, and live recognition."""
        with self.recording():
            client = EkaClient(self.inside)
            transaction = client.transaction("visit")
            transaction.folder = "260101/visit"
            assert transaction.init(["transcript_template", "soap"]).status_code == 201
            s3 = client.s3()
            s3.put_object(Bucket=BUCKET, Key=f"{transaction.folder}/1.wav", Body=recording(4))
            parts = {"Bucket": BUCKET, "Key": f"{transaction.folder}/2.wav"}
            upload = s3.create_multipart_upload(**parts)["UploadId"]
            part = s3.upload_part(**parts, UploadId=upload, PartNumber=1, Body=recording(3, 2))
            s3.complete_multipart_upload(
                **parts, UploadId=upload, MultipartUpload={"Parts": [{"ETag": part["ETag"], "PartNumber": 1}]})
            transaction.uploaded += ["1.wav", "2.wav"]
            assert transaction.stop().status_code == transaction.commit().status_code == 200
            self.done()
            assert transaction.poll().status_code == 200
            for path in (
                "transaction/history", "transaction/visit", "config", "transaction/history?count=1",
            ):
                client.get(f"/voice/api/v2/{path}")
            for path in ("/voice/api/v1/sessions/visit", "/voice/api/v1/documents?session_id=visit", "/voice/api/v1/template"):
                client.get(path)
            call = client.session.post
            section = call(
                f"{client.base_url}/voice/api/v1/template/section", json={"title": "A", "desc": "B", "format": "P"}).json()
            call(f"{client.base_url}/voice/api/v1/template", json={
                "title": "T", "desc": "D", "section_ids": [section["section_id"]]})
            call(f"{client.base_url}/voice/api/v1/documents", json={
                "session_id": "visit", "document_name": "N", "markdown_data": "M"})
            call(f"{client.base_url}/voice/api/v1/transaction/visit/feedback", json={
                "entity": "content", "ratingFeedback": {"min_rating": 0, "max_rating": 1, "rating": 1}})
            call(f"{client.base_url}/v1/file-upload?action=ekascribe-v2")
            call(f"{client.base_url}/voice/api/v2/transaction/init/visit", json={})
            client.get("/voice/api/v2/transaction/nobody")
            with heard(listener(self.inside, "endpointing=300")) as socket:
                socket.send(SPEECH, "CloseStream")
                socket.end()
            requests.post(
                f"{self.inside.base_url}/v1/listen", voice(2), params={"encoding": "linear16", "sample_rate": 16000},
                headers={"Authorization": f"Token {self.inside.key}"}).raise_for_status()

    def second(self):
        """Protocol sessions, ambient sessions, and devices."""
        with self.recording():
            client = AllianceClient(self.inside)
            session = client.create(templates=["soap"])["session_id"]
            client.upload(session, 1, recording(2))
            client.end(session, 1)
            self.done()
            client.results(session)
            made = client.create(upload_type="stream", templates=["soap"])
            client.send(made["upload_url"], recording(4)[44:])
            client.end(made["session_id"], 0)
            self.done()
            client.results(made["session_id"])
            ambient = ambient_client(self.inside)
            ambient.initialize()
            session = ambient.create_session()
            with ambient.start(session, START) as stream:
                stream.audio(samples(5))
                stream.finish()
            ambient.end(session)
            self.done()
            ambient.status(session)
            ambient.content(session)
            ambient.transcript(session)
            ambient.recordings(session)
            with heard(OmiDevice(self.inside)) as device:
                device.ready()
                device.say("I have had a fever for three days", start=0, end=2)
                device.until(1)
                device.call("POST", "/v1/conversations")
                self.done()
                device.conversations()
                device.call("POST", "/v3/memories", json={"content": "walks each day"})
                device.call("GET", "/v3/memories")


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with running(tmp_path_factory.mktemp("seeded"), *FLAGS) as server:
        yield server


def frozen(server, name: str = "default"):
    control(server, "PUT", "clock", params={"namespace": name}, json={"mode": "frozen", "now": NOW}).raise_for_status()


def seeded(server, value="42") -> Access:
    answer = control(server, "POST", "namespaces", json={"seed_value": value})
    assert answer.status_code == 201 and answer.json()["seed_value"] == str(value), answer.text
    frozen(server, answer.json()["name"])
    return access(server, answer.json(), "credentials")


def whole(server, inside: Access) -> list:
    run = Run(server, inside)
    run.first()
    run.second()
    return run.answers


def same(one: list, other: list):
    assert len(one) == len(other)
    assert [pair for pair in zip(one, other, strict=True) if pair[0] != pair[1]] == []


def test_two_namespaces_at_once_and_one_after_a_reset_answer_with_the_same_bytes(server):
    both = [seeded(server, 42), seeded(server, "42")]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        one, other = pool.map(lambda inside: whole(server, inside), both)
    assert len(one) > 50
    same(one, other)
    control(server, "POST", "reset", params={"namespace": both[0].name}).raise_for_status()
    frozen(server, both[0].name)
    same(whole(server, both[0]), one)
    others = whole(server, seeded(server, "43"))
    assert len(others) == len(one) and others != one


def test_a_snapshot_keeps_the_counts_of_identifiers(server, tmp_path):
    inside = seeded(server)
    query = {"namespace": inside.name}
    before = Run(server, inside)
    before.first()
    control(server, "PUT", "snapshots/half", params=query).raise_for_status()
    exported = control(server, "GET", "snapshots/half/content", params=query).content
    before.answers = []
    before.second()
    control(server, "POST", "snapshots/half/restore", params=query).raise_for_status()
    frozen(server, inside.name)
    after = Run(server, inside)
    after.second()
    same(after.answers, before.answers)
    # In another namespace, and by way of a file.
    other = seeded(server)
    control(
        server, "PUT", "snapshots/half/content", params={"namespace": other.name}, data=exported,
        headers={"Content-Type": "application/octet-stream"}).raise_for_status()
    control(server, "POST", "snapshots/half/restore", params={"namespace": other.name}).raise_for_status()
    frozen(server, other.name)
    elsewhere = Run(server, other)
    elsewhere.second()
    same(elsewhere.answers, before.answers)


def test_two_servers_with_a_seed_value_answer_with_the_same_bytes(tmp_path):
    runs = []
    for number in range(2):
        folder = tmp_path / str(number)
        folder.mkdir()
        with running(folder, *FLAGS, "--seed-value", "a-b") as server:
            frozen(server)
            runs.append(whole(server, Access(server.base_url)))
            # A new namespace has the server's seed value, unless it names another one.
            assert created(server)["seed_value"] == "a-b"
            assert control(server, "POST", "namespaces", json={"seed_value": -7}).json()["seed_value"] == "-7"
    same(*runs)


def test_credentials_never_come_from_the_seed_value(server):
    made = [control(server, "POST", "namespaces", json={"seed_value": "42"}).json() for _ in range(2)]
    seen = []
    for namespace in made:
        inside = access(server, namespace, "credentials")
        client = EkaClient(inside)
        device = client.session.post(f"{client.base_url}/connect-auth/v1/device/code", json={}).json()
        keys = client.keys()
        links = client.session.post(f"{client.base_url}/voice/v1/sessions", json={"upload_type": "stream"}).json()
        seen.append([
            namespace["client_secret"], namespace["api_key"], client.tokens["access_token"], client.tokens["refresh_token"],
            device["device_code"], device["user_code"], keys["AccessKeyId"], keys["SecretKey"], keys["SessionToken"],
            links["upload_url"],
        ])
        assert links["session_id"]
    assert all(one != other for one, other in zip(*seen, strict=True))


@pytest.mark.parametrize("value", ["", "a b", "é", "x" * 65, "a\u0000", None, True, 1.5, ["a"], {}, 10**30])
def test_what_is_no_seed_value_is_refused(server, value):
    answer = control(server, "POST", "namespaces", json={"seed_value": value})
    assert answer.status_code == 400 and "seed_value" in answer.text, answer.text


@pytest.mark.parametrize("verb", [("serve", "--port", "0"), ("config", "check")])
def test_a_data_folder_refuses_a_seed_value(tmp_path, verb):
    result = run(*verb, "--data-dir", str(tmp_path / "data"), "--seed-value", "42")
    assert result.returncode == 1 and "add --ephemeral" in result.stderr + result.stdout, result
    assert not (tmp_path / "data").exists()
    assert run(*verb, "--ephemeral", "--seed-value", "a b").returncode != 0
