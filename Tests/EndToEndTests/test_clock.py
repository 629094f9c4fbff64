"""The clock of a namespace: frozen, moved, advanced; and real clients that live through time."""

import contextlib
import datetime
import http.server
import json
import threading

import botocore.exceptions
import pytest
import requests
import tls
import websockets
from client import BUCKET
from emulator import LONG, PATIENCE, run, running, wait_until
from listen_client import SPEECH, results, silence, voice
from namespaces import (
    Access, AllianceClient, EkaClient, OmiDevice, access, ambient_client, control, counts, created, finished, listener,
)
from session_client import form_of, recording, send
from test_python_sdk import Ekacare
from websockets.sync.client import connect

YEARS = ["1980-01-01T00:00:00Z", "2030-06-01T00:00:00Z", "2090-12-31T23:59:59Z"]


@pytest.fixture(scope="module")
def server(served):
    return served(*LONG)


@pytest.fixture
def inside(server):
    return access(server, created(server), "credentials")


def clock(server, inside, method="GET", path="clock", **body) -> requests.Response:
    return control(
        server, method, path, params={"namespace": inside.name}, **({"json": body} if method != "GET" else {}))


def put(server, inside, **body) -> dict:
    answer = clock(server, inside, "PUT", **body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def advanced(server, inside, **body) -> dict:
    answer = clock(server, inside, "POST", "clock/advance", **body)
    assert answer.status_code == 200 and answer.json()["is_done"], answer.text
    return answer.json()


def instant(text: str) -> datetime.datetime:
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


class Receiver(http.server.ThreadingHTTPServer):
    """Notes what it is told, and answers with a status."""

    def __init__(self, status: int):
        self.heard = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                self.server.heard.append((dict(self.headers), body))
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server_address[1]}/"


@contextlib.contextmanager
def receiver(status=200):
    server = Receiver(status)
    try:
        yield server
    finally:
        server.shutdown()


def test_a_clock_can_be_frozen_moved_and_set_back_to_the_machines_time(server, inside):
    machine = clock(server, inside).json()
    assert machine["mode"] == "system"
    frozen = put(server, inside, mode="frozen", now="2030-01-01T00:00:00Z")
    assert (frozen["mode"], frozen["now"]) == ("frozen", "2030-01-01T00:00:00.000Z")
    assert clock(server, inside).json()["now"] == frozen["now"]
    client = EkaClient(inside)
    assert client.transaction("then").init().status_code == 201
    assert client.get("/voice/api/v2/transaction/history").json()["data"][0]["created_at"].startswith(
        "2030-01-01T00:00:00")
    assert advanced(server, inside, by="36h")["now"] == "2030-01-02T12:00:00.000Z"
    assert advanced(server, inside, by="P1DT1H")["now"] == "2030-01-03T13:00:00.000Z"
    assert advanced(server, inside, to="2030-02-01T00:00:00Z")["now"] == "2030-02-01T00:00:00.000Z"
    going = put(server, inside, mode="running")
    assert going["mode"] == "moved" and going["now"].startswith("2030-02-01T00:0")
    assert put(server, inside, mode="moved", now="1980-01-01T00:00:00Z")["now"].startswith("1980-01-01")
    assert put(server, inside, mode="system")["mode"] == "system"
    assert abs(
        instant(clock(server, inside).json()["now"]) - instant(clock(server, inside).json()["machine"])
    ) < datetime.timedelta(minutes=1)


def test_a_year_of_an_empty_namespace_has_no_steps(server, inside):
    assert advanced(server, inside, by="365d")["steps"] <= 5
    assert advanced(server, inside, until="idle")["steps"] <= 5


