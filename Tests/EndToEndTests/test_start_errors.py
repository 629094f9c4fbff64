"""Mistakes that only a running server, a used data folder or a user without rights shows.

The others: `test_mistakes.py`.
"""

import re
import socket
import subprocess

import pytest
import requests
from emulator import PLAIN, run, running
from messages import asked, explained
from tls import verb


def start(*arguments):
    return ["serve", "--port", "0", *arguments]


#: As root without root's way around modes.
ORDINARY = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]


def remedied(result, ending: str):
    """Runs the command of a message to the letter."""
    command = re.search(rf"Run (.*), {ending}", result.stderr)[1]
    # The tests are root, who needs no sudo.
    subprocess.run(["sh", "-c", command.replace("sudo ", "")], check=True)


def made_writable(folder, name, *flags):
    """Starts a server that is refused, and runs the command of the message."""
    result = asked(folder, start(*flags), prefix=ORDINARY)
    explained(result, [f"{folder}/{name} cannot be used: this user may not write there", "--data-dir"], 1)
    remedied(result, "or choose another folder")


def test_the_commands_in_the_messages_make_a_data_folder_and_its_signing_key_usable(tmp_path):
    """One folder for all of them: each start that succeeds shows what the commands before it have done."""
    data = ("--data-dir", "it's closed/data")
    strict, key = (*data, "--auth", "strict", "--demo-seed"), tmp_path / "it's closed/data/signing-key"
    # A folder that is missing.
    (tmp_path / "it's closed").mkdir(mode=0o500)
    made_writable(tmp_path, "it's closed/data", *data)
    with running(tmp_path, *data, prefix=ORDINARY):
        pass
    # A key without logins is made anew.
    key.unlink()
    with running(tmp_path, *strict, prefix=ORDINARY) as server:
        assert key.exists()
        client = server.client()
        token = {"Authorization": f"Bearer {client.tokens['access_token']}"}
        assert requests.get(f"{server.base_url}/credentials", headers=token).status_code == 200
    # A key with logins that is lost is replaced only on request.
    lost = key.read_bytes()
    key.unlink()
    result = asked(tmp_path, start(*data))
    explained(result, [f"{key} is missing", "--new-signing-key"], 1)
    assert not key.exists()
    with running(tmp_path, *strict, "--new-signing-key") as server:
        assert requests.get(f"{server.base_url}/credentials", headers=token).status_code == 401
    assert key.read_bytes() != lost
    # A key that others can read.
    key.chmod(0o644)
    result = asked(tmp_path, start(*data))
    explained(result, ["signing-key is a key, and other users can read it"], 1)
    remedied(result, "then start again")
    with running(tmp_path, *strict):
        pass


@pytest.mark.full
def test_the_command_in_the_message_makes_a_data_folder_usable(tmp_path):
    with running(tmp_path, "--data-dir", "data"):
        pass
    for name, mode in (("data", 0o500), ("data/states/1/scribe.sqlite", 0o400), ("data/states/1/objects", 0o500)):
        (tmp_path / name).chmod(mode)
        made_writable(tmp_path, name, "--data-dir", "data")
        with running(tmp_path, "--data-dir", "data", prefix=ORDINARY):
            pass


def test_a_folder_that_the_user_may_not_enter_is_left_to_an_administrator(tmp_path):
    (tmp_path / "closed/deep").mkdir(parents=True)
    (tmp_path / "closed").chmod(0o400)
    result = asked(tmp_path, start("--data-dir", "closed/deep/data"), prefix=ORDINARY)
    explained(result, [f"An administrator must let this user into {tmp_path}/closed", "--data-dir"], 1)


@pytest.mark.parametrize("flags, flag", [
    (("--port",), "--port"), (("--tls", "--port", "0", "--tls-port"), "--tls-port"),
])
def test_a_port_in_use_is_the_only_line_of_output(tmp_path, flags, flag):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        result = asked(tmp_path, ["serve", "--ephemeral", *flags, port])
    explained(result, [f"port {port} is in use; choose another with {flag}"], 1)
    assert result.stderr.count("\n") == 1, result.stderr
    assert not (tmp_path / ".local").exists(), "nothing is made before the ports are known to be free"


