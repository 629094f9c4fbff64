"""TLS clients of several kinds: curl, Java, Node, OpenSSL, GnuTLS and Deepgram's SDK."""

import json
import os
import pathlib
import random
import re
import socket
import struct
import subprocess
import sys

import pytest
import requests
import tls
from emulator import NAMED, PATIENCE, wait_until
from listen_client import KEY
from namespaces import Access, OmiDevice
from tls import verb
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

HERE = pathlib.Path(__file__).parent


def wave(seconds: float) -> bytes:
    """A recording that is not silent."""
    samples = random.Random(seconds).randbytes(int(32_000 * seconds))
    return b"RIFF%bWAVEfmt %b%bdata%b" % (
        struct.pack("<I", 36 + len(samples)), struct.pack("<I", 16),
        struct.pack("<HHIIHH", 1, 1, 16_000, 32_000, 2, 16), struct.pack("<I", len(samples))) + samples


def connect_to(server, host):
    return ["--connect-to", f"{host}:443:127.0.0.1:{server.tls_port}"]


def curl(*arguments) -> str:
    return subprocess.run(
        ["curl", "-sS", "-m", str(PATIENCE), *arguments], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("flag, version", [("--http1.1", "1.1"), ("--http2", "2")])
def test_curl_is_served_by_both_protocols(server, flag, version):
    for host in ("api.eka.care", "sdp.suki.ai"):
        answer = curl(flag, "--cacert", server.authority, *connect_to(server, host), "-w", " %{http_version}",
                      f"https://{host}/voice/ping" if host == "api.eka.care" else f"https://{host}/livez")
        assert answer.endswith(f" {version}")
    headers = curl(flag, "--cacert", server.authority, *connect_to(server, "api.eka.care"), "-D", "-", "https://api.eka.care/livez")
    assert "strict-transport-security" not in headers.lower(), "it would stick to the vendor's own host"


def test_curl_uploads_to_a_form_by_http_2(server, tmp_path):
    """The form of the vendor's host leads to AWS's, and that leads here."""
    trust = ["--http2", "--cacert", server.authority, *connect_to(server, "api.eka.care")]
    login = json.loads(curl(*trust, "https://api.eka.care/connect-auth/v1/account/login",
                            "-d", '{"client_id":"dev-client","client_secret":"dev-secret"}'))
    form = json.loads(curl(*trust, "-X", "POST", "-H", f"Authorization: Bearer {login['access_token']}",
                           "https://api.eka.care/v1/file-upload?txn_id=t-curl&action=ekascribe-v2"))["uploadData"]
    assert form["url"] == "https://m-prod-ekascribe-batch.s3.amazonaws.com/"
    (tmp_path / "1.wav").write_bytes(bytes(100_000))
    fields = [part for name, value in form["fields"].items() for part in ("-F", f"{name}={value}")]
    status = curl("--http2", "--cacert", server.authority,
                  *connect_to(server, "m-prod-ekascribe-batch.s3.amazonaws.com"),
                  *fields, "-F", f"file=@{tmp_path}/1.wav", "-w", "%{http_code}", form["url"])
    assert status == "204"


def leading(monkeypatch, server):
    """Leads every host here, and port 443 to the one for TLS, as a hosts file and a port that is forwarded do."""
    look_up = socket.getaddrinfo

    def getaddrinfo(host, port, *arguments, **options):
        return look_up("127.0.0.1", server.tls_port if port == 443 else port, *arguments, **options)

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)


@pytest.mark.covers("M-79")
@pytest.mark.parametrize("is_usual", [True, False], ids=["port 443", "another port"])
@pytest.mark.parametrize("host", [
    "api.eka.care", "api.staging.eka.care", "api.dev.eka.care", "cog.eka.care", "cook.eka.care", "parchi.eka.care"])