# With a clock that stood at the millisecond itself, sums of times came out later than it, and nothing was due.
@pytest.mark.parametrize("milliseconds", [2, 5, 9, 12, 25, 38, 51, 58, 999])
def test_what_is_due_at_a_millisecond_is_done_at_it(server, inside, milliseconds):
    with receiver(500) as hooked:
        put(server, inside, mode="frozen", now=f"2026-11-27T00:00:00.{milliseconds:03}Z")
        client, sessions = EkaClient(inside), AllianceClient(inside)
        client.session.post(
            f"{inside.base_url}/voice/v1/webhooks",
            json={"url": hooked.url, "events": ["session.started"], "secret": "key"}).raise_for_status()
        transaction = client.transaction("slow")
        assert transaction.init(patient_details={"visit_id": "fixture:slow"}).status_code == 201
        client.s3().put_object(Bucket=BUCKET, Key=f"{transaction.folder}/1.wav", Body=recording(1))
        transaction.uploaded.append("1.wav")
        transaction.stop()
        transaction.commit()
        session = sessions.create()["session_id"]
        advanced(server, inside, by="10s")
        # Of two sessions, twice each.
        assert len(hooked.heard) == 4
        advanced(server, inside, by="10s")
        assert transaction.poll(dlp="true").status_code == 200
        advanced(server, inside, by="3580s")
        sessions.call("GET", f"/sessions/{session}", (410,))


def test_a_held_poll_ends_when_the_clock_passes_its_limit(server, inside):
    client, answers = EkaClient(inside), []
    put(server, inside, mode="frozen")
    client.transaction("held").init()
    poll = threading.Thread(target=lambda: answers.append(client.transaction("held").poll()))
    poll.start()
    wait_until(
        lambda: any(each["what"] == "held poll" for each in clock(server, inside).json()["waiting"]),
        "the poll is held")
    [waiting] = [each for each in clock(server, inside).json()["waiting"] if each["what"] == "held poll"]
    shown = run("clock", "show", "--url", server.base_url, "--namespace", inside.name)
    assert f"held poll  due {waiting['due']}  clock advance {waiting['advance']}" in shown.stdout
    advanced(server, inside, by=waiting["advance"])
    poll.join(PATIENCE)
    assert answers[0].status_code == 202


def test_a_webhook_is_retried_over_days_to_its_end(server, inside):
    client = EkaClient(inside)
    put(server, inside, mode="frozen")
    with receiver(500) as hooked:
        answer = client.session.post(
            f"{inside.base_url}/voice/v1/webhooks",
            json={"url": hooked.url, "events": ["session.started"], "secret": "key"})
        assert answer.status_code == 201, answer.text
        AllianceClient(inside).create()
        done = advanced(server, inside, until="idle")
        # After three days the last attempt is not sent any more.
        assert len(hooked.heard) == 4 and done["steps"] >= 4
        failed = control(
            server, "GET", "deliveries", params={"namespace": inside.name, "state": "failed"}).json()["deliveries"]
        assert len(failed) == 1 and failed[0]["attempts"] == 5


def test_a_session_expires_and_its_webhook_is_sent(server, inside):
    client = EkaClient(inside)
    with receiver() as hooked:
        client.session.post(
            f"{inside.base_url}/voice/v1/webhooks",
            json={"url": hooked.url, "events": ["session.expired"], "secret": "key"}).raise_for_status()
        session = AllianceClient(inside).create()["session_id"]
        advanced(server, inside, by="2d")
        assert len(hooked.heard) == 1 and session in hooked.heard[0][1].decode()


@pytest.mark.covers("M-57", "M-77")
def test_audio_keeps_a_session_open_for_hours_and_three_hours_after_the_last_of_it_end_it(server, inside):
    put(server, inside, mode="frozen", now="2030-01-01T00:00:00Z")
    with receiver() as hooked:
        client = AllianceClient(inside)
        client.session.post(
            f"{inside.base_url}/voice/v1/webhooks",
            json={"url": hooked.url, "events": ["session.expired"], "secret": "key"}).raise_for_status()
        ended, expired = client.create()["session_id"], client.create()["session_id"]
        form_session, form = form_of(client)
        for number in range(3):
            for session in (ended, expired):
                client.upload(session, number, recording(1, number))
                answer = client.call("GET", f"/sessions/{session}", (202,)).json()
                refused_at = instant(clock(server, inside).json()["now"]) + datetime.timedelta(hours=3)
                assert instant(answer["expires_at"]) == refused_at
            advanced(server, inside, by="55m")
        # What has no audio ends after its hour. A form of the beginning is valid for three hours.
        assert client.call("GET", f"/sessions/{form_session}", (410,)).json()["status"] == "expired"
        assert send(form, "0.wav", recording(1)).status_code == 403
        client.end(ended, 3)
        assert client.results(ended)["audio_files"] == ["0.wav", "1.wav", "2.wav"]
        assert [json.loads(body)["session_id"] for _, body in hooked.heard] == [form_session]
        advanced(server, inside, by="125m")
        assert client.results(expired)["status"] == "expired"
        client.call("POST", f"/sessions/{expired}/end", (410,), json={"audio_files_sent": 3})
        wait_until(lambda: len(hooked.heard) == 2, "its end is told")


