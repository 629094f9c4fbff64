"""TLS verbs of the command: `trust`, `hosts` and `doctor`."""

import os
import pathlib
import re
import subprocess
import sys

import pytest
import requests
from emulator import BINARY, PATIENCE, PLAIN, running
from tls import verb


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
        assert "no lines of ours" in verb(tmp_path, "hosts", "--remove", "--file", str(file)).stdout
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


def test_the_doctor_finds_no_problem_of_a_working_server(server):
    answer = doctor(server)
    assert answer.returncode == 0 and "PROBLEM" not in answer.stdout, answer.stdout
    assert "authentication is lenient" in answer.stdout and "TLS works" in answer.stdout


@pytest.mark.parametrize("sdk", ["ios", "python", "deepgram", "suki"])
def test_the_doctor_lists_hosts_that_resolve_elsewhere_and_a_port_without_server(server, sdk):
    answer = doctor(server, "--sdk", sdk, "--port", "1")
    assert answer.returncode == 1
    step = f"sudo {BINARY.resolve()} hosts --write"
    assert step in answer.stdout, "sudo looks for a program in folders of its own"
    assert step in verb(server.folder, "hosts").stderr
    assert "port 1, which the SDK uses, does not reach the server" in answer.stdout


def test_the_doctor_asks_the_server_for_its_tls_port(server):
    answer = verb(server.folder, "doctor", "--url", server.base_url, environment={"SCRIBE_TLS": "true"})
    assert f"TLS works on port {server.tls_port}" in answer.stdout, answer.stdout
    info = requests.get(f"{server.base_url}/__admin/info").json()
    assert info["settings"]["tls_port"] == str(server.tls_port)


@pytest.mark.parametrize("flag", [pytest.param("--port", marks=pytest.mark.full), "--tls-port"])
def test_a_port_that_the_user_may_not_open_is_named_with_the_command_that_allows_it(tmp_path, flag):
    # As an ordinary user, in a network namespace of its own, where ports below 1024 are root's.
    flags = ["--ephemeral", "--tls", "--port", "0", "--tls-port", "0", flag, "443"]
    result = subprocess.run(
        ["unshare", "--net", "sh", "-c", 'ip link set lo up; exec setpriv --bounding-set=-net_bind_service "$@"',
         "sh", BINARY, "serve", *flags], capture_output=True, text=True, cwd=tmp_path, timeout=PATIENCE,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)})
    assert result.returncode == 1
    assert "this user may not listen on port 443" in result.stderr
    assert "sysctl net.ipv4.ip_unprivileged_port_start=443" in result.stderr


def in_own_hosts(server, *arguments, environment=None, elsewhere=None):
    """A verb on a machine whose hosts lead here: in a mount namespace of its own.
    `elsewhere` maps hosts to other addresses: the first line of a host counts."""
    hosts = server.folder / "hosts"
    others = "".join(f"{address} {host}\n" for host, address in (elsewhere or {}).items())
    hosts.write_text(f"{others}127.0.0.1 localhost\n")
    verb(server.folder, "hosts", "--write", "--file", str(hosts))
    for host in elsewhere or {}:
        hosts.write_text(re.sub(rf"(?m)^127\S+ {re.escape(host)}\n", "", hosts.read_text()))
    return subprocess.run(
        ["unshare", "--mount", "sh", "-c", 'mount --bind "$1" /etc/hosts && shift && exec "$@"', "sh", hosts,
         BINARY, *arguments],
        capture_output=True, text=True, cwd=server.folder,
        env={"PATH": os.environ["PATH"], "HOME": str(server.folder), **(environment or {})})


def test_the_doctor_checks_the_trust_store_of_an_sdk(server):
    arguments = ["doctor", "--ready-file", server.ready_file, "--sdk", "python", "--port", str(server.tls_port)]
    answer = in_own_hosts(server, *arguments)
    assert answer.returncode == 1
    assert f"export REQUESTS_CA_BUNDLE={server.authority}" in answer.stdout, answer.stdout + answer.stderr
    answer = in_own_hosts(server, *arguments, environment={"REQUESTS_CA_BUNDLE": server.authority})
    assert (answer.returncode, answer.stdout.count("ok ")) == (0, 8), answer.stdout


@pytest.mark.parametrize("sdk, host, address", [
    ("ios", "m-prod-voice-record.s3-ap-south-1.amazonaws.com", "52.95.110.1"),
    ("ios", "m-prod-voice-record.s3-ap-south-1.amazonaws.com", "10.9.9.9"),
    ("deepgram", "api.deepgram.com", "208.184.1.1"), ("suki", "sdp.suki.ai", "34.1.1.1")])
