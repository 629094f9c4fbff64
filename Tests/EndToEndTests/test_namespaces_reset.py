"""A reset and a deletion of a namespace: what goes, what stays, and what happens to requests on their way."""

import select
import socket
import threading

import botocore.exceptions
import pytest
import requests
from ambient_samples import START, samples
from client import BUCKET
from emulator import LONG, PATIENCE, wait_until
from listen_client import SPEECH, Listener, results
from namespaces import (
    WAYS, Access, AllianceClient, EkaClient, OmiDevice, access, ambient_client, control, counts, created, links,
    listener,
)
from session_client import form_of, recording, send
from suki_client import session_path
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

#: In seconds: less than the server would hold a poll or a socket.
SOON = PATIENCE
NOTHING = {"jobs": 0, "objects": 0, "object_bytes": 0, "webhooks": 0}


@pytest.fixture(scope="module")
def server(served):
    server = served(*LONG)
    # Tests count what the default world has.
    control(server, "POST", "reset").raise_for_status()
    return server


@pytest.fixture(scope="module")
def others(server):
    """Another namespace and the default world, with data and S3 clients."""
    clients = [EkaClient(access(server, created(server), "prefix")), EkaClient(Access(server.base_url))]
    for client in clients:
        client.transaction("stays").init()
    objects = [client.s3() for client in clients]
    for s3 in objects:
        s3.put_object(Bucket="stays", Key="a", Body=b"x")
    return clients, objects


@pytest.fixture
def unchanged(others):
    """After the test the other worlds are as before."""
    yield
    clients, objects = others
    assert [client.history() for client in clients] == [["stays"]] * 2
    for s3 in objects:
        assert s3.get_object(Bucket="stays", Key="a")["Body"].read() == b"x"
        assert [bucket["Name"] for bucket in s3.list_buckets()["Buckets"]] == ["stays"]


@pytest.fixture(params=WAYS)
def inside(request, server, unchanged):
    """Access to a new namespace, beside worlds that must stay as they are."""
    return access(server, created(server), request.param)


def reset(server, inside: Access) -> int:
    answer = control(server, "POST", "reset", params={"namespace": inside.name})
    assert answer.status_code == 200 and answer.json()["namespace"] == inside.name, answer.text
    return answer.json()["state"]


def deleted(server, inside: Access) -> int:
    answer = control(server, "DELETE", f"namespaces/{inside.name}")
    assert answer.status_code == 204, answer.text
    return 0


def refusal(call, *arguments, **options) -> str:
    """The code of S3's error."""
    with pytest.raises(botocore.exceptions.ClientError) as refused:
        call(*arguments, **options)
    return refused.value.response["Error"]["Code"]


def test_a_reset_removes_data_and_keeps_tokens(inside, server):
    client, where = EkaClient(inside), {"Bucket": BUCKET, "Key": "260510/visit/1.wav"}
    s3 = client.s3()
    client.transaction("visit").init()
    s3.put_object(**where, Body=recording(1))
    template = client.session.post(
        f"{inside.base_url}/voice/api/v1/template", json={"title": "Mine", "desc": "x", "section_ids": ["plan"]})
    assert template.status_code == 201, template.text
    alliance, ambient = AllianceClient(inside), ambient_client(inside)
    session = alliance.create()["session_id"]
    ambient.initialize()
    visit = ambient.create_session()
    with OmiDevice(inside) as device:
        device.say("I have a cough.")
        device.until(1)
        assert len(device.conversations()) == 1
    wait_until(lambda: counts(server, inside.name)["objects"], "the upload is counted")
    before = control(server, "GET", f"namespaces/{inside.name}").json()
    assert reset(server, inside) == before["state"] + 1 == 2
    after = control(server, "GET", f"namespaces/{inside.name}").json()
    assert {**after, "last_used_at": 0} == {**before, "last_used_at": 0, "state": 2}
    assert counts(server, inside.name) == NOTHING
    # The same tokens, in a namespace without any data.
    assert client.history() == [] and client.get("/voice/api/v3/status/visit").status_code in (400, 404)
    assert "Mine" not in client.get("/voice/api/v1/template").text
    alliance.call("GET", f"/sessions/{session}", (404,))
    assert device.conversations("in_progress,processing,completed") == []
    for call in (s3.get_object, s3.head_object):
        assert refusal(call, **where) in ("ExpiredToken", "400")
    assert client.s3().list_objects_v2(Bucket=BUCKET)["KeyCount"] == 0
    # The same names are free again.
    assert client.transaction("visit").init().status_code == 201 and client.history() == ["visit"]
    # Old secrets still log in.
    assert EkaClient(inside).history() == ["visit"]
    ambient.call("GET", session_path(visit, "status"), expected=404)
    assert ambient.status(ambient.create_session()) == "created"
    assert alliance.create()["session_id"]
    with listener(inside, "endpointing=300") as socket:
        socket.send(SPEECH, "CloseStream")
        assert results(socket.end())


