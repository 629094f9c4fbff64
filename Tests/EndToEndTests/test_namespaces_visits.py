"""A whole visit of each family in a namespace, by each way to reach it. The visit is invisible elsewhere."""

import uuid

import pytest
import requests
from ambient_samples import START, samples
from client import BUCKET
from emulator import LONG
from listen_client import SPEECH, environment, results, voice
from namespaces import (
    HEADER, WAYS, Access, AllianceClient, EkaClient, OmiDevice, access, ambient_client, control, counts, created,
    finished, followed, links, listener,
)
from session_client import form_of, recording, send
from suki_client import session_path
from websockets.sync.client import connect


@pytest.fixture(scope="module")
def server(served):
    server = served(*LONG)
    # It is to have no data after each test.
    control(server, "POST", "reset").raise_for_status()
    return server


@pytest.fixture(scope="module")
def elsewhere(server):
    """Access to the default world and to another namespace."""
    made = created(server)
    return [Access(server.base_url), access(server, made, "prefix"), access(server, made, "credentials")]


@pytest.fixture(params=WAYS)
def inside(request, server, elsewhere):
    """Access to a new namespace. Afterwards neither the default world nor the other namespace has any data."""
    yield access(server, created(server), request.param)
    for other in elsewhere:
        assert set(counts(server, other.name).values()) == {0}


def test_a_transaction_with_uploads_by_boto3_and_by_form(inside, elsewhere):
    client = EkaClient(inside)
    transaction = client.transaction()
    assert transaction.init(["transcript_template", "soap"]).status_code == 201
    audio = recording(4)
    client.s3().put_object(Bucket=BUCKET, Key=f"{transaction.folder}/1.wav", Body=audio)
    transaction.uploaded.append("1.wav")
    # The form names the namespace itself: a page sends it without any header of ours.
    form = followed(
        client, f"/voice/api/v1/sessions/{transaction.id}?presigned=true", inside.base_url)["data"]["upload_url"]
    answer = requests.post(
        form["uploadData"]["url"], form["uploadData"]["fields"],
        files={"file": ("2.wav", recording(3, 2), "audio/wav")})
    assert answer.status_code == 204, answer.text
    transaction.uploaded.append("2.wav")
    assert transaction.stop().status_code == transaction.commit().status_code == 200
    data = finished(transaction)
    assert [document["status"] for document in data["output"]] == ["success", "success"]
    # Links to documents need neither token nor header.
    details = followed(client, f"/voice/api/v1/sessions/{transaction.id}?presigned=true", inside.base_url)["data"]
    reads = [link for link in links(details) if "/documents/content/" in link and requests.get(link).status_code == 200]
    assert reads, details
    for path in (f"/voice/api/v2/transaction/{transaction.id}", f"/voice/api/v1/documents?session_id={transaction.id}"):
        followed(client, path, inside.base_url)
    assert client.history() == [transaction.id]
    listed = client.s3().list_objects_v2(Bucket=BUCKET, Prefix=transaction.folder)["Contents"]
    assert [item["Key"].rsplit("/", 1)[1] for item in listed] == ["1.wav", "2.wav"]
    for other in map(EkaClient, elsewhere):
        assert other.history() == []
        assert other.get(f"/voice/api/v2/transaction/{transaction.id}").status_code in (400, 404)
        assert other.s3().list_objects_v2(Bucket=BUCKET)["KeyCount"] == 0
        assert BUCKET not in [bucket["Name"] for bucket in other.s3().list_buckets()["Buckets"]]


def test_a_whole_file_by_its_form(inside, elsewhere):
    client, identifier = EkaClient(inside), f"i-{uuid.uuid4()}"
    answer = client.session.post(f"{inside.base_url}/v1/file-upload?txn_id={identifier}&action=ekascribe-v2")
    form = answer.json()["uploadData"]
    assert form["url"].startswith(inside.base_url) and ("/ns/" in form["url"]) == ("/ns/" in inside.base_url)
    answer = requests.post(form["url"], form["fields"], files={"file": ("1.wav", recording(2), "audio/wav")})
    assert answer.status_code == 204, answer.text
    [bucket] = [bucket["Name"] for bucket in client.s3().list_buckets()["Buckets"]]
    [stored] = client.s3().list_objects_v2(Bucket=bucket)["Contents"]
    assert (
        stored["Key"] == form["fields"]["key"].replace("${filename}", "1.wav")
        and stored["Size"] == len(recording(2)))
    for other in map(EkaClient, elsewhere):
        assert other.s3().list_objects_v2(Bucket=bucket)["KeyCount"] == 0


def test_a_protocol_session_with_an_upload_form(inside, elsewhere):
    client = AllianceClient(inside)
    assert client.base == f"{inside.base_url}/voice/v1"
    session, form = form_of(client)
    assert form["url"].startswith(inside.base_url)
    assert send(form, "1.wav", recording(2)).status_code == 204
    client.upload(session, 2, recording(2, 2))
    client.end(session, 2)
    found = client.results(session)
    assert found["status"] == "completed" and found["audio_files"] == ["1.wav", "2.wav"] and found["transcript"]
    [link] = links(client.call("GET", f"/sessions/{session}/audio", (200,)).json())
    assert link.startswith(inside.base_url) and ("/ns/" in link) == ("/ns/" in inside.base_url)
    assert requests.get(link).status_code == 200
    for other in map(AllianceClient, elsewhere):
        other.call("GET", f"/sessions/{session}", (404,))


