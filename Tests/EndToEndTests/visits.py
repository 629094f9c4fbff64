"""A visit of each API family, recorded: what was sent and answered."""

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
from emulator import LINKS, wait_until
from listen_client import SPEECH, voice
from namespaces import AllianceClient, Access, EkaClient, OmiDevice, ambient_client, control, listener
from session_client import recording
from websocket_driver import Socket

#: Members with machine time, a signature or a credential.
OWN = LINKS | {
    "AccessKeyId", "SecretKey", "SessionToken", "Expiration", "expires_at", "policy", "x-amz-credential", "x-amz-date",
    "x-amz-security-token", "x-amz-signature", "access_token", "refresh_token", "suki_token", "device_code",
    "user_code", "url", "token",
}
MEMBER = re.compile(r'"(%s)":("(?:[^"\\]|\\.)*"|[-0-9.]+)' % "|".join(sorted(OWN)))
#: Header fields that differ for the same reasons.
FIELDS = {"date", "set-cookie"}


class Recorder(threading.local):
    """What one thread's clients were answered. Its clients' own identifiers are numbers."""

    def __init__(self):
        self.answers, self.made = None, 0
        #: URL, fields and body of each request, fields and body of its answer.
        self.exchanges = []

    def note(self, request, answer):
        if self.answers is not None:
            self.exchanges.append(
                (request.url, dict(request.headers), request.body, dict(answer.headers), answer.content))

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
        if RECORDER.answers is None:
            # It may be a stream without an end.
            return answer
        RECORDER.note(request, answer)
        RECORDER.add(
            request.method, request.path_url.split("?")[0], answer.status_code, dict(answer.headers), answer.content)
        return answer

    def sent_by_boto(self, request):
        answer = boto(self, request)
        if RECORDER.answers is None:
            return answer
        RECORDER.note(request, answer)
        RECORDER.add(
            request.method, request.url.split("?")[0], answer.status_code, dict(answer.headers), answer.content)
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
    for name, sign in [
        (inside.client, "CLIENT"), (inside.partner, "PARTNER"), (inside.name, "NS"), (f":{port}", ":PORT")
    ]:
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
    shown = plain(
        json.dumps([method, re.sub(r"/(content|audio)/[^/]+$", r"/\1/TICKET", path), status, fields]), inside, port)
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
            lambda: control(self.server, "GET", "info", params=query).json()["counts"]["jobs"] == 0,
            "nothing is left to do")
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
            for path in (
                "/voice/api/v1/sessions/visit", "/voice/api/v1/documents?session_id=visit", "/voice/api/v1/template"
            ):
                client.get(path)
            call = client.session.post
            section = call(
                f"{client.base_url}/voice/api/v1/template/section",
                json={"title": "A", "desc": "B", "format": "P"}).json()
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