@pytest.fixture(scope="module", params=[pytest.param(0o600, marks=pytest.mark.full), 0o640], ids=oct)
def unseeded(request, tmp_path_factory):
    """A server without the demo client, whose operators know the token, and whose key some users can read."""
    folder = tmp_path_factory.mktemp("unseeded")
    key = key_file(folder, request.param)
    flags = ("--ephemeral", "--auth", "strict", "--admin-token", "operator", "--signing-key-file", key)
    with running(folder, *flags) as server:
        yield server


@pytest.fixture(scope="module")
def public(tmp_path_factory):
    """The same for other machines, with a token in its data folder, and a key that every user can read."""
    folder = tmp_path_factory.mktemp("public")
    key = key_file(folder, 0o644)
    flags = ("--data-dir", "data", "--host", "0.0.0.0", "--auth", "strict", "--signing-key-file", key)
    with running(folder, *flags) as server:
        yield server


def key_file(folder, mode: int) -> str:
    key = folder / "key"
    key.write_text("k" * 32)
    key.chmod(mode)
    return str(key)


def test_a_signing_key_file_that_every_user_can_read_is_a_warning(unseeded, public):
    public.logged(f"every user can read {public.folder}/key")
    assert "every user can read" not in unseeded.log


def test_env_asks_the_server_whether_it_knows_the_demo_client(server, unseeded, public):
    known = run("env", "--url", server.base_url, cwd=public.folder, env={"SCRIBE_AUTH": "strict"})
    assert known.returncode == 0 and "dev-client" in known.stdout and known.stderr == ""
    unknown = asked(public.folder, ["env", "--url", unseeded.base_url, "--admin-token", "operator"])
    explained(unknown, [f"the server at {unseeded.base_url} has no demo client", "--demo-seed"], 1)
    assert unknown.stdout == ""
    guessed = asked(public.folder, ["env", "--url", public.base_url])
    assert guessed.returncode == 0 and "dev-client" in guessed.stdout
    assert "--data-dir" in guessed.stderr and "SCRIBE_ADMIN_TOKEN" in guessed.stderr
    told = asked(public.folder, ["env", "--url", public.base_url, "--data-dir", "data"])
    assert told.returncode == 1 and "has no demo client" in told.stderr


def test_a_verb_names_what_it_did_not_find_and_where_the_token_is(public):
    where = ("--url", public.base_url)
    for arguments in (("list",), ("list", "--admin-token", "wrong")):
        refused = asked(public.folder, ["webhooks", *arguments, *where])
        explained(refused, ["admin token", "--data-dir", "SCRIBE_ADMIN_TOKEN"], 1)
    unknown = (("test", "99", "There is no webhook '99'"), ("replay", "7", "There is no delivery '7'"))
    for action, number, said in unknown:
        explained(asked(public.folder, ["webhooks", action, number, *where, "--data-dir", "data"]), [said], 1)
    unseen = asked(public.folder, ["doctor", *where])
    assert "SCRIBE_ADMIN_TOKEN" in unseen.stdout, unseen.stdout


def test_the_doctor_wants_no_tls_for_an_sdk_that_takes_a_base_url(tmp_path, served, usual_server):
    server = served(*PLAIN)
    for sdk in ("dotnet", "deepgram"):
        answer = verb(tmp_path, "doctor", "--url", server.base_url, "--sdk", sdk)
        assert answer.returncode == 0 and "no TLS and no hosts are needed" in answer.stdout, answer.stdout
        assert answer.stdout.count(server.base_url) == 2, answer.stdout
    answer = verb(tmp_path, "doctor", "--url", server.base_url, "--sdk", "ios")
    assert answer.returncode == 1 and "plain HTTP only" in answer.stdout, answer.stdout
    base = ("--url", usual_server.base_url, "--sdk", "dotnet", "--port", "1")
    assert verb(usual_server.folder, "doctor", *base).returncode == 1, "its own hosts do not lead here"
    assert verb(usual_server.folder, "doctor", *base, "--base-url").returncode == 0


def test_a_refused_recording_is_logged_with_its_reason_alone(server):
    answer = requests.post(
        f"{server.base_url}/v1/listen", data=b"no audio at all", headers={"Authorization": "Token org_dev_key"})
    assert answer.status_code == 400, answer.text
    server.logged("no known container")
    assert "EngineFailure" not in server.log and "isRetryable" not in server.log
