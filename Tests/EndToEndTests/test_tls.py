"""The port for TLS: who may trust it, what it shows, and what happens where something is wrong."""

import contextlib
import json
import os
import pathlib
import random
import re
import shutil
import socket
import ssl
import struct
import subprocess
import sys

import pytest
import requests
import tls
from conftest import BINARY, PATIENCE, TLS, running, wait_until
from tls import Encrypted

HERE = pathlib.Path(__file__).parent


def verb(folder, *arguments, **options):
    """A verb of the command, as the user whose home the folder is."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), **options.pop("environment", {})}
    return subprocess.run([BINARY, *arguments], capture_output=True, text=True, env=environment, cwd=folder, **options)


def wave(seconds: float) -> bytes:
    """A recording that is not silent."""
    samples = random.Random(seconds).randbytes(int(32_000 * seconds))
    return b"RIFF%bWAVEfmt %b%bdata%b" % (
        struct.pack("<I", 36 + len(samples)), struct.pack("<I", 16), struct.pack("<HHIIHH", 1, 1, 16_000, 32_000, 2, 16),
        struct.pack("<I", len(samples))) + samples


def connect_to(server, host):
    return ["--connect-to", f"{host}:443:127.0.0.1:{server.tls_port}"]


def curl(*arguments) -> str:
    return subprocess.run(
        ["curl", "-sS", "-m", str(PATIENCE), *arguments], capture_output=True, text=True, check=True).stdout


def logged(server, text):
    wait_until(lambda: text in server.log, f"the log says: {text}")


# Clients that nobody here wrote.


def test_every_host_of_the_sdks_and_of_this_machine_is_in_the_certificate(server):
    lines = verb(server.folder, "hosts").stdout.splitlines()
    hosts = [line.split()[1] for line in lines if line and not line.startswith("#")]
    assert {"api.eka.care", "cog.staging.eka.care", "m-prod-voice-record.s3-ap-south-1.amazonaws.com", "sdp.suki.ai",
            "m-prod-ekascribe-batch.s3.amazonaws.com", "api.deepgram.com", "api.aldea.ai", "stt-api.subq.ai",
            "api.subquadratic.ai", "api.omi.me", "sdp.suki-stage.com"} <= set(hosts)
    for host in [*hosts, "localhost", "host.docker.internal", "any-bucket.s3.ap-south-1.amazonaws.com", "s3.amazonaws.com"]:
        with Encrypted(server, PATIENCE, host) as connection:
            assert connection.tls.version() == "TLSv1.3"


@pytest.mark.parametrize("address", ["127.0.0.1", "10.0.2.2", "::1"])
def test_an_address_is_vouched_for_too(server, address):
    with Encrypted(server, PATIENCE, address):
        pass


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
    status = curl("--http2", "--cacert", server.authority, *connect_to(server, "m-prod-ekascribe-batch.s3.amazonaws.com"),
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
    base = session.get(f"{root}/voice/v1/.well-known/medscribealliance", timeout=PATIENCE).json()["endpoints"]["base_url"]
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
        lambda: (answer := session.get(url, timeout=PATIENCE)).status_code == 200 and answer.json(), "the session is done")
    assert results["status"] == "completed" and results["transcript"] and results["audio_files"] == ["1.wav", "2.wav"]
    # What is no session's goes the same way.
    link = session.post(f"{root}/v1/file-upload?txn_id=t-{created['session_id']}&action=ekascribe-v2", timeout=PATIENCE).json()
    form = link["uploadData"]
    assert form["url"] == bucket
    files = {"file": ("1.wav", wave(1), "audio/wav")}
    assert requests.post(form["url"], data=form["fields"], files=files, timeout=PATIENCE).status_code == 204


def test_a_public_url_is_named_to_whoever_asks_by_a_vendors_host(tmp_path):
    with running(tmp_path, "--ephemeral", "--public-url", "https://public.example") as server:
        session = server.client(flavour="ekascribe-web").session
        body = {"upload_type": "chunked", "templates": ["soap"]}
        created = session.post(
            f"{server.base_url}/voice/v1/sessions?version=v2", json=body, headers={"Host": "api.eka.care"}).json()
        assert created["upload_url"]["uploadData"]["url"] == "https://public.example/m-prod-ekascribe-batch/"
        link = session.post(
            f"{server.base_url}/v1/file-upload?txn_id=t-public&action=ekascribe-v2", headers={"Host": "api.eka.care"}).json()
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
        const lookup = (host, options, found) => options.all ? found(null, [{address: "127.0.0.1", family: 4}]) : found(null, "127.0.0.1", 4)
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
def test_openssl_verifies_what_it_is_shown_and_old_versions_are_told_so(server, version, works):
    answer = subprocess.run(
        ["openssl", "s_client", "-connect", f"127.0.0.1:{server.tls_port}", f"-{version}", "-CAfile", server.authority,
         "-servername", "api.eka.care", "-verify_hostname", "api.eka.care", "-verify_return_error", "-alpn", "h2,http/1.1",
         *([] if works else ["-cipher", "ALL@SECLEVEL=0"])],
        capture_output=True, text=True, errors="replace", input="")
    if works:
        assert "Verify return code: 0 (ok)" in answer.stdout and "ALPN protocol: h2" in answer.stdout
    else:
        assert "alert protocol version" in answer.stderr
        logged(server, "the client offers nothing newer than TLS 1.1")


def test_the_authority_is_limited_to_these_hosts(server, tmp_path):
    """Whoever steals its key cannot be anybody else for those who trust it."""
    folder = pathlib.Path(server.authority).parent

    def verified(name):
        subprocess.run(["openssl", "req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=x", "-keyout", "k", "-out", "r"],
                       cwd=tmp_path, check=True, capture_output=True)
        (tmp_path / "e").write_text(f"subjectAltName={name}\nbasicConstraints=CA:FALSE\nextendedKeyUsage=serverAuth\n")
        subprocess.run(
            ["openssl", "x509", "-req", "-in", "r", "-CA", folder / "ca.pem", "-CAkey", folder / "ca-key.pem",
             "-CAcreateserial", "-CAserial", tmp_path / "serial", "-extfile", "e", "-out", "c", "-days", "2"],
            cwd=tmp_path, check=True, capture_output=True)
        return subprocess.run(["openssl", "verify", "-CAfile", folder / "ca.pem", "c"], cwd=tmp_path,
                              capture_output=True, text=True).stdout.strip() == "c: OK"

    assert verified("DNS:api.eka.care")
    for name in ("DNS:bank.example", "DNS:eka.care", "DNS:www.eka.care", "DNS:amazonaws.com", "IP:8.8.8.8"):
        assert not verified(name), name


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


def test_the_deepgram_sdk_with_its_own_hosts_hears_over_wss(server, tmp_path):
    answer = subprocess.run(
        [sys.executable, "-c", DEEPGRAM], env=tls.environment(server, tmp_path / "hosts"), capture_output=True, text=True,
        timeout=PATIENCE)
    assert answer.stdout.strip() == "Metadata", answer.stderr
    assert set((tmp_path / "hosts").read_text().split()) == {"api.deepgram.com"}


# What is wrong is told.


def test_plain_http_on_the_port_for_tls_is_told_so_and_the_other_way_round(server):
    with socket.create_connection(("127.0.0.1", server.tls_port), timeout=PATIENCE) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        answer = b""
        while piece := connection.recv(1000):
            answer += piece
    assert answer.startswith(b"HTTP/1.1 400 ") and b"https" in answer
    logged(server, "a client spoke plain HTTP to the port for TLS")
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as connection:
        with pytest.raises(ssl.SSLError):
            tls.trusting(server).wrap_socket(connection, server_hostname="localhost")
    logged(server, "a client spoke TLS to the port for plain HTTP")


def test_a_client_that_does_not_trust_the_certificate_is_told_of_with_advice(server):
    with socket.create_connection(("127.0.0.1", server.tls_port), timeout=PATIENCE) as connection:
        with pytest.raises(ssl.SSLCertVerificationError):
            ssl.create_default_context().wrap_socket(connection, server_hostname="localhost")
    logged(server, "the client does not trust the certificate; `scribe-emulator trust`")


def test_a_host_that_is_not_in_the_certificate_is_told_of_with_advice(server):
    context = ssl.create_default_context(cafile=server.authority)
    context.check_hostname = False
    for host in ("scribe.unknown.test", "scribe.unknown.test", None):
        raw = socket.create_connection(("127.0.0.1", server.tls_port), timeout=PATIENCE)
        with context.wrap_socket(raw, server_hostname=host) as connection:
            connection.sendall(b"GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            assert connection.recv(1000).startswith(b"HTTP/1.1 200 ")
    logged(server, "--tls-name scribe.unknown.test")
    assert server.log.count("--tls-name scribe.unknown.test") == 1


@pytest.mark.parametrize("sent", [b"", b"\x16", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"], ids=["nothing", "a byte", "half a hello"])
def test_a_handshake_that_stops_half_way_is_ended(tmp_path, sent):
    with running(tmp_path, "--ephemeral", "--request-timeout", "500ms", *TLS) as server:
        with socket.create_connection(("127.0.0.1", server.tls_port), timeout=PATIENCE) as connection:
            connection.sendall(sent)
            while connection.recv(1000):
                pass
        logged(server, "no encrypted connection: it was not there after")
        # One that hangs up, as those do that only look whether the port is open.
        for data in (b"", b"\x16\x03\x01"):
            with socket.create_connection(("127.0.0.1", server.tls_port)) as connection:
                connection.sendall(data)
        logged(server, "hung up in the middle")
        with Encrypted(server, PATIENCE):
            pass


def test_nonsense_on_the_port_for_tls_is_closed(server):
    for nonsense in (bytes(1000), b"\xff" * 1000, b"SSH-2.0-x\r\n", b"\x16\x03\x01\xff\xff" + bytes(70_000)):
        with socket.create_connection(("127.0.0.1", server.tls_port), timeout=PATIENCE) as connection:
            with contextlib.suppress(OSError):
                connection.sendall(nonsense)
                while connection.recv(1000):
                    pass
    with Encrypted(server, PATIENCE):
        pass


# Certificates of others' making.


class Files:
    """A certificate authority of somebody else's, and certificates of it."""

    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        self.authority = folder / "authority.pem"
        self._openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=Somebody else",
                      "-keyout", "authority-key.pem", "-out", "authority.pem")
        self.certificate, self.key = folder / "server.pem", folder / "server-key.pem"

    def _openssl(self, *arguments):
        subprocess.run(["openssl", *arguments], cwd=self.folder, check=True, capture_output=True)

    def issue(self, name: str, kind=("rsa:2048",), days=("-days", "2")):
        self._openssl("req", "-newkey", *kind, "-nodes", "-subj", f"/CN={name}", "-keyout", "new-key.pem", "-out", "request.pem")
        (self.folder / "extensions").write_text(f"subjectAltName=DNS:localhost,DNS:{name}\n")
        self._openssl("x509", "-req", "-in", "request.pem", "-CA", "authority.pem", "-CAkey", "authority-key.pem",
                      "-CAcreateserial", "-extfile", "extensions", "-out", "new.pem", *days)

    def put(self):
        os.replace(self.folder / "new.pem", self.certificate)
        os.replace(self.folder / "new-key.pem", self.key)

    @property
    def flags(self):
        return ["--tls-port", "0", "--tls-certificate", str(self.certificate), "--tls-key", str(self.key)]

    def shown(self, server) -> str:
        """The name in the certificate that the server shows now."""
        context = ssl.create_default_context(cafile=self.authority)
        raw = socket.create_connection(("127.0.0.1", server.tls_port), timeout=PATIENCE)
        with context.wrap_socket(raw, server_hostname="localhost") as connection:
            return connection.getpeercert()["subject"][0][0][1]


