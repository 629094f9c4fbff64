"""Sessions of the session protocol over the wire: the clients' sequences, uploads and refusals."""

import concurrent.futures
import contextlib
import random

import pytest
import requests
import yaml
from balancer import INCLUDED, SHIPPED, SHIPPED_LINES, StagingProxy
from emulator import LIMITED, LOGGING, NAMED, ROOT, wait_until
from namespaces import AllianceClient, access, control, created
from session_client import SessionClient, form_of, recording, send
from suki_client import SukiClient
from tls import trusting
from websockets.sync.client import connect


@pytest.mark.covers("M-24", "M-30", "M-37", "M-45", "M-51")
def test_the_python_sdks_sequence(server):
    client = SessionClient(server.base_url)
    session = client.create(templates=["soap"], language_hint=["auto_detect"])["session_id"]
    for index in range(11):
        client.upload(session, index, recording(1, index))
    client.end(session, 11)
    results = client.results(session)
    assert results["status"] == "completed" and results["transcript"]
    assert results["audio_files"] == [f"{index}.wav" for index in range(11)]
    made = client.call("POST", f"/sessions/{session}/process/template/soap", (200, 202)).json()
    assert made["document_id"] in str(client.results(session)["templates"])
    patched = client.call("PATCH", f"/sessions/{session}", (200,), json={"additional_data": {"a": 1}}).json()
    assert patched["session_id"] == session
    ended = client.call("POST", f"/sessions/{session}/end", (400,), json={"audio_files_sent": 11}).json()
    assert ended["error"]["code"] == "session_ended"


@pytest.mark.covers("M-17", "M-18", "M-34", "M-35", "M-38")
def test_the_web_sdks_sequence(server):
    """Discovery, create with a flavour, presigned forms without a token, end with both counters, poll."""
    client = SessionClient(server.base_url)
    client.session.headers.update({"flavour": "ekascribe-web", "client-id": "web"})
    body = {"upload_type": "chunked", "templates": ["clinical_notes_template"], "model": "pro", "language_hint": ["en"]}
    created = client.call("POST", "/sessions?version=v2", (201,), json=body).json()
    link = created["upload_url"]
    assert created["storage_provider"] == "aws" and link["txn_id"] == created["session_id"]
    for number in (1, 2):
        if number == 2:
            # After a failed upload it asks for a fresh form.
            link = client.call("GET", f"/sessions/{created['session_id']}?version=v2", (202,)).json()["upload_url"]
        fields = {**link["uploadData"]["fields"]}
        assert fields["key"].endswith("${filename}") and all(isinstance(value, str) for value in fields.values())
        fields["key"] = fields["key"].replace("${filename}", f"{number}.mp3")
        fields["Content-Type"] = "audio/mp3"
        files = {"file": (f"{number}.mp3", recording(2, number), "audio/mp3")}
        answer = requests.post(link["uploadData"]["url"], data=fields, files=files)
        assert answer.status_code == 204 and answer.text == ""
    counters = {"audio_files_sent": 2, "audio_files_uploaded": 2}
    ended = client.call("POST", f"/sessions/{created['session_id']}/end", (202,), json=counters).json()
    assert ended["audio_files"] == ["1.mp3", "2.mp3"] and ended["audio_files_received"] == 2 and ended["message"]
    results = client.results(created["session_id"])
    assert results["status"] == "completed" and list(results["templates"][0]) == ["clinical_notes_template"]
    fields["key"] = fields["key"].replace("2.mp3", "3.mp3")
    late = requests.post(link["uploadData"]["url"], data=fields, files={"file": ("3.mp3", b"late", "audio/mp3")})
    assert late.status_code >= 400


@pytest.mark.covers("M-31", "M-40")
def test_two_ends_at_once_and_uploads_beside_them(server):
    client = SessionClient(server.base_url)
    session = client.create()["session_id"]
    url = f"{client.base}/sessions/{session}"
    kept = []

    def upload(index):
        answer = client.session.post(
            f"{url}/audio/{index}.wav", data=recording(1, index), headers={"Content-Type": "audio/wav"})
        if answer.status_code == 200:
            kept.append(f"{index}.wav")
        else:
            assert answer.status_code == 400 and answer.json()["error"]["code"].startswith("session_"), answer.text

    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        uploads = [pool.submit(upload, index) for index in range(20)]
        ends = [pool.submit(client.session.post, f"{url}/end") for _ in range(4)]
        statuses = sorted(end.result().status_code for end in ends)
        [each.result() for each in uploads]
    assert statuses == [202, 400, 400, 400]
    # Whatever was acknowledged is processed, and nothing else.
    assert sorted(client.results(session)["audio_files"]) == sorted(kept)