@pytest.mark.covers("M-57")
def test_a_stream_goes_on_for_hours_while_messages_come(server, inside):
    put(server, inside, mode="frozen", now="2030-01-01T00:00:00Z")
    client = AllianceClient(inside)
    created_session = client.create(upload_type="stream")
    session = created_session["session_id"]

    def expiry():
        return client.call("GET", f"/sessions/{session}", (202,)).json()["expires_at"]

    with connect(created_session["upload_url"], max_size=None, open_timeout=PATIENCE) as socket:
        for number in range(3):
            before = expiry()
            socket.send(recording(1, number)[44:])
            wait_until(lambda: expiry() > before, "the message has moved the end")
            advanced(server, inside, by="55m")
        socket.send(json.dumps({"event": "stop"}))
        with pytest.raises(websockets.exceptions.ConnectionClosedOK):
            socket.recv(timeout=PATIENCE)
    # The link is valid as long as its session is open.
    client.send(created_session["upload_url"], recording(1)[44:])
    client.end(session, 0)
    assert client.results(session)["status"] == "completed"
    assert counts(server, inside.name)["object_bytes"] >= 4 * 32_000


def test_a_conversation_ends_in_silence(server, inside):
    with OmiDevice(inside) as device:
        device.say("I have had a cough for three days.")
        device.until(1)
        advanced(server, inside, by="10m")
        wait_until(lambda: device.conversations("completed"), "the conversation has ended")


def test_words_of_one_stream_in_a_second_conversation_count_from_its_beginning(server, inside):
    put(server, inside, mode="frozen")
    with OmiDevice(inside, query="codec=pcm16&sample_rate=16000") as device:
        device.send(voice(3), silence(1))
        device.until(1)
        assert device.segments[0]["start"] == 0
        first = device.conversations("in_progress")[0]["id"]
        advanced(server, inside, by="3s")
        assert device.call("POST", "/v1/conversations").json()["conversation"]["id"] == first
        known = len(device.segments)
        device.send(voice(3), silence(1))
        device.until(known + 1)
        # Its audio begins at 4 s of the stream, and the conversation 3 s after the stream.
        assert device.segments[known]["start"] == pytest.approx(1, abs=0.3)


def test_a_token_expires_and_is_renewed(server, inside):
    client = EkaClient(inside)
    assert client.get("/voice/api/v2/transaction/history").status_code == 200
    advanced(server, inside, by="2d")
    assert client.get("/voice/api/v2/transaction/history").status_code == 401
    body = {"refresh_token": client.tokens["refresh_token"]}
    renewed = client.session.post(f"{inside.base_url}/connect-auth/v1/account/refresh-token", json=body)
    assert renewed.status_code == 200, renewed.text
    client.session.headers["Authorization"] = f"Bearer {renewed.json()['access_token']}"
    assert client.history() == [] and EkaClient(inside).history() == []


