"""Faults as real clients see them that were told of none: boto3, the Python SDK, the Deepgram SDK, and a page in Chromium."""

import hashlib
import hmac
import threading

import boto3
import botocore.config
import botocore.exceptions
import pytest
import requests
import tls
from chromium import browse, serving
from client import BUCKET
from emulator import PATIENCE, TLS, run, running, wait_until
from listen_client import SPEECH, environment
from namespaces import AllianceClient, EkaClient, OmiDevice, access, ambient_client, control, created, finished, listener
from session_client import recording
from test_python_sdk import Ekacare, SDKError
from webhooks import KEY, Receiver
from websockets.exceptions import ConnectionClosed, InvalidStatus

FLAGS = ("--ephemeral", "--object-wait", "50ms", "--suki-shortest", "0s", "--webhook-pauses", "50ms,50ms", *TLS)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with running(tmp_path_factory.mktemp("faults"), *FLAGS) as server:
        yield server


@pytest.fixture
def inside(server):
    return access(server, created(server), "credentials")


def fail(server, inside, kind="faults", **rule) -> dict:
    answer = control(server, "POST", kind, params={"namespace": inside.name}, json=rule)
    assert answer.status_code == 201, answer.text
    return answer.json()


def applied(server, inside) -> list[int]:
    listed = control(server, "GET", "faults", params={"namespace": inside.name}).json()["faults"]
    return [rule["applied"] for rule in listed]


def s3(client: EkaClient, attempts: int):
    keys = client.keys()
    return boto3.client(
        "s3", endpoint_url=client.base_url, region_name="ap-south-1", aws_access_key_id=keys["AccessKeyId"],
        aws_secret_access_key=keys["SecretKey"], aws_session_token=keys["SessionToken"], verify=client.access.verify,
        config=botocore.config.Config(
            retries={"mode": "standard", "total_max_attempts": attempts}, s3={"addressing_style": "path"}))


def keys_of(client: EkaClient) -> list[str]:
    return [each["Key"] for each in client.s3().list_objects_v2(Bucket=BUCKET).get("Contents", [])]


MOMENTS = [
    {"when": "before", "status": 503}, {"when": "before", "connection": "reset"}, {"when": "after", "status": 503},
    {"when": "after", "connection": "reset"}, {"when": "after", "connection": "half"},
]
moments = pytest.mark.parametrize("moment", MOMENTS, ids=lambda moment: "-".join(map(str, moment.values())))


def tried(call):
    """The answer, or the error of a connection that broke."""
    try:
        return call()
    except requests.exceptions.RequestException as error:
        return error


@moments
def test_init_and_commit_are_tried_again_and_happen_once(server, inside, moment):
    client = EkaClient(inside)
    transaction = client.transaction("i-1")
    fail(server, inside, "faults/next", operation="initTransaction", **moment)
    first = tried(transaction.init)
    assert not isinstance(first, requests.Response) or first.status_code == 503
    assert client.history() == ([] if moment["when"] == "before" else ["i-1"])
    assert transaction.init().status_code in (200, 201)
    assert client.history() == ["i-1"]
    client.s3().put_object(Bucket=BUCKET, Key=f"{transaction.folder}/1.wav", Body=recording(3))
    transaction.uploaded.append("1.wav")
    assert transaction.stop().status_code == 200
    fail(server, inside, "faults/next", operation="commitTransaction", **moment)
    tried(transaction.commit)
    state = control(server, "GET", "transactions/i-1", params={"namespace": inside.name}).json()["user_status"]
    assert state == ("stopped" if moment["when"] == "before" else "commit")
    assert transaction.commit().status_code == 200
    assert [document["status"] for document in finished(transaction)["output"]] == ["success"]
    assert applied(server, inside) == [1, 1]


@pytest.mark.parametrize("moment", MOMENTS[:4], ids=lambda moment: "-".join(map(str, moment.values())))
def test_boto3_tries_a_chunk_and_the_last_part_again(server, inside, moment):
    client = EkaClient(inside)
    once, storage = s3(client, 1), s3(client, 3)
    fail(server, inside, "faults/next", operation="PutObject", **moment)
    with pytest.raises((botocore.exceptions.ClientError, botocore.exceptions.HTTPClientError)):
        once.put_object(Bucket=BUCKET, Key="f/1.wav", Body=b"one")
    assert keys_of(client) == ([] if moment["when"] == "before" else ["f/1.wav"])
    fail(server, inside, "faults/next", operation="PutObject", **moment)
    storage.put_object(Bucket=BUCKET, Key="f/1.wav", Body=b"one")
    place = {"Bucket": BUCKET, "Key": "f/2.wav"}
    upload = storage.create_multipart_upload(**place)["UploadId"]
    fail(server, inside, operation="UploadPart", nth=2, **moment)
    pieces = [b"a" * 5_242_880, b"b" * 100]
    parts = [storage.upload_part(**place, UploadId=upload, PartNumber=n + 1, Body=piece) for n, piece in enumerate(pieces)]
    # After it the upload is gone, for AWS's clients too.
    fail(server, inside, "faults/next", operation="CompleteMultipartUpload", **{**moment, "when": "before"})
    listed = [{"ETag": part["ETag"], "PartNumber": n + 1} for n, part in enumerate(parts)]
    storage.complete_multipart_upload(**place, UploadId=upload, MultipartUpload={"Parts": listed})
    assert storage.get_object(**place)["Body"].read() == b"".join(pieces)
    assert keys_of(client) == ["f/1.wav", "f/2.wav"]
    assert set(applied(server, inside)) == {1}


