"""Web client in a real browser, on a page of another origin."""

import base64
import datetime
import hashlib
import json
import pathlib
import ssl
import uuid

import pytest
import speech
from chromium import browse, serving, trusting_browser
from emulator import LOGGING
from namespaces import control

PAGE = pathlib.Path(__file__).with_name("browser.html")


@pytest.fixture(scope="module")
def chunks(spoken, tmp_path_factory):
    """The consultation as the web SDK cuts and encodes it."""
    return [path for path, _, _ in speech.chunks(spoken, tmp_path_factory.mktemp("chunks"), "mp3")]


@pytest.fixture(scope="module", params=["plain", "tls"])
def answers(request, chunks, visit, served, tmp_path_factory):
    """What a page at http://localhost got from a server at http://127.0.0.1: another site, not only another port. And
    one at https://localhost, from hosts that are the vendor's."""
    folder = tmp_path_factory.mktemp("browser")
    is_encrypted = request.param == "tls"
    server = served(*LOGGING)
    # The history of tests before. Servers behind a balancer have none of these users, and no reset.
    if not hasattr(server, "servers"):
        control(server, "POST", "reset").raise_for_status()
    # The second one finds no consultation of the first.
    user = ("dev-client-2", "dev-secret-2") if is_encrypted else ()
    limited = server.client("dev-limited", "dev-limited-secret")
    encryption = None
    if is_encrypted:
        encryption = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        own = pathlib.Path(server.authority).parent
        encryption.load_cert_chain(own / "certificate.pem", own / "key.pem")
    plan = {
        "api": "https://api.eka.care" if is_encrypted else server.base_url,
        "storage": "https://{bucket}.s3.ap-south-1.amazonaws.com" if is_encrypted else None,
        "transaction": str(uuid.uuid4()), "date": f"{datetime.date.today():%y%m%d}",
        "token": server.client(*user).tokens["access_token"], "limited": limited.tokens["access_token"],
        "chunks": [path.name for path in chunks],
    }
    content = {"/": PAGE.read_bytes(), "/plan.json": json.dumps(plan).encode()}
    files = {f"/{path.name}": path.read_bytes() for path in chunks}
    with serving(content | files, encryption) as (port, posted):
        if not is_encrypted:
            return visit(f"http://localhost:{port}/", posted)
        # Only a browser of its own trusts this server's authority.
        browser = trusting_browser(server, folder)
        return browse(
            f"https://localhost:{port}/", folder / "profile", posted, *browser["flags"],
            environment=browser["environment"])


def text(item):
    return base64.b64decode(item["value"], validate=True).decode()


def test_the_browser_blocked_nothing(answers):
    assert answers["thrown"] == {}


@pytest.mark.covers("C-05", "C-17", "C-21", "C-59", "C-78", "C-110")
def test_a_consultation_is_recorded_from_a_page(answers, chunks):
    assert answers["s3-token"]["status"] == 200
    started = answers["init"]
    assert started["status"] == 201
    assert all(isinstance(started["body"][name], str) and started["body"][name] for name in ("b_id", "oid", "uuid"))
    for path in chunks:
        put = answers[f"put {path.name}"]
        assert put["status"] == 200, put
        assert put["headers"]["ETag"] == f'"{hashlib.md5(path.read_bytes()).hexdigest()}"'
    assert answers["stop"]["status"] == answers["commit"]["status"] == 200
    transcript = answers["transcript"]
    assert transcript["status"] == 200
    assert text(transcript["body"]["data"]["template_results"]["transcript"][0])
    result = answers["result"]
    assert result["status"] == 200
    assert [item["status"] for item in result["body"]["data"]["output"]] == ["success"]
    assert "fever" in text(result["body"]["data"]["output"][0])


def test_a_note_is_edited_from_a_page(answers):
    assert (answers["edit"]["status"], answers["edit"]["body"]["status"]) == (200, "success")
    assert text(answers["edited"]["body"]["data"]["output"][0]) == "# Edited"


def test_a_note_is_converted_from_a_page(answers):
    assert (answers["convert"]["status"], answers["convert"]["body"]["status"]) == (200, "success")
    assert answers["converted"]["status"] == 200
    items = answers["converted"]["body"]["data"]["output"]
    assert [(item["template_id"], item["status"]) for item in items] == [("eka_emr_template", "success")]
    assert isinstance(json.loads(text(items[0])), dict)


@pytest.mark.covers("C-109")
def test_a_transaction_is_cancelled_and_deleted_from_a_page(answers):
    assert answers["second init"]["status"] == 201
    assert (answers["cancel"]["status"], answers["cancel"]["body"]["status"]) == (200, "success")
    assert answers["cancelled"]["status"] == 400
    assert answers["cancelled"]["body"]["error"]["code"] == "cancelled"
    rows = answers["history"]["body"]["data"]
    assert [row["processing_status"] for row in rows] == ["success"]
    assert answers["delete"]["status"] == 200