def test_expiry_in_the_middle_of_an_upload(served):
    """In a namespace, whose clock is moved by the two hours that a session lasts there."""
    server = served(*LOGGING)
    made = created(server)
    client, where = AllianceClient(access(server, made, "credentials")), {"namespace": made["name"]}
    client.call("POST", "/webhooks", (201,), json={"url": "inbox", "events": ["session.started", "session.expired"]})
    session = client.create()["session_id"]

    def body():
        yield recording(1)[:2000]
        for by in ("119m", "1m"):
            client.call("GET", f"/sessions/{session}", (202,))
            control(server, "POST", "clock/advance", params=where, json={"by": by}).raise_for_status()
        wait_until(lambda: client.call("GET", f"/sessions/{session}", (202, 410)).status_code == 410, "it expires")
        yield b"late"

    answer = requests.post(
        f"{client.base}/sessions/{session}/audio/1.wav", data=body(),
        headers={**client.session.headers, "Content-Type": "audio/wav"})
    assert answer.status_code == 410 and answer.json()["error"]["code"] == "session_expired"
    expired = client.results(session)
    assert expired["status"] == "expired" and expired["templates"] == [] and expired["audio_files"] == []

    def deliveries():
        return control(server, "GET", "deliveries", params={**where, "session_id": session}).json()["deliveries"]

    wait_until(lambda: len(deliveries()) == 2, "its end is told")
    assert [each["event"] for each in deliveries()] == ["session.expired", "session.started"]
    control(server, "DELETE", f"namespaces/{made['name']}").raise_for_status()


def test_links_follow_the_public_url_and_trusted_proxies_only(server, served):
    forwarded = {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "scribe.example"}

    def discovered(server) -> str:
        url = f"{server.base_url}/voice/v1/.well-known/medscribealliance"
        return requests.get(url, headers=forwarded).json()["endpoints"]["base_url"]

    assert discovered(server) == f"{server.base_url}/voice/v1"
    assert discovered(served(*LIMITED)) == "https://scribe.example/voice/v1"
    assert discovered(served(*NAMED)) == "https://public.example/voice/v1"


def test_links_uploads_and_sockets_work_behind_nginx_as_the_staging_page_has_it(server, served, tmp_path):
    with contextlib.closing(
        StagingProxy(tmp_path / "nginx", served("--trusted-proxies", "127.0.0.0/8"), server.authority)
    ) as proxy:
        client = SessionClient(proxy.tls_url, verify=server.authority)
        assert client.base == f"{proxy.tls_url}/voice/v1"
        session, form = form_of(client)
        assert form["url"].startswith(f"{proxy.tls_url}/"), "not http://, and with the port"
        # Larger than nginx lets through by default.
        answer = client.session.post(
            form["url"], form["fields"], files={"file": ("1.wav", recording(60), "audio/wav")},
            headers={"Authorization": None})
        assert answer.status_code == 204, answer.text
        client.end(session, 1)
        assert client.results(session)["status"] == "completed"
        stream = client.create(upload_type="stream")["upload_url"]
        assert stream.startswith(proxy.tls_url.replace("https:", "wss:"))
        with connect(stream, ssl=trusting(server)) as socket:
            socket.send(bytes(32_000))
        ambient = SukiClient(proxy.tls_url, subject="dr-nginx", verify=server.authority)
        ambient.initialize()
        assert ambient.create_session(), "its token is in a header with underscores"
        for path in ("/metrics", "/__admin/info", "/__console", "/ns/a/readyz"):
            refused = client.session.get(proxy.tls_url + path)
            assert refused.status_code == 404 and "nginx" in refused.headers["Server"], path
        # A client chooses neither scheme nor host of links.
        forwarded = {"X-Forwarded-Proto": "gopher", "X-Forwarded-Host": "evil.example"}
        found = requests.get(f"{proxy.base_url}/voice/v1/.well-known/medscribealliance", headers=forwarded).json()
        assert found["endpoints"]["base_url"] == f"{proxy.base_url}/voice/v1"


def test_the_compose_file_puts_the_lines_for_nginx_where_its_site_includes_them():
    """The same file that the page copies there."""
    balancer = yaml.safe_load((ROOT / "docker/compose.scale.yaml").read_text())["services"]["balancer"]
    assert f"./{SHIPPED_LINES.name}:{INCLUDED}:ro" in balancer["volumes"]
    assert f"sudo cp docker/{SHIPPED_LINES.name} {INCLUDED}\n" in (ROOT / "docs/staging.md").read_text()
    for text in (SHIPPED.read_text(), (ROOT / "docs/staging.md").read_text()):
        assert f"    include {INCLUDED};\n" in text and "proxy_set_header" not in text