@pytest.fixture
def files(tmp_path):
    return Files(tmp_path)


@pytest.mark.parametrize("kind", [("rsa:2048",), ("ec", "-pkeyopt", "ec_paramgen_curve:P-384")], ids=lambda kind: kind[0])
def test_a_certificate_of_ones_own_is_shown_and_another_in_its_place_without_a_restart(files, tmp_path, kind):
    files.issue("first.test", kind)
    files.put()
    with running(tmp_path, "--ephemeral", *files.flags) as server:
        assert files.shown(server) == "first.test"
        assert requests.get(f"{server.base_url}/ca.pem").status_code == 404
        raw = socket.create_connection(("127.0.0.1", server.tls_port), timeout=PATIENCE)
        with ssl.create_default_context(cafile=files.authority).wrap_socket(raw, server_hostname="localhost") as old:
            files.issue("second.test", kind)
            files.put()
            wait_until(lambda: files.shown(server) == "second.test", "the new certificate is shown")
            old.sendall(b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n")
            assert old.recv(100).startswith(b"HTTP/1.1 200 "), "connections from before go on"
        files.key.write_text("-----BEGIN PRIVATE KEY-----\n")
        logged(server, "the certificate that is served stays as it is")
        assert files.shown(server) == "second.test"


def refusal(folder, *flags) -> str:
    """Why a server does not start."""
    answer = verb(folder, "serve", "--ephemeral", "--port", "0", *flags, timeout=PATIENCE)
    assert answer.returncode != 0
    return answer.stderr


def test_certificates_that_cannot_be_served_end_the_start_with_a_reason(files, tmp_path):
    files.issue("first.test")
    files.put()
    good = files.key.read_bytes()
    files.issue("second.test")
    shutil.copy(files.folder / "new-key.pem", files.key)
    assert "does not belong to the key" in refusal(tmp_path, *files.flags)
    files.key.write_bytes(b"nonsense")
    assert "holds no private key" in refusal(tmp_path, *files.flags)
    files.key.write_bytes(good)
    assert "go together" in refusal(tmp_path, "--tls-certificate", str(files.certificate))
    assert "go together" in refusal(tmp_path, "--tls-key", str(files.key))
    files.certificate.write_text("nonsense")
    assert "holds no certificate" in refusal(tmp_path, *files.flags)
    files.issue("small.test", ("rsa:1024",))
    files.put()
    assert "of a kind that is not supported" in refusal(tmp_path, *files.flags)
    files.certificate.unlink()
    assert "no such file" in refusal(tmp_path, *files.flags)
    files.issue("third.test", days=("-days", "-1"))
    files.put()
    assert "expired on" in refusal(tmp_path, *files.flags)


# The authority, and the verbs.


def test_the_authority_is_kept_from_one_start_to_the_next_and_nobody_else_may_read_it(tmp_path):
    pem = verb(tmp_path, "trust", "--pem").stdout
    assert pem.startswith("-----BEGIN CERTIFICATE-----")
    for _ in range(2):
        with running(tmp_path, "--ephemeral", *TLS) as server:
            assert pathlib.Path(server.authority).read_text() == pem
            assert requests.get(f"{server.base_url}/ca.pem").text == pem
    folder = tmp_path / ".local/share/scribe-emulator/tls"
    assert {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir() if path.name.endswith("key.pem")} == {
        "ca-key.pem": 0o600, "key.pem": 0o600}
    folder.chmod(0o755)
    assert f"chmod 700 {folder}" in refusal(tmp_path, *TLS)
    assert f"chmod 700 {folder}" in verb(tmp_path, "trust").stderr
    folder.chmod(0o700)
    (folder / "ca-key.pem").chmod(0o644)
    assert "chmod 600" in refusal(tmp_path, *TLS)


def test_names_and_a_folder_of_ones_own(tmp_path):
    flags = ["--tls-dir", str(tmp_path / "mine"), "--tls-name", "scribe.test,192.168.7.7"]
    with running(tmp_path, "--ephemeral", *TLS, *flags) as server:
        server.authority = str(tmp_path / "mine/ca.pem")
        for host in ("scribe.test", "192.168.7.7", "api.eka.care"):
            with Encrypted(server, PATIENCE, host):
                pass
        assert verb(tmp_path, "trust", "--pem", *flags).stdout == pathlib.Path(server.authority).read_text()
    assert "is no host such as" in refusal(tmp_path, "--tls", "--tls-name", "a b")
    # Who only asks replaces nothing; who serves other names goes on vouching for those of before.
    before = pathlib.Path(server.authority).read_text()
    assert verb(tmp_path, "trust", "--pem", *flags[:2], "--tls-name", "other.test").stdout == before
    with running(tmp_path, "--ephemeral", *TLS, *flags[:2], "--tls-name", "other.test") as server:
        server.authority = str(tmp_path / "mine/ca.pem")
        after = pathlib.Path(server.authority).read_text()
        assert after != before
    with running(tmp_path, "--ephemeral", *TLS, *flags):
        assert (tmp_path / "mine/ca.pem").read_text() == after


def test_gnutls_takes_hosts_and_addresses(server, tmp_path):
    for host in ("localhost", "127.0.0.1"):
        subprocess.run(
            ["wget", "-q", "-O", tmp_path / "answer", f"--ca-certificate={server.authority}",
             f"https://{host}:{server.tls_port}/livez"], check=True)


def test_trust_names_the_file_in_every_step(server):
    text = verb(server.folder, "trust").stdout
    for client in ("curl", "Node", "Python", "Java", ".NET", "Chromium", "iOS simulator", "iPhone", "Android emulator"):
        assert client in text
    assert text.count(server.authority) > 8
    assert "network_security_config.xml" in text and "NODE_EXTRA_CA_CERTS" in text and "simctl keychain" in text


def test_hosts_are_kept_between_marks_and_taken_out_again(tmp_path):
    file = tmp_path / "hosts"
    for before in ("127.0.0.1 localhost\n", "127.0.0.1 localhost", "", "# mine\n\n10.0.0.1 a\n\n"):
        file.write_text(before)
        file.chmod(0o644)
        for _ in range(2):
            assert verb(tmp_path, "hosts", "--write", "--file", str(file)).returncode == 0
        text = file.read_text()
        assert text.startswith(before.rstrip("\n")) and text.count("127.0.0.1 api.eka.care\n") == 1
        assert file.stat().st_mode & 0o777 == 0o644
        file.write_text(text + "10.0.0.2 later\n")
        assert verb(tmp_path, "hosts", "--remove", "--file", str(file)).returncode == 0
        assert file.read_text().split() == (before + " 10.0.0.2 later").split()
        assert "nothing of ours" in verb(tmp_path, "hosts", "--remove", "--file", str(file)).stdout
    assert "10.9.9.9 api.eka.care" in verb(tmp_path, "hosts", "--address", "10.9.9.9").stdout
    verb(tmp_path, "hosts", "--write", "--file", str(file))
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    verb(tmp_path, "hosts", "--write", "--file", str(file))
    assert file.read_text().count("127.0.0.1 api.eka.care") == 1
    file.write_text("# scribe-emulator: end\n")
    assert "by hand" in verb(tmp_path, "hosts", "--write", "--file", str(file)).stderr
    assert file.read_text() == "# scribe-emulator: end\n"
    for wrong in (["--write", "--remove"], ["--address", "x"], ["--write", "--file", str(tmp_path / "none")]):
        assert verb(tmp_path, "hosts", *wrong).returncode != 0
    assert "8443" in verb(tmp_path, "hosts").stderr


def test_a_script_keeps_the_hosts_of_another_machine(tmp_path):
    """As a container prints it for the machine that it runs on."""
    (tmp_path / "sudo").write_text('#!/bin/sh\nexec "$@"\n')
    (tmp_path / "sudo").chmod(0o755)
    file = tmp_path / "hosts"

    def run(script: str):
        environment = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
        subprocess.run(["sh"], input=script.replace("/etc/hosts", str(file)), env=environment, text=True, check=True)

    script = verb(tmp_path, "hosts", "--for", "linux").stdout
    for before in ("127.0.0.1 localhost\n", "127.0.0.1 localhost", "# mine\n\n10.0.0.1 a\n"):
        file.write_text(before)
        for _ in range(2):
            run(script)
        kept = file.read_text()
        assert kept.startswith(before) and kept.count("\n127.0.0.1 api.eka.care\n") == 1
        assert verb(tmp_path, "hosts", "--write", "--file", str(file)).returncode == 0
        assert file.read_text().rstrip("\n") == kept.rstrip("\n")
        [removal] = [line.removeprefix("#").strip() for line in script.splitlines() if "sed" in line and line[0] == "#"]
        run(removal)
        assert file.read_text().rstrip("\n") == before.rstrip("\n")
    mac = verb(tmp_path, "hosts", "--for", "mac", "--address", "10.9.9.9").stdout
    assert "\n10.9.9.9 api.eka.care\n" in mac and "sed -i '' " in mac and "dscacheutil -flushcache" in mac
    for wrong in (["--for", "mac", "--write"], ["--for", "amiga"]):
        assert verb(tmp_path, "hosts", *wrong).returncode != 0


def test_trust_prints_the_steps_for_one_kind_of_client(server, tmp_path):
    script = verb(server.folder, "trust", "--for", "ios-simulator").stdout
    assert "simctl keychain booted add-root-cert scribe-ca.pem" in script and "Chromium" not in script
    port = re.search(r"http://127\.0\.0\.1:(\d+)/ca\.pem", script)[1]
    fetch = next(line for line in script.splitlines() if line.startswith("curl")).replace(port, str(server.port))
    subprocess.run(["sh", "-c", fetch], cwd=tmp_path, check=True)
    assert (tmp_path / "scribe-ca.pem").read_text() == pathlib.Path(server.authority).read_text()
    listed = verb(server.folder, "trust", "--for", "nobody").stderr
    names = re.findall(r"^  - ([a-z-]+)$", listed, re.MULTILINE)
    assert len(names) > 8
    for name in names:
        assert verb(server.folder, "trust", "--for", name).stdout.startswith("# "), name


def doctor(server, *arguments, **options):
    return verb(server.folder, "doctor", "--ready-file", str(server.ready_file), *arguments, **options)


def test_the_doctor_finds_nothing_where_there_is_nothing(server):
    answer = doctor(server)
    assert answer.returncode == 0 and "PROBLEM" not in answer.stdout, answer.stdout
    assert "authentication is lenient" in answer.stdout and "TLS is spoken" in answer.stdout


@pytest.mark.parametrize("sdk", ["ios", "python", "deepgram", "suki"])
def test_the_doctor_says_which_hosts_lead_elsewhere_and_that_nothing_is_on_the_port(server, sdk):
    answer = doctor(server, "--sdk", sdk, "--port", "1")
    assert answer.returncode == 1
    step = f"sudo {BINARY.resolve()} hosts --write"
    assert step in answer.stdout, "sudo looks for a program in folders of its own"
    assert step in verb(server.folder, "hosts").stderr
    assert "port 1, on which the SDK asks, does not lead to the server" in answer.stdout


def test_the_doctor_asks_the_server_for_its_tls_port(server):
    answer = verb(server.folder, "doctor", "--url", server.base_url, environment={"SCRIBE_TLS": "true"})
    assert f"TLS is spoken on port {server.tls_port}" in answer.stdout, answer.stdout
    info = requests.get(f"{server.base_url}/__admin/info").json()
    assert info["settings"]["tls_port"] == str(server.tls_port)


@pytest.mark.parametrize("flag", ["--port", "--tls-port"])
def test_a_port_that_is_not_this_users_is_named_with_what_opens_it(tmp_path, flag):
    # As an ordinary user, in a network namespace of its own, where ports below 1024 are root's.
    flags = ["--ephemeral", "--tls", "--port", "0", "--tls-port", "0", flag, "443"]
    result = subprocess.run(
        ["unshare", "--net", "sh", "-c", 'ip link set lo up; exec setpriv --bounding-set=-net_bind_service "$@"',
         "sh", BINARY, "serve", *flags], capture_output=True, text=True, cwd=tmp_path, timeout=PATIENCE,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)})
    assert result.returncode == 1
    assert "this user may not listen on port 443" in result.stderr
    assert "sysctl net.ipv4.ip_unprivileged_port_start=443" in result.stderr