def test_a_protocol_session_over_its_socket(inside, elsewhere):
    client = AllianceClient(inside)
    made = client.create(upload_type="stream", templates=["soap"])
    session, url = made["session_id"], made["upload_url"]
    assert url.startswith(f"{inside.socket_url}/voice/v1/stream/")
    # Without any header: the link alone chooses the namespace.
    client.send(url, recording(4)[44:])
    client.end(session, 0)
    found = client.results(session)
    assert found["status"] == "completed" and found["audio_files"] == ["1.wav"]
    for other in map(AllianceClient, elsewhere):
        other.call("GET", f"/sessions/{session}", (404,))


@pytest.mark.parametrize("headers", [True, False], ids=["by headers", "by subprotocols"])
def test_an_ambient_session(inside, elsewhere, headers):
    client = ambient_client(inside)
    client.initialize()
    session = client.create_session()
    pcm = samples(5)
    with client.start(session, START, headers=headers) as stream:
        stream.audio(pcm)
        stream.finish()
    client.end(session)
    assert client.wait(session) == "completed"
    assert client.content(session) and client.transcript(session)
    [found] = client.recordings(session)
    link = found.presigned_url
    assert link.startswith(inside.base_url) and ("/ns/" in link) == ("/ns/" in inside.base_url)
    assert requests.get(link).content[44:] == pcm
    for other in map(ambient_client, elsewhere):
        other.initialize()
        other.call("GET", session_path(session, "status"), expected=404)


def test_live_recognition(inside, server):
    with listener(inside, "endpointing=300") as socket:
        socket.send(SPEECH, "CloseStream")
        messages = socket.end()
    assert results(messages, final=True) and messages[-1]["type"] == "Metadata"
    headers = {"Authorization": f"Token {inside.key}", **inside.headers}
    query = {"encoding": "linear16", "sample_rate": 16000}
    answer = requests.post(f"{inside.base_url}/v1/listen", voice(2), params=query, headers=headers)
    assert answer.status_code == 200 and answer.json()["results"]["channels"][0]["alternatives"][0]["transcript"]
    # A token that the key's owner lends names the namespace as the key does.
    granted = requests.post(
        f"{inside.base_url}/v1/auth/grant", json={"ttl_seconds": 60}, headers=headers).json()["access_token"]
    bearer = {"Authorization": f"Bearer {granted}"}
    answer = requests.post(f"{inside.base_url}/v1/listen", voice(2), params=query, headers={**bearer, **inside.headers})
    assert answer.status_code == 200
    with connect(f"{inside.socket_url}/v1/listen?encoding=linear16&sample_rate=16000", subprotocols=["bearer", granted],
                 additional_headers=inside.headers) as socket:
        assert socket.subprotocol == "bearer"


def test_live_recognition_of_a_transaction_is_kept_with_it(inside, elsewhere):
    client = EkaClient(inside)
    transaction = client.transaction()
    assert transaction.init(["transcript_template"]).status_code == 201
    with listener(inside, f"endpointing=300&txn_id={transaction.id}") as socket:
        socket.send(SPEECH, "CloseStream")
        assert results(socket.end(), final=True)
    listed = client.s3().list_objects_v2(Bucket=BUCKET, Prefix=transaction.folder)
    assert listed["KeyCount"] == 1, "the audio of the stream"
    for other in map(EkaClient, elsewhere):
        assert other.history() == []


def test_the_deepgram_sdk_takes_the_prefix_in_its_environment(server):
    from deepgram import DeepgramClient

    made = created(server)
    inside = access(server, made, "prefix")
    for key in (inside.key, made["api_key"]):
        client = DeepgramClient(api_key=key, environment=environment(inside))
        with client.listen.v1.connect(model="nova-3", encoding="linear16", sample_rate="16000") as connection:
            connection.send_media(SPEECH)
            connection.send_close_stream()
            assert connection.recv().type == "Results"
        answer = client.listen.v1.media.transcribe_file(request=recording(2), model="nova-3")
        assert answer.results.channels
        assert client.auth.v1.tokens.grant().expires_in == 30


@pytest.mark.parametrize("path", ["/v4/listen", "/v4/web/listen"])
def test_a_conversation_of_a_device(inside, elsewhere, path):
    with OmiDevice(inside, path=path) as device:
        device.say("I have had a fever for three days.", "I am allergic to penicillin.")
        assert len(device.until(2)) == 2
        [conversation] = device.conversations()
        assert device.call("POST", "/v1/conversations").status_code == 200
        assert [memory["content"] for memory in device.call("GET", "/v3/memories").json()] == ["Allergic to penicillin"]
    for other in elsewhere:
        user = OmiDevice.headers_of(other)
        statuses = {"statuses": "in_progress,processing,completed"}
        for rows in ("/v1/conversations", "/v3/memories"):
            assert requests.get(other.base_url + rows, headers=user, params=statuses).json() == []
        assert requests.get(f"{other.base_url}/v1/conversations/{conversation['id']}", headers=user).status_code == 404


def test_the_header_chooses_for_sockets_and_uploads_as_for_calls(server):
    """With the demo client, whose own key and token name no namespace."""
    inside = access(server, created(server), "header")
    assert inside.headers[HEADER] and inside.key == Access(server.base_url).key
    client = EkaClient(inside)
    s3 = client.s3()
    s3.meta.events.register("before-send.s3", lambda request, **_: request.headers.update(inside.headers))
    s3.put_object(Bucket="by-header", Key="a", Body=b"x")
    assert s3.list_objects_v2(Bucket="by-header")["KeyCount"] == 1
    assert EkaClient(Access(server.base_url)).s3().list_objects_v2(Bucket="by-header")["KeyCount"] == 0