def test_the_python_sdk_renews_its_token(server):
    """Its hosts are compiled in: the credentials choose the namespace."""
    inside = access(server, created(server), "credentials")
    sdk = Ekacare(
        tls.environment(server), client_id=inside.client, client_secret=inside.secret, base_url=server.base_url)
    try:
        tokens = sdk.call("auth.login")
        sdk.call("set_access_token", token=tokens["access_token"])
        assert sdk.call("files.get_upload_location", txn_id="before")["folderPath"]
        advanced(server, inside, by="2d")
        expired = requests.get(
            f"{server.base_url}/voice/api/v2/transaction/history", timeout=PATIENCE,
            headers={"Authorization": f"Bearer {tokens['access_token']}"})
        assert expired.status_code == 401
        renewed = sdk.call("auth.refresh_token", refresh_token=tokens["refresh_token"])
        assert renewed["access_token"] != tokens["access_token"]
        sdk.call("set_access_token", token=renewed["access_token"])
        assert sdk.call("files.get_upload_location", txn_id="after")["folderPath"]
    finally:
        sdk.process.stdin.close()
        sdk.process.wait(timeout=PATIENCE)
        sdk.process.stdout.close()


def test_s3_credentials_expire_in_the_middle_of_an_upload(server, inside):
    client, where = EkaClient(inside), {"Bucket": BUCKET, "Key": "parts"}
    s3 = client.s3()
    upload = s3.create_multipart_upload(**where)["UploadId"]
    part = s3.upload_part(**where, UploadId=upload, PartNumber=1, Body=b"x" * 1000)
    advanced(server, inside, by="13h")
    with pytest.raises(botocore.exceptions.ClientError) as expired:
        s3.upload_part(**where, UploadId=upload, PartNumber=2, Body=b"y")
    assert expired.value.response["Error"]["Code"] == "ExpiredToken"
    fresh = EkaClient(inside).s3()
    fresh.complete_multipart_upload(
        **where, UploadId=upload, MultipartUpload={"Parts": [{"PartNumber": 1, "ETag": part["ETag"]}]})
    assert fresh.get_object(**where)["Body"].read() == b"x" * 1000


@pytest.mark.parametrize("mode", ["moved", "frozen"])
@pytest.mark.parametrize("year", YEARS)
def test_fresh_logins_uploads_and_webhooks_are_valid_at_any_time(server, inside, year, mode):
    put(server, inside, mode=mode, now=year)
    with receiver() as hooked:
        client = EkaClient(inside)
        # EkaScribe: login, chunk, results.
        transaction = client.transaction("visit")
        assert transaction.init().status_code == 201
        s3 = client.s3()
        s3.put_object(Bucket=BUCKET, Key=f"{transaction.folder}/1.wav", Body=recording(2))
        transaction.uploaded.append("1.wav")
        assert transaction.stop().status_code == transaction.commit().status_code == 200
        assert finished(transaction)["output"]
        # S3: a link, and a part of an upload.
        link = s3.generate_presigned_url("get_object", {"Bucket": BUCKET, "Key": f"{transaction.folder}/1.wav"})
        assert requests.get(link, timeout=PATIENCE).status_code == 200
        # The session protocol: form, upload, webhook.
        client.session.post(
            f"{inside.base_url}/voice/v1/webhooks",
            json={"url": hooked.url, "events": ["session.started"], "secret": "key"}).raise_for_status()
        alliance = AllianceClient(inside)
        _, form = form_of(alliance)
        assert send(form, "1.wav", recording(2)).status_code in (200, 201, 204)
        wait_until(lambda: hooked.heard, "the webhook is told")
        # Suki: login, visit.
        ambient = ambient_client(inside)
        ambient.initialize()
        assert ambient.create_session()
        # Deepgram: key, words.
        with listener(inside, "endpointing=300") as socket:
            socket.send(SPEECH, "CloseStream")
            assert results(socket.end())
        # Omi: token, words.
        with OmiDevice(inside) as device:
            device.say("hello")
            assert device.until(1) == ["hello"]