def in_own_hosts(server, *arguments, environment=None):
    """A verb on a machine whose hosts lead here: in a mount namespace of its own."""
    hosts = server.folder / "hosts"
    hosts.write_text("127.0.0.1 localhost\n")
    verb(server.folder, "hosts", "--write", "--file", str(hosts))
    return subprocess.run(
        ["unshare", "--mount", "sh", "-c", 'mount --bind "$1" /etc/hosts && shift && exec "$@"', "sh", hosts, BINARY, *arguments],
        capture_output=True, text=True, cwd=server.folder,
        env={"PATH": os.environ["PATH"], "HOME": str(server.folder), **(environment or {})})


def test_the_doctor_looks_at_what_an_sdk_trusts(server):
    arguments = ["doctor", "--ready-file", server.ready_file, "--sdk", "python", "--port", str(server.tls_port)]
    answer = in_own_hosts(server, *arguments)
    assert answer.returncode == 1
    assert f"export REQUESTS_CA_BUNDLE={server.authority}" in answer.stdout, answer.stdout + answer.stderr
    answer = in_own_hosts(server, *arguments, environment={"REQUESTS_CA_BUNDLE": server.authority})
    assert (answer.returncode, answer.stdout.count("ok ")) == (0, 8), answer.stdout


def test_the_doctor_finds_a_server_that_is_not_there_or_is_another_or_speaks_no_tls(tmp_path):
    answer = verb(tmp_path, "doctor", "--url", "http://127.0.0.1:1")
    assert answer.returncode == 1 and "scribe-emulator serve --tls" in answer.stdout
    with running(tmp_path, "--ephemeral") as server:
        answer = doctor(server)
        assert answer.returncode == 1 and "plain HTTP only" in answer.stdout


