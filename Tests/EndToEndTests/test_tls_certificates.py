"""TLS certificates and authorities: made by the server, or by somebody else."""

import os
import pathlib
import re
import shutil
import socket
import ssl
import subprocess

import pytest
import requests
from emulator import PATIENCE, TLS, running, wait_until
from tls import Encrypted, refusal, verb


def test_every_host_of_the_sdks_and_of_this_machine_is_in_the_certificate(server):
    hosts = listed_hosts(server)
    assert {"api.eka.care", "cog.staging.eka.care", "m-prod-voice-record.s3-ap-south-1.amazonaws.com", "sdp.suki.ai",
            "m-prod-ekascribe-batch.s3.amazonaws.com", "api.deepgram.com", "api.aldea.ai", "stt-api.subq.ai",
            "api.subquadratic.ai", "api.omi.me", "sdp.suki-stage.com"} <= set(hosts)
    for host in [
        *hosts, "localhost", "host.docker.internal", "any-bucket.s3.ap-south-1.amazonaws.com", "s3.amazonaws.com"
    ]:
        if "dualstack" not in host and "s3-accelerate" not in host:
            with Encrypted(server, PATIENCE, host) as connection:
                assert connection.tls.version() == "TLSv1.3"


def listed_hosts(server) -> list[str]:
    lines = verb(server.folder, "hosts").stdout.splitlines()
    return [line.split()[1] for line in lines if line and not line.startswith("#")]


def test_the_hosts_file_names_the_sdks_own_buckets_alone_at_each_kind_of_endpoint(server):
    """Other buckets stay reachable. The authority does not vouch for dual-stack and accelerate endpoints."""
    hosts = [host for host in listed_hosts(server) if host.endswith(".amazonaws.com")]
    assert all(re.match(r"m-[a-z0-9-]+\.s3[.-]", host) for host in hosts), "a region's host names no bucket"
    places = {host.split(".", 1)[1] for host in hosts}
    assert len(hosts) == 5 * len(places) and {
        "s3.amazonaws.com", "s3.ap-south-1.amazonaws.com", "s3-ap-south-1.amazonaws.com",
        "s3.dualstack.ap-south-1.amazonaws.com", "s3-accelerate.amazonaws.com", "s3-accelerate.dualstack.amazonaws.com",
    } <= places
    for place in ("s3.dualstack.ap-south-1.amazonaws.com", "s3-accelerate.amazonaws.com"):
        with pytest.raises(ssl.SSLCertVerificationError), Encrypted(server, PATIENCE, f"m-prod-voice-record.{place}"):
            pass


@pytest.mark.parametrize("address", ["127.0.0.1", "10.0.2.2", "::1"])
def test_the_certificate_contains_ip_addresses(server, address):
    with Encrypted(server, PATIENCE, address):
        pass


def test_the_authority_is_limited_to_these_hosts(server, tmp_path):
    """Whoever steals its key cannot be anybody else for those who trust it."""
    folder = pathlib.Path(server.authority).parent

    def verified(name):
        subprocess.run(
            ["openssl", "req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=x", "-keyout", "k", "-out", "r"],
            cwd=tmp_path, check=True, capture_output=True)
        (tmp_path / "e").write_text(f"subjectAltName={name}\nbasicConstraints=CA:FALSE\nextendedKeyUsage=serverAuth\n")
        subprocess.run(
            ["openssl", "x509", "-req", "-in", "r", "-CA", folder / "ca.pem", "-CAkey", folder / "ca-key.pem",
             "-CAcreateserial", "-CAserial", tmp_path / "serial", "-extfile", "e", "-out", "c", "-days", "2"],
            cwd=tmp_path, check=True, capture_output=True)
        return subprocess.run(["openssl", "verify", "-CAfile", folder / "ca.pem", "c"], cwd=tmp_path,
                              capture_output=True, text=True).stdout.strip() == "c: OK"

    assert verified("DNS:api.eka.care")
    for name in ("DNS:bank.example", "DNS:eka.care", "DNS:www.eka.care", "DNS:amazonaws.com", "IP:8.8.8.8",
                 "DNS:b.s3-accelerate.amazonaws.com", "DNS:b.s3.dualstack.ap-south-1.amazonaws.com"):
        assert not verified(name), name


# Certificates that somebody else made.


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
        self._openssl(
            "req", "-newkey", *kind, "-nodes", "-subj", f"/CN={name}", "-keyout", "new-key.pem", "-out", "request.pem")
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


@pytest.mark.parametrize(
    "kind", [
        ("rsa:2048",), pytest.param(("ec", "-pkeyopt", "ec_paramgen_curve:P-384"), marks=pytest.mark.full),
    ], ids=lambda kind: kind[0])