def test_a_recording_reaches_the_bucket_that_its_session_names(server, monkeypatch, host, is_usual):
    leading(monkeypatch, server)
    port = "" if is_usual else f":{server.tls_port}"
    bucket = f"https://m-prod-ekascribe-batch.s3.amazonaws.com{port}/"
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", server.authority)
    session = requests.Session()
    session.headers["flavour"] = "ekascribe-web"
    root = f"https://{host}{port}"
    credentials = {"client_id": "dev-client", "client_secret": "dev-secret"}
    login = session.post(f"{root}/connect-auth/v1/account/login", json=credentials, timeout=PATIENCE).json()
    session.headers["Authorization"] = f"Bearer {login['access_token']}"
    base = session.get(
        f"{root}/voice/v1/.well-known/medscribealliance", timeout=PATIENCE).json()["endpoints"]["base_url"]
    assert base == f"{root}/voice/v1"
    body = {"upload_type": "chunked", "templates": ["soap"], "language_hint": ["en"]}
    created = session.post(f"{base}/sessions?version=v2", json=body, timeout=PATIENCE).json()
    url = f"{base}/sessions/{created['session_id']}"
    again = session.get(f"{url}?version=v2", timeout=PATIENCE).json()
    for number, link in enumerate((created["upload_url"], again["upload_url"]), 1):
        form = link["uploadData"]
        assert form["url"] == bucket
        # Not a field is another than it was given.
        files = {"file": (f"{number}.wav", wave(number), "audio/wav")}
        answer = requests.post(form["url"], data=form["fields"], files=files, timeout=PATIENCE)
        assert answer.status_code == 204, answer.text
    assert session.post(f"{url}/end", json={"audio_files_sent": 2}, timeout=PATIENCE).status_code == 202
    results = wait_until(
        lambda: (answer := session.get(url, timeout=PATIENCE)).status_code == 200 and answer.json(),
        "the session is done")
    assert results["status"] == "completed" and results["transcript"] and results["audio_files"] == ["1.wav", "2.wav"]
    # What is no session's goes the same way.
    link = session.post(
        f"{root}/v1/file-upload?txn_id=t-{created['session_id']}&action=ekascribe-v2", timeout=PATIENCE).json()
    form = link["uploadData"]
    assert form["url"] == bucket
    files = {"file": ("1.wav", wave(1), "audio/wav")}
    assert requests.post(form["url"], data=form["fields"], files=files, timeout=PATIENCE).status_code == 204


def test_requests_to_a_vendors_host_get_links_with_the_public_url(served):
    server = served(*NAMED)
    session = server.client(flavour="ekascribe-web").session
    body = {"upload_type": "chunked", "templates": ["soap"]}
    created = session.post(
        f"{server.base_url}/voice/v1/sessions?version=v2", json=body, headers={"Host": "api.eka.care"}).json()
    assert created["upload_url"]["uploadData"]["url"] == "https://public.example/m-prod-ekascribe-batch/"
    link = session.post(
        f"{server.base_url}/v1/file-upload?txn_id=t-public&action=ekascribe-v2",
        headers={"Host": "api.eka.care"}).json()
    assert link["uploadData"]["url"] == "https://public.example/m-prod-ekascribe-batch/"


def test_javas_client_is_served_by_both_protocols(server, tmp_path):
    trust = verb(server.folder, "trust").stdout
    command = re.search(r"keytool (.*?\\\n.*)", trust)[1].replace("\\\n", "")
    subprocess.run(["keytool", *command.split()], cwd=tmp_path, check=True, capture_output=True)
    (tmp_path / "hosts").write_text("127.0.0.1 api.eka.care\n")
    answer = subprocess.run(
        ["java", "-Djavax.net.ssl.trustStore=scribe.p12", "-Djavax.net.ssl.trustStorePassword=changeit",
         "-Djdk.net.hosts.file=hosts", HERE / "TLSClient.java", f"https://api.eka.care:{server.tls_port}"],
        cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE)
    assert answer.stdout.splitlines() == ["HTTP_1_1 200 200", "HTTP_2 200 200"], answer.stderr


def test_node_is_served_by_both_protocols(server):
    program = """
        const http2 = require("http2"), https = require("https"), port = Number(process.argv[1])
        const lookup = (host, options, found) =>
            options.all ? found(null, [{address: "127.0.0.1", family: 4}]) : found(null, "127.0.0.1", 4)
        https.get({ host: "cog.eka.care", port, lookup, path: "/livez" }, answer => {
            console.log(answer.httpVersion, answer.statusCode)
            answer.resume()
            const session = http2.connect(`https://api.eka.care:${port}`, { lookup })
            const stream = session.request({ ":path": "/livez" })
            stream.on("response", headers => { console.log("2.0", headers[":status"]); process.exit() })
        }).end()
    """
    answer = subprocess.run(
        ["node", "-e", program, str(server.tls_port)], capture_output=True, text=True, timeout=PATIENCE,
        env={"PATH": os.environ["PATH"], "NODE_EXTRA_CA_CERTS": server.authority})
    assert answer.stdout.splitlines() == ["1.1 200", "2.0 200"], answer.stderr