@pytest.mark.covers("M-30", "M-77")
def test_a_form_upload_counts_as_audio_under_any_file_name(server):
    client = SessionClient(server.base_url)
    session, form = form_of(client)
    # By the number before the last dot, then by name; what has none comes last.
    ordered = [
        "chunk_0.wav", "audio_2.mp3", "take3_a.wav", "8_b.wav", "9.wav", "a9.5_10.mp3", "b_10.wav", "again.webm",
        "visit.wav",
    ]
    others = ["info.json", "9.json", "full.m4a_"]
    for name in reversed(ordered + others):
        assert send(form, name, recording(1, len(name))).status_code == 204
    ended = client.call("POST", f"/sessions/{session}/end", (202,), json={"audio_files_sent": len(ordered)}).json()
    assert ended["audio_files"] == ordered and ended["audio_files_received"] == len(ordered)
    results = client.results(session)
    assert results["status"] == "completed" and results["transcript"]
    assert results["audio_files"] == ordered and results["audio_files_processed"] == len(ordered)


@pytest.mark.covers("M-30")
def test_a_session_of_one_chunk_numbered_0_is_complete(server):
    client = SessionClient(server.base_url)

    def finished(*numbers: int) -> str:
        session, form = form_of(client)
        for number in numbers:
            assert send(form, f"{number}.wav", recording(1, number)).status_code == 204
        client.end(session, len(numbers))
        return str(client.results(session))

    for whole in ((0,), (0, 1, 2), (1, 2)):
        assert "Chunks were not committed" not in finished(*whole), whole
    assert "Chunks were not committed: 1, 2'" in finished(0, 3)
    assert "Chunks were not committed: 1'" in finished(2)


@pytest.mark.covers("M-23")
@pytest.mark.parametrize("headers", [
    {}, {"flavour": "ekascribe-web"}, {"flavour": "web"}, {"flavour": "ScribeIOS"}, {"flavour": "ios"},
    {"flavour": "android"},
    {"User-Agent": "okhttp/4.12.0"}, {"User-Agent": "EkaCare-DotNet-SDK"}, {"User-Agent": "something else"},
], ids=str)
def test_a_used_up_quota_is_400_for_every_sdk(server, headers):
    """Not 429: the web SDK takes that for a rate limit before it reads the code."""
    client = SessionClient(server.base_url, "dev-limited", "dev-limited-secret")
    refused = client.call("POST", "/sessions", (400,), json={"upload_type": "chunked"}, headers=headers).json()
    assert refused["error"]["code"] == "txn_limit_exceeded" and refused["error"]["message"]


@pytest.mark.covers("M-78")
def test_used_up_storage_is_reported_at_uploads_and_before_a_session_starts(served):
    server = served(*LIMITED)
    client = SessionClient(server.base_url)
    session = client.create()["session_id"]
    noise = random.Random(1).randbytes(1 << 18)
    refusals = 0
    # By halves, so that not a byte is left at the end.
    for index in range(19):
        path = f"/sessions/{session}/audio/chunk_{index}.wav"
        answer = client.call(
            "POST", path, (200, 400), data=noise[:1 << 18 - index], headers={"Content-Type": "audio/wav"})
        if answer.status_code == 400:
            assert answer.json()["error"]["code"] == "storage_limit_exceeded"
            refusals += 1
    assert 0 < refusals < 19
    refused = client.call("POST", "/sessions", (400,), json={"upload_type": "chunked"}).json()
    assert refused["error"]["code"] == "storage_limit_exceeded" and refused["error"]["message"]


@pytest.mark.covers("M-22")
def test_a_template_that_was_deleted_is_unknown(server):
    client = SessionClient(server.base_url)
    templates = f"{server.base_url}/voice/api/v1/template"
    made = client.session.post(templates, json={"title": "Cough", "section_ids": ["chief_complaints"]})
    own = made.json()["template_id"]
    assert made.status_code == 201
    client.create(templates=[own])
    assert client.session.delete(f"{templates}/{own}").ok
    refused = client.call("POST", "/sessions", (400,), json={"upload_type": "chunked", "templates": [own]}).json()
    assert refused["error"]["code"] == "invalid_template"


@pytest.mark.parametrize("name", ["chunk_0.json", "chunk_0.m4a_"])
def test_an_upload_that_is_no_audio_by_its_name_leaves_the_chunk_of_its_number(server, name):
    client = SessionClient(server.base_url)
    session = client.create()["session_id"]
    client.upload(session, 0, recording(1))
    answer = client.call(
        "POST", f"/sessions/{session}/audio/{name}", (400,), data=recording(1), headers={"Content-Type": "audio/wav"})
    assert answer.json()["error"]["code"] == "invalid_audio_format"
    assert client.call("GET", f"/sessions/{session}", (202,)).json()["audio_files"] == ["0.wav"]


def test_an_ambient_session_takes_no_upload(server):
    ambient = SukiClient(server.base_url, subject="dr-upload")
    ambient.initialize()
    client, session = SessionClient(server.base_url), ambient.create_session()
    answer = client.call(
        "POST", f"/sessions/{session}/audio/chunk_0.wav", (400,), data=recording(1),
        headers={"Content-Type": "audio/wav"})
    assert answer.json()["error"]["code"] == "invalid_request"