def test_a_reset_expires_older_credentials_forms_and_links(inside, server):
    client, where = EkaClient(inside), {"Bucket": BUCKET, "Key": "a"}
    s3 = client.s3()
    s3.put_object(**where, Body=b"x")
    upload = {**where, "UploadId": s3.create_multipart_upload(**where)["UploadId"]}
    get, put = (s3.generate_presigned_url(call, where) for call in ("get_object", "put_object"))
    alliance = AllianceClient(inside)
    _, form = form_of(alliance)
    stream = alliance.create(upload_type="stream")["upload_url"]
    transaction = client.transaction("visit")
    transaction.init()
    client.session.post(f"{inside.base_url}/voice/api/v1/documents", json={
        "session_id": "visit", "document_name": "Remarks", "markdown_data": "secret remarks"})
    details = client.get("/voice/api/v1/sessions/visit?presigned=true").json()
    documents = [link for link in links(details) if "/documents/content/" in link]
    assert any(requests.get(link).status_code == 200 for link in documents)
    reset(server, inside)
    calls = [
        lambda: s3.get_object(**where), lambda: s3.put_object(**where, Body=b"late"), s3.list_buckets,
        lambda: s3.list_objects_v2(Bucket=BUCKET), lambda: s3.delete_object(**where),
        lambda: s3.create_multipart_upload(**where),
        lambda: s3.upload_part(**upload, PartNumber=1, Body=b"late"), lambda: s3.list_parts(**upload),
    ]
    assert [refusal(call) for call in calls] == ["ExpiredToken"] * len(calls)
    for answer in (requests.get(get), requests.put(put, data=b"late"), send(form, "1.wav", recording(1))):
        assert answer.status_code == 400 and "<Code>ExpiredToken</Code>" in answer.text, answer.text
    for link in documents:
        answers = requests.get(link), requests.put(link, data="late")
        assert all(400 <= answer.status_code < 500 and "remarks" not in answer.text for answer in answers)
    with pytest.raises(InvalidStatus) as refused:
        connect(stream)
    assert 400 <= refused.value.response.status_code < 500
    assert counts(server, inside.name) == NOTHING


@pytest.mark.parametrize("end", [reset, deleted])
def test_a_reset_or_deletion_answers_held_polls_at_once(server, end, unchanged):
    made, answers, polls = created(server), [], []
    for way in WAYS:
        transaction = EkaClient(access(server, made, way)).transaction(way)
        transaction.init()
        polls.append(threading.Thread(target=lambda poll=transaction.poll: answers.append(poll())))
        polls[-1].start()
    wait_until(lambda: server.metric("scribe_held_polls") == len(polls), "the polls are held")
    end(server, access(server, made, "prefix"))
    for poll in polls:
        poll.join(SOON)
    assert [answer.json()["error"]["code"] for answer in answers] == ["transaction_not_found"] * len(WAYS), answers


@pytest.mark.parametrize("end", [reset, deleted])
def test_a_reset_or_deletion_closes_sockets_with_1012(inside, server, end):
    alliance, ambient = AllianceClient(inside), ambient_client(inside)
    ambient.initialize()
    stream = Listener(None, address=alliance.create(upload_type="stream")["upload_url"], additional_headers={})
    live, device = listener(inside), OmiDevice(inside).ready()
    visit = ambient.start(ambient.create_session(), START)
    visit.audio(samples(1))
    live.send(SPEECH)
    stream.socket.send(recording(1)[44:])
    page = OmiDevice(Access(f"{server.base_url}/ns/{inside.name}"), path="/v4/web/listen")
    open_sockets = {"live": live, "session": stream, "device": device, "ambient": visit, "page": page}
    end(server, inside)
    codes = {}
    for name, each in open_sockets.items():
        try:
            while True:
                each.socket.recv(timeout=SOON)
        except ConnectionClosed as closed:
            codes[name] = closed.rcvd and closed.rcvd.code
        except TimeoutError:
            codes[name] = "open"
    assert codes == dict.fromkeys(open_sockets, 1012)
    if end is reset:
        assert counts(server, inside.name) == NOTHING