@moments
def test_a_refresh_is_tried_again(server, inside, moment):
    client = EkaClient(inside)
    fail(server, inside, "faults/next", operation="refreshToken", **moment)
    body = {"refresh_token": client.tokens["refresh_token"]}

    def refresh():
        return client.session.post(f"{client.base_url}/connect-auth/v1/account/refresh-token", json=body, timeout=PATIENCE)

    tried(refresh)
    assert refresh().status_code == 200, "the answer may have been lost"
    assert applied(server, inside) == [1]


def test_boto3_learns_the_code_of_s3(server, inside):
    client = EkaClient(inside)
    for code, status in [("SlowDown", 503), ("AccessDenied", 403), ("RequestTimeTooSkewed", 403), ("NoSuchUpload", 404)]:
        fail(server, inside, "faults/next", operation="PutObject", code=code)
        with pytest.raises(botocore.exceptions.ClientError) as error:
            s3(client, 1).put_object(Bucket=BUCKET, Key="k", Body=b"x")
        assert error.value.response["Error"]["Code"] == code
        assert error.value.response["ResponseMetadata"]["HTTPStatusCode"] == status


@pytest.mark.parametrize("encrypted", [False, True], ids=["plain", "TLS"])
@pytest.mark.parametrize("fault", ["reset", "hang", "half", "dribble"])
def test_connections_break_as_networks_break_them(server, inside, fault, encrypted):
    rate = {"rate": 20_000} if fault == "dribble" else {}
    fail(server, inside, path="/voice/api/v2/config", connection=fault, **rate)
    client = EkaClient(inside)
    url = f"https://localhost:{server.tls_port}" if encrypted else client.base_url
    get = lambda: client.session.get(  # noqa: E731
        f"{url}/voice/api/v2/config", timeout=3 if fault == "hang" else PATIENCE, verify=server.authority)
    if fault == "dribble":
        assert get().json()["data"]
    elif fault == "hang":
        with pytest.raises(requests.exceptions.ReadTimeout):
            get()
    else:
        with pytest.raises((requests.exceptions.ConnectionError, requests.exceptions.ChunkedEncodingError)):
            get()
    assert requests.get(f"{server.base_url}/livez", timeout=PATIENCE).status_code == 200


def test_the_python_sdk_gets_the_vendors_error(server, tmp_path):
    sdk = Ekacare(
        tls.environment(server, tmp_path / "hosts"), client_id="dev-client", client_secret="dev-secret",
        base_url=server.base_url)
    tokens = sdk.call("auth.login")
    sdk.call("set_access_token", token=tokens["access_token"])
    for rule in [{"status": 503, "code": "down"}, {"connection": "reset"}]:
        control(server, "POST", "faults/next", json={"path": "*/file-upload", **rule}).raise_for_status()
        with pytest.raises(SDKError, match="503|down|Connection"):
            sdk.call("files.get_upload_location", txn_id="t-1")
    assert sdk.call("files.get_upload_location", txn_id="t-1")["folderPath"]


def test_the_deepgram_sdk_loses_its_socket_its_results_and_its_upgrade(server, inside):
    from deepgram import DeepgramClient
    from deepgram.core.api_error import ApiError
    from deepgram.core.events import EventType

    client = DeepgramClient(api_key=inside.key, environment=environment(server))

    def heard() -> tuple[list, list]:
        messages, errors, ended = [], [], threading.Event()
        with client.listen.v1.connect(model="nova-3", encoding="linear16", sample_rate="16000", endpointing="300") as connection:
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

    fail(server, inside, "faults/next", operation="openListenSocket", results="missing", messages='*"type":"Results"*')
    assert set(heard()[0]) == {"Metadata"}
    fail(server, inside, "faults/next", operation="openListenSocket", results="doubled", messages='*"type":"Metadata"*')
    assert heard()[0][-2:] == ["Metadata", "Metadata"]
    fail(server, inside, "faults/next", operation="openListenSocket", after_received=1)
    messages, errors = heard()
    assert "Metadata" not in messages and errors
    fail(server, inside, "faults/next", operation="openListenSocket", results="late", delay="50ms")
    assert heard()[0][-1] == "Metadata"
    fail(server, inside, "faults/next", operation="openListenSocket", status=503)
    with pytest.raises((ApiError, InvalidStatus), match="503"):
        heard()