def test_the_clock_of_a_data_folder_needs_the_permission_and_is_not_stored(served, tmp_path):
    folder = ("--data-dir", str(tmp_path / "data"))
    default = Access("")
    server = served("--data-dir", "data")
    for method, path, body in [
        ("PUT", "clock", {"mode": "frozen"}), ("POST", "clock/advance", {"by": "1h"}),
        ("PUT", "clock", {"mode": "system"}),
    ]:
        answer = clock(server, default, method, path, **body)
        assert answer.status_code == 409 and answer.json()["code"] == "clock_not_allowed"
    assert clock(server, default).json()["mode"] == "system"
    with running(tmp_path, *folder, "--allow-reset") as server:
        client = EkaClient(Access(server.base_url))
        client.s3().put_object(Bucket="kept", Key="a", Body=b"x")
        client.s3().create_multipart_upload(Bucket="kept", Key="going")
        advanced(server, default, by="365d")
        assert clock(server, default).json()["mode"] == "moved"
        fresh = EkaClient(Access(server.base_url)).s3()
        assert fresh.get_object(Bucket="kept", Key="a")["Body"].read() == b"x"
    with running(tmp_path, *folder, "--allow-reset") as server:
        assert clock(server, default).json()["mode"] == "system"
        s3 = EkaClient(Access(server.base_url)).s3()
        assert [each["Key"] for each in s3.list_multipart_uploads(Bucket="kept")["Uploads"]] == ["going"]
        put(server, default, mode="frozen", now="2030-01-01T00:00:00Z")
        assert control(server, "POST", "reset").status_code == 200
        assert clock(server, default).json()["mode"] == "system"


@pytest.mark.parametrize("method, path, body", [
    ("PUT", "clock", {}), ("PUT", "clock", {"mode": "stopped"}), ("PUT", "clock", {"mode": "moved"}),
    ("PUT", "clock", {"mode": "system", "now": "2030-01-01T00:00:00Z"}),
    ("PUT", "clock", {"mode": "frozen", "now": "soon"}),
    ("PUT", "clock", {"mode": "frozen", "now": "1969-12-31T23:59:59Z"}), ("PUT", "clock", {"mode": "frozen", "now": 7}),
    ("PUT", "clock", {"mode": "frozen", "now": "99999-01-01T00:00:00Z"}), ("PUT", "clock", {"mode": "frozen", "x": 1}),
    ("POST", "clock/advance", {}), ("POST", "clock/advance", {"by": "-1h"}), ("POST", "clock/advance", {"by": 60}),
    ("POST", "clock/advance", {"by": "1h", "to": "2090-01-01T00:00:00Z"}), ("POST", "clock/advance", {"by": "1e9d"}),
    ("POST", "clock/advance", {"by": "99999999d"}), ("POST", "clock/advance", {"to": "1980-01-01T00:00:00Z"}),
    ("POST", "clock/advance", {"until": "never"}), ("POST", "clock/advance", {"by": "1h", "timeout": "1d"}),
    ("POST", "clock/advance", {"by": "P"}), ("POST", "clock/advance", {"by": "PT"}),
    ("POST", "clock/advance", {"by": "."}),
])
def test_invalid_calls_do_not_move_the_clock(server, inside, method, path, body):
    put(server, inside, mode="frozen", now="2030-01-01T00:00:00Z")
    answer = clock(server, inside, method, path, **body)
    assert answer.status_code == 400 and answer.headers["Content-Type"] == "application/problem+json", answer.text
    assert clock(server, inside).json()["now"] == "2030-01-01T00:00:00.000Z"


def test_the_clock_verbs_have_the_same_effect_as_the_http_calls(server, inside):
    here = ("--url", server.base_url, "--namespace", inside.name)
    assert run("clock", "freeze", "2030-01-01T00:00:00Z", *here).stdout.startswith("2030-01-01T00:00:00.000Z  frozen")
    assert json.loads(run("clock", "advance", "1h", "--json", *here).stdout)["now"] == "2030-01-01T01:00:00.000Z"
    assert run("clock", "advance", "idle", *here).returncode == 0
    assert run("clock", "set", "2031-01-01T00:00:00Z", *here).stdout.startswith("2031-01-01T00:0")
    assert "  system" in run("clock", "set", "system", *here).stdout
    refused = run("clock", "advance", "soon", *here)
    assert refused.returncode == 1 and "must be a duration" in refused.stderr