def test_a_certificate_of_the_users_own_is_served_and_replaced_without_a_restart(files, tmp_path, kind):
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
        server.logged("the certificate that is served stays as it is")
        assert files.shown(server) == "second.test"


def of_another_key(files):
    files.issue("second.test")
    shutil.copy(files.folder / "new-key.pem", files.key)


def small(files):
    files.issue("small.test", ("rsa:1024",))
    files.put()


def expired(files):
    files.issue("third.test", days=("-days", "-1"))
    files.put()


def full(*values):
    return pytest.param(*values, marks=pytest.mark.full)


@pytest.mark.parametrize("spoil, reason", [
    (of_another_key, "does not belong to the key"), (expired, "expired on"),
    full(lambda files: files.key.write_bytes(b"nonsense"), "holds no private key"),
    full(lambda files: files.certificate.write_text("nonsense"), "holds no certificate"),
    full(small, "of a kind that is not supported"), full(lambda files: files.certificate.unlink(), "no such file"),
])
def test_certificates_that_cannot_be_served_end_the_start_with_a_reason(files, tmp_path, spoil, reason):
    files.issue("first.test")
    files.put()
    spoil(files)
    assert reason in refusal(tmp_path, *files.flags)


@pytest.mark.full
@pytest.mark.parametrize("flag", ["--tls-certificate", "--tls-key"])
def test_a_certificate_without_a_key_or_a_key_alone_ends_the_start(files, tmp_path, flag):
    files.issue("first.test")
    files.put()
    assert "set both" in refusal(tmp_path, flag, str(files.certificate if flag == "--tls-certificate" else files.key))


def modes_of_keys(folder) -> dict:
    return {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir() if path.name.endswith("key.pem")}


ONLY_ITS_OWNER = {"ca-key.pem": 0o600, "key.pem": 0o600}


# The next test has one start.
@pytest.mark.full
def test_the_authority_is_kept_between_starts_and_readable_only_by_its_owner(tmp_path):
    # This makes the authority.
    pem = verb(tmp_path, "trust", "--pem").stdout
    assert pem.startswith("-----BEGIN CERTIFICATE-----")
    for _ in range(2):
        with running(tmp_path, "--ephemeral", *TLS) as server:
            assert pathlib.Path(server.authority).read_text() == pem
            assert requests.get(f"{server.base_url}/ca.pem").text == pem
    folder = tmp_path / ".local/share/scribe-emulator/tls"
    assert modes_of_keys(folder) == ONLY_ITS_OWNER
    folder.chmod(0o755)
    assert f"chmod 700 {folder}" in refusal(tmp_path, *TLS)
    assert f"chmod 700 {folder}" in verb(tmp_path, "trust").stderr


@pytest.mark.parametrize("is_whole", [False, pytest.param(True, marks=pytest.mark.full)], ids=["short", "whole"])
def test_names_and_a_folder_of_ones_own_whose_authority_is_kept_and_readable_only_by_its_owner(tmp_path, is_whole):
    flags = ["--tls-dir", str(tmp_path / "mine"), "--tls-name", "scribe.test,192.168.7.7"]
    # This makes the authority.
    pem = verb(tmp_path, "trust", "--pem", *flags).stdout
    assert pem.startswith("-----BEGIN CERTIFICATE-----")
    with running(tmp_path, "--ephemeral", *TLS, *flags) as server:
        server.authority = str(tmp_path / "mine/ca.pem")
        assert pathlib.Path(server.authority).read_text() == requests.get(f"{server.base_url}/ca.pem").text == pem
        assert modes_of_keys(tmp_path / "mine") == ONLY_ITS_OWNER
        for host in ("scribe.test", "192.168.7.7", "api.eka.care"):
            with Encrypted(server, PATIENCE, host):
                pass
        assert verb(tmp_path, "trust", "--pem", *flags).stdout == pathlib.Path(server.authority).read_text()
    assert not is_whole or "write hosts such as" in refusal(tmp_path, "--tls", "--tls-name", "a b")
    # Who only asks replaces nothing; who serves other names goes on vouching for those of before.
    before = pathlib.Path(server.authority).read_text()
    assert verb(tmp_path, "trust", "--pem", *flags[:2], "--tls-name", "other.test").stdout == before
    with running(tmp_path, "--ephemeral", *TLS, *flags[:2], "--tls-name", "other.test") as server:
        server.authority = str(tmp_path / "mine/ca.pem")
        after = pathlib.Path(server.authority).read_text()
        assert after != before
    if is_whole:
        with running(tmp_path, "--ephemeral", *TLS, *flags):
            pass
        assert (tmp_path / "mine/ca.pem").read_text() == after
    (tmp_path / "mine/ca-key.pem").chmod(0o644)
    assert "chmod 600" in refusal(tmp_path, *TLS, *flags)