def test_sockets_close_with_any_code(server, inside):
    fail(server, inside, "faults/next", operation="openListenSocket", after_sent=1, close=1011, reason="NET-0000")
    with listener(inside, "interim_results=true") as socket:
        socket.send(SPEECH)
        socket.end()
        assert len(socket.messages) == 1 and socket.close_frame == (1011, "NET-0000")
    fail(server, inside, "faults/next", operation="openDeviceSocket", after_sent=0, close=4001)
    with OmiDevice(inside) as device:
        assert device.end() == (4001, "")
    fail(server, inside, "faults/next", operation="openDeviceSocket", after_sent=2)
    with OmiDevice(inside) as device:
        device.receive_all()
        assert len(device.texts) == 2 and device.socket.protocol.close_rcvd is None
    fail(server, inside, "faults/next", operation="openDeviceSocket", status=403)
    with pytest.raises(InvalidStatus) as refusal:
        OmiDevice(inside)
    assert refusal.value.response.status_code == 403


def test_a_page_sees_the_error_the_delay_and_the_loss(server, tmp_path):
    for rule in [
        # A browser asks again by itself when a connection that it uses again is reset.
        {"status": 503, "retry_after": 2, "times": 1}, {"connection": "reset", "times": 2},
        {"body": {"odd": [1]}, "times": 1}, {"connection": "half"},
    ]:
        control(server, "POST", "faults", json={"operation": "readConfig", **rule}).raise_for_status()
    page = f"""<script>(async () => {{
        const seen = [];
        for (let i = 0; i < 4; i++) {{
            try {{
                const answer = await fetch("{server.base_url}/voice/api/v2/config");
                seen.push([answer.status, await answer.text()]);
            }} catch (error) {{ seen.push([0, error.name]); }}
        }}
        await fetch("/", {{method: "POST", body: JSON.stringify(seen)}});
    }})();</script>"""
    with serving({"/": page.encode()}) as (port, posted):
        seen = browse(f"http://localhost:{port}/", tmp_path / "profile", posted)
    control(server, "DELETE", "faults").raise_for_status()
    assert seen[0][0] == 503 and seen[1] == [0, "TypeError"] and seen[2] == [200, '{"odd":[1]}'], seen
    assert seen[3] == [0, "TypeError"], seen


def test_each_family_has_its_own_error(server, inside):
    eka, alliance, ambient = EkaClient(inside), AllianceClient(inside), ambient_client(inside)
    ambient.initialize()
    headers = OmiDevice.headers_of(inside)
    fail(server, inside, path="*", status=409, code="on_purpose")
    root = inside.base_url
    got = {
        "eka": eka.get("/voice/api/v2/transaction/history"),
        "session": alliance.session.post(f"{root}/voice/v1/sessions", json={}),
        "suki": requests.get(f"{root}/api/v1/ambient/session/x/status", headers={"sdp_suki_token": ambient.sdp_suki_token}),
        "omi": requests.get(f"{root}/v1/conversations", headers=headers),
        "listen": requests.post(f"{root}/v1/listen", headers={"Authorization": f"Token {inside.key}"}),
    }
    assert {answer.status_code for answer in got.values()} == {409}
    assert {answer.headers["X-Scribe-Fault-Applied"] for answer in got.values()} == {"fault-1"}
    assert got["eka"].json()["error"]["code"] == "on_purpose" and got["session"].json()["error"]["code"] == "on_purpose"
    assert "on_purpose" in got["suki"].text and got["listen"].json()["err_code"] == "on_purpose"
    assert set(got["omi"].json()) == {"detail"}
    assert requests.get(f"{root}/livez", timeout=PATIENCE).status_code == 200


@pytest.mark.parametrize("rule, statuses", [
    ({"operation": "transcription", "fail": "transcription_failed"}, {"failure"}), ({"operation": "note", "fail": "note_failed"}, {"success", "failure"}),
    ({"operation": "transcription", "empty": True}, {"failure"}), ({"operation": "note", "empty": True}, {"success"}),
])
def test_results_fail_or_are_empty(server, inside, rule, statuses):
    fail(server, inside, "faults/next", **rule)
    client = EkaClient(inside)
    for number in range(2):
        transaction = client.transaction(f"i-{number}")
        transaction.init(["transcript_template", "soap"])
        client.s3().put_object(Bucket=BUCKET, Key=f"{transaction.folder}/1.wav", Body=recording(3))
        transaction.uploaded.append("1.wav")
        transaction.stop()
        transaction.commit()
        control(server, "POST", f"transactions/i-{number}/wait", params={"namespace": inside.name}).raise_for_status()
        state = control(server, "GET", f"transactions/i-{number}", params={"namespace": inside.name}).json()
        expected = statuses if number == 0 else {"success"}
        assert {document["status"] for document in state["documents"]} == expected, state