class HalfUpload:
    """An upload whose body is sent in halves."""

    def __init__(self, server, request: requests.PreparedRequest):
        self.connection = socket.create_connection(("127.0.0.1", server.port), timeout=SOON)
        body = request.body
        self.rest = body[len(body) // 2 :]
        path = request.path_url
        headers = {
            **request.headers, "Host": f"127.0.0.1:{server.port}", "Content-Length": str(len(body)),
            "Expect": "100-continue"}
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        self.connection.sendall(f"{request.method} {path} HTTP/1.1\r\n{lines}\r\n".encode())
        # The server has begun to read it.
        assert self.connection.recv(1000).startswith(b"HTTP/1.1 100 ")
        self.connection.sendall(body[: len(body) // 2])

    def is_answered(self) -> bool:
        """Whether the server has answered or closed the connection."""
        return bool(select.select([self.connection], [], [], 0)[0])

    def finish(self) -> int | None:
        """Sends the rest. Returns the status, or None for a connection that was closed without an answer."""
        with self.connection:
            try:
                self.connection.sendall(self.rest)
                answer = self.connection.recv(4000)
            except ConnectionError:
                return None
        return int(answer.split(b" ")[1]) if answer else None


def upload_request(inside: Access, kind: str, name: str) -> requests.PreparedRequest:
    """An upload of audio, by each of the ways that store it."""
    client, audio = EkaClient(inside), recording(4)
    if kind == "presigned":
        url = client.s3().generate_presigned_url("put_object", {"Bucket": BUCKET, "Key": f"late/{name}"})
        return requests.Request("PUT", url, data=audio).prepare()
    if kind == "form":
        form = client.session.post(f"{inside.base_url}/v1/file-upload?txn_id={name}").json()["uploadData"]
        return requests.Request(
            "POST", form["url"], data=form["fields"], files={"file": ("1.wav", audio, "audio/wav")}).prepare()
    if kind == "session":
        alliance = AllianceClient(inside)
        path = f"{alliance.base}/sessions/{alliance.create()['session_id']}/audio/1.wav"
        return requests.Request(
            "POST", path, headers={**alliance.session.headers, "Content-Type": "audio/wav"}, data=audio).prepare()
    path = f"{inside.base_url}/voice/upload?txnid={name}"
    return requests.Request(
        "POST", path, headers=dict(client.session.headers), files={"file": ("a.wav", audio)}).prepare()


KINDS = ["presigned", "form", "session", "file"]


def test_a_form_keeps_the_namespace_that_only_its_token_names_in_use(server, unchanged):
    made = created(server)
    upload = HalfUpload(server, upload_request(access(server, made, "credentials"), "form", "kept"))

    def last_used():
        return control(server, "GET", f"namespaces/{made['name']}").json()["last_used_at"]

    before = last_used()
    wait_until(lambda: last_used() > before, "the namespace is in use")
    assert not upload.is_answered()
    assert upload.finish() == 204


@pytest.mark.parametrize("end", [reset, deleted])
def test_uploads_that_end_after_a_reset_or_deletion_are_not_stored(inside, server, end):
    """The first half of a body comes before the end of the namespace's state, the second half right after it."""
    for kind in KINDS:
        assert HalfUpload(server, upload_request(inside, kind, "in-time")).finish() in (200, 204), (
            "it lands without a reset")
    assert counts(server, inside.name)["objects"] == len(KINDS)
    late = [HalfUpload(server, upload_request(inside, kind, "late")) for kind in KINDS]
    end(server, inside)
    for upload in late:
        upload.finish()
    if end is deleted:
        # Made again, the name has nothing of them either.
        created(server, inside.name)
    assert counts(server, inside.name) == NOTHING


def test_uploads_that_end_long_after_a_reset_or_deletion_fail(server, unchanged):
    late = {}
    for end in (reset, deleted):
        inside = access(server, created(server), "prefix")
        late |= {(end, kind): HalfUpload(server, upload_request(inside, kind, "late")) for kind in KINDS}
        end(server, inside)
    # Requests have 2 s to end.
    wait_until(lambda: all(upload.is_answered() for upload in late.values()), "the server has ended them")
    statuses = {case: upload.finish() for case, upload in late.items()}
    assert all(status is None or status >= 400 for status in statuses.values()), statuses