def test_the_doctor_finds_the_hosts_by_which_an_sdk_would_send_audio_elsewhere(server, sdk, host, address):
    arguments = ["doctor", "--ready-file", server.ready_file, "--sdk", sdk, "--port", str(server.tls_port)]
    answer = in_own_hosts(server, *arguments, elsewhere={host: address})
    assert answer.returncode == 1
    assert (
        f"PROBLEM  the SDK would send audio away from this server, to {host} ({address})\n"
        f"         -> do not record before they lead to this server: sudo {BINARY.resolve()} hosts --write\n"
    ) in answer.stdout, answer.stdout + answer.stderr


def test_the_doctor_warns_of_region_hosts_that_lead_to_s3_itself(server):
    """`hosts` leaves them alone, and so the warning is no problem."""
    region = {"s3.ap-south-1.amazonaws.com": "52.219.1.1"}
    environment = {"REQUESTS_CA_BUNDLE": server.authority}
    for sdk in (["--sdk", "web"], []):
        arguments = ["doctor", "--ready-file", server.ready_file, *sdk, "--port", str(server.tls_port)]
        answer = in_own_hosts(server, *arguments, environment=environment, elsewhere=region)
        assert answer.returncode == 0 and "PROBLEM" not in answer.stdout, answer.stdout + answer.stderr
        [line] = [line for line in answer.stdout.splitlines() if line.startswith("WARNING")]
        assert line.endswith("would send audio to S3 itself: s3.ap-south-1.amazonaws.com (52.219.1.1)")


def test_the_doctor_without_an_sdk_warns_of_all_hosts_that_lead_elsewhere(server):
    away = {"api.eka.care": "3.1.1.1", "api.deepgram.com": "3.1.1.2", "sdp.suki.ai": "3.1.1.3"}
    answer = in_own_hosts(server, "doctor", "--ready-file", server.ready_file, elsewhere=away)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    [line] = [line for line in answer.stdout.splitlines() if line.startswith("WARNING")]
    assert all(f"{host} ({address})" in line for host, address in away.items()), line


def test_the_doctor_reports_a_missing_server_a_foreign_server_and_one_without_tls(served, tmp_path):
    answer = verb(tmp_path, "doctor", "--url", "http://127.0.0.1:1")
    assert answer.returncode == 1 and "scribe-emulator serve --tls" in answer.stdout
    answer = doctor(served(*PLAIN))
    assert answer.returncode == 1 and "plain HTTP only" in answer.stdout


def test_the_two_commands_are_enough_on_a_machine_whose_port_443_is_free(tmp_path):
    """In a network and a hosts file of its own, so that nothing but what the verbs did leads anybody here."""
    hosts = tmp_path / "hosts"
    hosts.write_text("127.0.0.1 localhost\n")
    assert verb(tmp_path, "hosts", "--write", "--file", str(hosts)).returncode == 0
    alone = [
        "unshare", "--net", "--mount",
        "sh", "-c", 'ip link set lo up && mount --bind "$0" /etc/hosts && exec "$@"', hosts]
    with running(tmp_path, "--ephemeral", "--tls", "--tls-port", "443", prefix=alone) as server:
        there = ["nsenter", "--target", str(server.process.pid), "--net", "--mount"]
        environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
        trusting = {**environment, "REQUESTS_CA_BUNDLE": server.authority, "SSL_CERT_FILE": server.authority}
        for sdk in ("ios", "web", "python", "deepgram", "suki"):
            answer = subprocess.run(
                [*there, BINARY, "doctor", "--ready-file", server.ready_file, "--sdk", sdk],
                capture_output=True, text=True, env=trusting)
            assert answer.returncode == 0 and "PROBLEM" not in answer.stdout, answer.stdout
        for url in ("https://api.eka.care/livez", "https://m-prod-voice-record.s3-ap-south-1.amazonaws.com/"):
            assert subprocess.run(
                [*there, "curl", "-sS", "--cacert", server.authority, "-o", "/dev/null", "-w", "%{http_version}", url],
                capture_output=True, text=True, env=environment).stdout == "2"
        login = ("import ekacare; client = ekacare.EkaCareClient(client_id='dev-client', client_secret='dev-secret'); "
                 "print(bool(client.auth.login()['access_token']))")
        answer = subprocess.run(
            [*there, pathlib.Path(sys.prefix) / "ekacare/bin/python", "-c", login],
            capture_output=True, text=True, env=trusting)
        assert answer.stdout.splitlines()[-1:] == ["True"], answer.stderr