@pytest.mark.covers("C-85", "C-97")
def test_templates_and_settings_are_read_and_written_from_a_page(answers):
    assert answers["config"]["status"] == 200
    assert isinstance(answers["config"]["body"]["data"]["supported_languages"], list)
    assert answers["put config"]["status"] == 200
    favourites = answers["my templates"]["body"]["data"]["my_templates"]
    assert [favourite["id"] for favourite in favourites] == ["clinical_notes_template"]
    favourite = {item["id"]: item["is_favorite"] for item in answers["templates"]["body"]["items"]}
    assert favourite["clinical_notes_template"] is True
    assert favourite["transcript_template"] is False


@pytest.mark.covers("C-14", "C-15", "C-63", "C-64", "C-66", "C-110")
def test_a_recording_is_uploaded_through_a_form_from_a_page(answers):
    assert answers["file-upload"]["status"] == 200
    assert answers["form"]["status"] == 204
    assert answers["whole init"]["status"] == 201
    assert answers["whole result"]["status"] == 200
    assert text(answers["whole result"]["body"]["data"]["output"][0])


@pytest.mark.covers("C-08", "C-51", "C-110")
def test_a_page_can_read_errors(answers):
    assert (answers["unknown"]["status"], answers["unknown"]["body"]["error"]["code"]) == (400, "transaction_not_found")
    assert answers["unauthorised"]["status"] == 401
    assert answers["no route"]["status"] == 404
    assert (answers["quota"]["status"], answers["quota"]["body"]["error"]["code"]) == (400, "txn_limit_exceeded")
    assert answers["bad signature"]["status"] == 403
    assert "SignatureDoesNotMatch" in answers["bad signature"]["body"]


LISTENER = """<!doctype html>
<script type="module">
const plan = await (await fetch("plan.json")).json()
const heard = []
const listen = (key, samples) => new Promise(resolve => {
  const socket = new WebSocket(`${plan.socket}?encoding=linear16&sample_rate=16000`, ["token", key])
  socket.onopen = () => { socket.send(new Int16Array(samples)); socket.send(JSON.stringify({ type: "CloseStream" })) }
  socket.onmessage = event => heard.push(JSON.parse(event.data))
  socket.onclose = event => resolve({ code: event.code, reason: event.reason, protocol: socket.protocol })
})
const speech = Array.from({ length: 16000 }, (_, index) => 9000 * Math.sin(index * 0.1))
const right = await listen(plan.key, speech)
const wrong = await listen("wrong", speech)
await fetch("done", { method: "POST", body: JSON.stringify({ right, wrong, heard }) })
</script>"""


@pytest.mark.covers("L-03", "L-04")
def test_a_page_that_can_set_no_headers_opens_a_socket_with_a_key(visit, server):
    plan = {"socket": f"ws://127.0.0.1:{server.port}/v1/listen", "key": "org_dev_key"}
    content = {"/": LISTENER.encode(), "/plan.json": json.dumps(plan).encode()}
    with serving(content) as (port, posted):
        answer = visit(f"http://localhost:{port}/", posted)
    assert answer["right"] == {"code": 1000, "reason": "", "protocol": "token"}
    assert answer["wrong"]["code"] == 1008 and answer["wrong"]["reason"].startswith("401 INVALID_AUTH")
    assert [message["type"] for message in answer["heard"]] == ["Results", "Metadata"]


@pytest.mark.covers("M-17", "M-18", "M-34", "M-35", "M-69")
def test_a_session_is_recorded_from_a_page_whose_worker_uploads(visit, chunks, server):
    here = pathlib.Path(__file__)
    plan = {
        "api": server.base_url, "token": server.client().tokens["access_token"],
        "chunks": [path.name for path in chunks],
    }
    content = {
        "/": here.with_name("session.html").read_bytes(), "/plan.json": json.dumps(plan).encode(),
        "/worker.js": here.with_name("session_worker.js").read_bytes(),
    }
    with serving(content | {f"/{path.name}": path.read_bytes() for path in chunks}) as (port, posted):
        answers = visit(f"http://localhost:{port}/", posted)
    assert "thrown" not in answers
    assert (answers["discovery"]["status"], answers["create"]["status"]) == (200, 201)
    assert answers["recording"]["status"] == 200
    assert answers["refresh"]["status"] == 202, "the first form was broken, and the page was given another"
    assert answers["uploads"] == [204] * len(chunks)
    assert answers["end"]["body"]["audio_files_received"] == len(chunks)
    result = answers["result"]
    assert (result["status"], result["body"]["status"]) == (200, "completed")
    assert result["body"]["patient_details"] == {"name": "Asha", "age": 45}
    assert answers["lateUpload"] in (None, 400, 403), "nothing is uploaded once the session has ended"
    assert [event["type"] for event in answers["run"]][0::len(answers["run"]) - 1] == ["RUN_STARTED", "RUN_FINISHED"]