def test_a_server_with_tls_stops_whoever_is_connected(tmp_path):
    with running(tmp_path, "--ephemeral", *TLS) as server:
        kept = [Encrypted(server, PATIENCE, protocols=protocols) for protocols in (["http/1.1"], ["h2"])]
        kept[0].sendall(b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n")
        assert kept[0].recv(1000)
        half = socket.create_connection(("127.0.0.1", server.tls_port))
        server.stop()
        for connection in (*kept, half):
            connection.close()


def test_a_port_in_use_is_explained(tmp_path, server):
    assert f"port {server.tls_port} is in use; choose another with --tls-port" in refusal(
        tmp_path, "--tls", "--tls-port", str(server.tls_port))


def test_the_log_says_where_tls_is_spoken(server):
    assert f'"tls_url":"https://localhost:{server.tls_port}"' in server.log


def test_the_two_commands_are_enough_on_a_machine_whose_port_443_is_free(tmp_path):
    """In a network and a hosts file of its own, so that nothing but what the verbs did leads anybody here."""
    hosts = tmp_path / "hosts"
    hosts.write_text("127.0.0.1 localhost\n")
    assert verb(tmp_path, "hosts", "--write", "--file", str(hosts)).returncode == 0
    alone = ["unshare", "--net", "--mount", "sh", "-c", 'ip link set lo up && mount --bind "$0" /etc/hosts && exec "$@"', hosts]
    with running(tmp_path, "--ephemeral", "--tls", "--tls-port", "443", prefix=alone) as server:
        there = ["nsenter", "--target", str(server.process.pid), "--net", "--mount"]
        environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
        trusting = {**environment, "REQUESTS_CA_BUNDLE": server.authority, "SSL_CERT_FILE": server.authority}
        for sdk in ("ios", "web", "python", "deepgram", "suki"):
            answer = subprocess.run(
                [*there, BINARY, "doctor", "--ready-file", server.ready_file, "--sdk", sdk], capture_output=True, text=True,
                env=trusting)
            assert answer.returncode == 0 and "PROBLEM" not in answer.stdout, answer.stdout
        for url in ("https://api.eka.care/livez", "https://m-prod-voice-record.s3-ap-south-1.amazonaws.com/"):
            assert subprocess.run(
                [*there, "curl", "-sS", "--cacert", server.authority, "-o", "/dev/null", "-w", "%{http_version}", url],
                capture_output=True, text=True, env=environment).stdout == "2"
        login = ("import ekacare; client = ekacare.EkaCareClient(client_id='dev-client', client_secret='dev-secret'); "
                 "print(bool(client.auth.login()['access_token']))")
        answer = subprocess.run(
            [*there, pathlib.Path(sys.prefix) / "ekacare/bin/python", "-c", login], capture_output=True, text=True, env=trusting)
        assert answer.stdout.splitlines()[-1:] == ["True"], answer.stderr