@pytest.mark.parametrize("version, works", [("tls1_3", True), ("tls1_2", True), ("tls1_1", False)])
def test_openssl_verifies_the_certificate_and_old_tls_versions_are_refused_and_logged(server, version, works):
    answer = subprocess.run(
        ["openssl", "s_client", "-connect", f"127.0.0.1:{server.tls_port}", f"-{version}", "-CAfile", server.authority,
         "-servername", "api.eka.care", "-verify_hostname", "api.eka.care", "-verify_return_error",
         "-alpn", "h2,http/1.1", *([] if works else ["-cipher", "ALL@SECLEVEL=0"])],
        capture_output=True, text=True, errors="replace", input="")
    if works:
        assert "Verify return code: 0 (ok)" in answer.stdout and "ALPN protocol: h2" in answer.stdout
    else:
        assert "alert protocol version" in answer.stderr
        server.logged("the client offers nothing newer than TLS 1.1")


DEEPGRAM = """
import threading
from deepgram import DeepgramClient
from deepgram.core.events import EventType

client = DeepgramClient(api_key="org_dev_key")
messages, ended = [], threading.Event()
with client.listen.v1.connect(model="nova-3", encoding="linear16", sample_rate="16000") as connection:
    connection.on(EventType.MESSAGE, messages.append)
    connection.on(EventType.CLOSE, lambda _: ended.set())
    threading.Thread(target=connection.start_listening, daemon=True).start()
    connection.send_media(b"\\x00\\x20\\x00\\xe0" * 16000)
    connection.send_close_stream()
    ended.wait()
print(messages[-1].type)
"""


@pytest.mark.parametrize("host, path, page", [
    ("api.deepgram.com", "/v1/listen?encoding=linear16&sample_rate=16000", {"subprotocols": ["token", KEY]}),
    ("api.subquadratic.ai", "/v1/listen?encoding=linear16&sample_rate=16000", {"subprotocols": ["token", KEY]}),
    ("api.omi.me", "/v4/listen?language=en&sample_rate=16000&codec=pcm16", None),
])
def test_an_app_whose_library_sends_the_origin_of_its_host_opens_a_socket_over_wss(server, host, path, page):
    """As React Native's and Starscream's do. A page of another origin cannot set the header."""

    def opened(origin, **options):
        connection = socket.create_connection(("127.0.0.1", server.tls_port), PATIENCE)
        return connect(f"wss://{host}{path}", sock=connection, ssl=tls.trusting(server), origin=origin, **options)

    header = {"additional_headers": {"Authorization": f"Token {KEY}"}} if page else {
        "additional_headers": OmiDevice.headers_of(Access(server.base_url))}
    for way in (header, page) if page else (header,):
        for origin in (f"https://{host}", f"https://{host}:443"):
            with opened(origin, **way) as opening:
                opening.ping().wait(PATIENCE)
    if page:
        for origin in ("https://evil.example", "null", f"https://{host}.evil.example"):
            with pytest.raises(InvalidStatus) as refused:
                opened(origin, **page)
            assert refused.value.response.status_code == 403


def test_the_deepgram_sdk_with_its_own_hosts_gets_results_over_wss(server, tmp_path):
    answer = subprocess.run(
        [sys.executable, "-c", DEEPGRAM], env=tls.environment(server, tmp_path / "hosts"), capture_output=True,
        text=True, timeout=PATIENCE)
    assert answer.stdout.strip() == "Metadata", answer.stderr
    assert set((tmp_path / "hosts").read_text().split()) == {"api.deepgram.com"}


def test_gnutls_takes_hosts_and_addresses(server, tmp_path):
    for host in ("localhost", "127.0.0.1"):
        subprocess.run(
            ["wget", "-q", "-O", tmp_path / "answer", f"--ca-certificate={server.authority}",
             f"https://{host}:{server.tls_port}/livez"], check=True)