def test_late_results_are_due_by_the_namespaces_clock(server, inside):
    fail(server, inside, "faults/next", operation="transcription", delay="2h")
    control(server, "PUT", "clock", params={"namespace": inside.name}, json={"mode": "frozen"}).raise_for_status()
    client = EkaClient(inside)
    transaction = client.transaction("late")
    transaction.init()
    client.s3().put_object(Bucket=BUCKET, Key=f"{transaction.folder}/1.wav", Body=recording(3))
    transaction.uploaded.append("1.wav")
    transaction.stop()
    transaction.commit()
    query = {"namespace": inside.name}
    state = control(server, "POST", "clock/advance", params=query, json={"by": "1h"})
    assert state.json()["is_done"], state.text
    assert not control(server, "GET", "transactions/late", params=query).json()["is_final"]
    control(server, "POST", "clock/advance", params=query, json={"by": "61m"}).raise_for_status()
    assert control(server, "GET", "transactions/late", params=query).json()["is_final"]


def test_webhooks_come_twice_out_of_order_and_with_a_wrong_signature(server, inside):
    client = AllianceClient(inside)
    with Receiver() as receiver:
        answer = client.session.post(f"{client.base}/webhooks", json={
            "url": f"{receiver.url}/ok", "secret": KEY, "events": ["session.started", "session.ended", "session.completed"]})
        assert answer.status_code in (200, 201), answer.text

        def visit() -> str:
            session = client.create(templates=["soap"])["session_id"]
            client.upload(session, 1, recording(2))
            client.end(session, 1)
            client.results(session)
            return session

        def names(session: str) -> list[str]:
            return [name for of, name in receiver.heard["/ok"] if of == session]

        fail(server, inside, "faults/next", operation="webhook", event="session.ended", twice=True)
        first = visit()
        wait_until(lambda: "session.completed" in names(first), "all events have come")
        assert names(first).count("session.ended") == 2
        fail(server, inside, "faults/next", operation="webhook", event="session.ended", out_of_order=True)
        second = visit()
        wait_until(lambda: len(set(names(second))) == len(set(names(first))), "all events have come")
        order = names(second)
        assert order.index("session.completed") < order.index("session.ended"), order


def test_a_wrong_signature_is_seen(server, inside):
    client = AllianceClient(inside)
    client.session.post(f"{client.base}/webhooks", json={"url": "inbox", "secret": KEY, "events": ["session.completed"]})
    fail(server, inside, "faults/next", operation="webhook", wrong_signature=True)
    query = {"namespace": inside.name}
    for number in range(2):
        output = run(
            "trigger", "session.completed", "--transaction", f"t-{number}", "--url", server.base_url, "--namespace", inside.name)
        assert output.returncode == 0 and "deliveries: " in output.stdout, output
        identifier = output.stdout.split(": ")[1].strip()
        wait_until(
            lambda: control(server, "GET", f"deliveries/{identifier}", params=query).json()["state"] == "delivered", "it is sent")
        shown = control(server, "GET", f"deliveries/{identifier}", params=query).json()
        headers = {name.lower(): value for name, value in shown["message"]["headers"].items()}
        message = shown["message"]["body"].encode()
        parts = dict(part.split("=") for part in headers["x-msa-signature"].split(","))
        right = hmac.new(KEY.encode(), f"{parts['t']}.".encode() + message, hashlib.sha256).hexdigest()
        assert (right == parts["v1"]) == (number == 1)


def test_the_verbs_add_list_and_clear_rules(server, inside):
    where = ("--url", server.base_url, "--namespace", inside.name)
    added = run("fault", "add", "operation=initTransaction", "status=500", "retry-after=3", "times=2", *where)
    assert (added.returncode, added.stdout) == (0, "added: fault-1\n"), added
    assert run("fault", "next", "path=/voice/*", "delay=1s..2s", *where).returncode == 0
    listed = run("fault", "list", *where)
    assert "operation=initTransaction" in listed.stdout and "delay=1s..2s" in listed.stdout, listed.stdout
    wrong = run("fault", "add", "operation=initTransacton", "status=500", *where)
    assert wrong.returncode == 1 and "initTransaction" in wrong.stderr, wrong
    assert run("fault", "add", "status", *where).returncode == 2
    assert run("fault", "clear", "fault-1", *where).stdout == "removed: fault-1\n"
    assert run("fault", "clear", *where).returncode == 0
    assert run("fault", "list", *where).stdout == "no fault rules\n"
