"""`exec`: a command with a server of its own or a namespace, its exit code, its signals, and the state of a failure."""

import fcntl
import json
import os
import signal
import subprocess
import sys
import tarfile

import pytest
from emulator import BINARY, LOGGING, PATIENCE, is_gone, run, wait_until
from namespaces import Access, EkaClient, control, created

SCRIPT = """
import json, os, sys, urllib.request
base = os.environ["SCRIBE_BASE_URL"]
body = json.dumps({
    "client_id": os.environ["SCRIBE_CLIENT_ID"], "client_secret": os.environ["SCRIBE_CLIENT_SECRET"]}).encode()
request = urllib.request.Request(base + "/connect-auth/v1/account/login", body, {"Content-Type": "application/json"})
token = json.load(urllib.request.urlopen(request))["access_token"]
init = json.dumps({"mode": "consultation", "transfer": "vaded", "s3_url": "s3://bucket/folder"}).encode()
request = urllib.request.Request(base + "/voice/api/v2/transaction/init/of-the-command", init,
                                 {"Content-Type": "application/json", "Authorization": "Bearer " + token})
urllib.request.urlopen(request)
print(json.dumps({name: value for name, value in os.environ.items() if name.startswith("SCRIBE_")}))
sys.exit(int(sys.argv[1]))
"""


def command(code: int) -> list[str]:
    return ["--", sys.executable, "-c", SCRIPT, str(code)]


# 64 is also what the parser of the command line exits with.
@pytest.mark.parametrize("code", [0, 64, pytest.param(200, marks=pytest.mark.full)])
def test_a_command_gets_a_server_and_gives_its_code(served, tmp_path, code):
    folder = tmp_path / "temporary"
    folder.mkdir()
    file = tmp_path / "state.tar"
    answer = run("exec", "--export-on-failure", str(file), *command(code),
                 cwd=tmp_path, env={**os.environ, "TMPDIR": str(folder)})
    assert answer.returncode == code, answer.stderr
    variables = json.loads(answer.stdout)
    assert variables["SCRIBE_LISTEN_URL"] == variables["SCRIBE_BASE_URL"].replace("http", "ws", 1) + "/v1/listen"
    assert variables["SCRIBE_CLIENT_ID"] == "dev-client" and variables["SCRIBE_API_KEY"]
    assert len(variables["SCRIBE_API_KEY_HEX"]) == 40
    # Nothing is left but the state of a failure.
    assert not list(folder.iterdir()) and not (tmp_path / ".scribe").exists()
    assert file.exists() == (code != 0)
    if code:
        with tarfile.open(file) as archive:
            assert archive.getnames() == ["manifest.json", "scribe.sqlite"]
        server = served(*LOGGING)
        name = created(server)["name"]
        here = ("--url", server.base_url, "--namespace", name)
        assert run("snapshot", "import", *here, "failed", str(file)).returncode == 0
        assert run("snapshot", "restore", *here, "failed").returncode == 0
        client = EkaClient(Access(f"{server.base_url}/ns/{name}"))
        assert client.get("/voice/api/v2/transaction/of-the-command").status_code == 200
        control(server, "DELETE", f"namespaces/{name}").raise_for_status()


def test_a_command_gets_a_namespace_that_is_gone_afterwards(served, tmp_path):
    server = served(*LOGGING)
    file = tmp_path / "state.tar"
    answer = run("exec", "--ns", "--url", server.base_url, "--export-on-failure", str(file), *command(5))
    assert answer.returncode == 5, answer.stderr
    variables = json.loads(answer.stdout)
    assert variables["SCRIBE_BASE_URL"].startswith(f"{server.base_url}/ns/n-")
    assert control(server, "GET", "namespaces").json()["namespaces"] == []
    created(server, "again")
    here = ("--url", server.base_url, "--namespace", "again")
    assert run("snapshot", "import", *here, "failed", str(file)).returncode == 0
    assert run("snapshot", "restore", *here, "failed").returncode == 0
    # Verbs within the command are about its namespace.
    answer = run("exec", "--ns", "--url", server.base_url, "--", str(BINARY), "reset", "--json")
    assert answer.returncode == 0 and json.loads(answer.stdout)["namespace"].startswith("n-")
    answer = run(
        "exec", "--ns", "--url", server.base_url, "--", str(BINARY), "env", "--format", "json",
        env={**os.environ, "SCRIBE_READY_FILE": str(server.ready_file)})
    known = json.loads(answer.stdout)
    name = known["base_url"].removeprefix(f"{server.base_url}/ns/")
    assert known["client_id"] == f"ns_{name}_client" and known["api_key"].startswith(f"ns_{name}_")
    assert len(known["api_key_hex"]) == 40
    assert known["client_secret"] and known["listen_url"].endswith(f"/ns/{name}/v1/listen")


def test_every_verb_takes_the_base_url_of_a_namespace(server):
    place = created(server, "of-the-url")
    here = ("--url", f"{place['url']}/")
    assert run("ready", *here).stdout == f"ready: {server.base_url}\n"
    assert json.loads(run("env", "--format", "json", *here).stdout)["base_url"] == place["url"]
    assert place["url"] in run("doctor", *here, "--sdk", "deepgram", "--base-url").stdout
    assert json.loads(run("reset", "--json", *here).stdout)["namespace"] == "of-the-url"
    assert json.loads(run("clock", "show", "--json", *here).stdout)["namespace"] == "of-the-url"
    assert "of-the-url" in run("ns", "list", *here).stdout
    for verb in (("fault", "list"), ("requests", "list"), ("snapshot", "list"), ("webhooks", "list")):
        assert run(*verb, *here).returncode == 0
    assert run("ns", "delete", *here, "of-the-url").returncode == 0
    assert run("reset", *here).returncode == 1


FILES = """
import json, os, sys
print(json.dumps({n: os.readlink(f"/proc/self/fd/{n}") for n in range(1000) if os.path.exists(f"/proc/self/fd/{n}")}))
"""


@pytest.mark.parametrize("ns", [False, True], ids=["a server of its own", "a namespace"])
def test_a_command_has_the_descriptors_of_exec_and_none_that_exec_opened(usual_server, tmp_path, ns):
    where = ("--ns", "--url", usual_server.base_url) if ns else ()
    first, second = os.pipe()
    given = fcntl.fcntl(first, fcntl.F_DUPFD, 700)
    process = subprocess.Popen(
        [BINARY, "exec", *where, "--", sys.executable, "-c", FILES], cwd=tmp_path, stdout=subprocess.PIPE, text=True,
        stdin=subprocess.DEVNULL, pass_fds=[second, given])
    files = json.loads(process.communicate(timeout=PATIENCE)[0])
    assert sorted(map(int, files)) == [0, 1, 2, second, given], files
    assert files[str(second)] == files[str(given)] == os.readlink(f"/proc/self/fd/{second}")
    for file in (first, second, given):
        os.close(file)


def test_a_start_without_streams_and_without_sigchld_is_a_start_with_them(tmp_path):
    script = FILES.replace("print(", "text = (") + "open('files', 'w').write(text)\nsys.exit(7)"
    bare = ["sh", "-c", "trap '' CHLD; exec \"$@\" <&- >&- 2>&-", "sh"]
    command = [*bare, BINARY, "exec", "--", sys.executable, "-c", script]
    assert subprocess.run(command, cwd=tmp_path, timeout=PATIENCE).returncode == 7
    files = json.loads((tmp_path / "files").read_text())
    assert files == dict.fromkeys("012", "/dev/null")


SIGNALS = [
    signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGTERM]
#: Writes each signal to a file. SIGTERM ends it.
WITNESS = f"""
import signal, sys
numbers = {[int(each) for each in SIGNALS]}
signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
open("ready", "w")
while True:
    number = signal.sigwait(numbers)
    open("signals", "a").write(f"{{int(number)}}\\n")
    if number == signal.SIGTERM: sys.exit(9)
"""


def test_signals_go_to_the_command_whose_code_counts(tmp_path):
    process = subprocess.Popen([BINARY, "exec", "--", sys.executable, "-c", WITNESS], cwd=tmp_path)
    wait_until((tmp_path / "ready").exists, "the command runs")
    seen = tmp_path / "signals"
    for sent in SIGNALS:
        process.send_signal(sent)
        wait_until(lambda: seen.exists() and f"{int(sent)}\n" in seen.read_text(), f"the command gets {sent.name}")
    assert process.wait(PATIENCE) == 9


@pytest.mark.parametrize("obeys", [True, pytest.param(False, marks=pytest.mark.full)])
def test_the_end_of_execs_parent_ends_the_command(tmp_path, obeys):
    script = WITNESS if obeys else WITNESS.replace("sys.exit(9)", "pass")
    parent = subprocess.Popen(
        ["sh", "-c", '"$0" exec -- "$1" -c "$2" & echo $!; wait', BINARY, sys.executable, script],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    own = int(parent.stdout.readline())
    wait_until((tmp_path / "ready").exists, "the command runs")
    parent.kill()
    wait_until(lambda: is_gone(own), "exec has ended, and its command before it")
    assert (tmp_path / "signals").read_text() == f"{int(signal.SIGTERM)}\n"
    parent.communicate(timeout=PATIENCE)


def test_a_command_that_a_signal_ends_has_the_code_of_a_shell(tmp_path):
    script = f"import time\nopen('ready', 'w')\ntime.sleep({PATIENCE})"
    process = subprocess.Popen(
        [BINARY, "exec", "--", sys.executable, "-c", script], cwd=tmp_path, stderr=subprocess.DEVNULL)
    wait_until((tmp_path / "ready").exists, "the command runs")
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE) == 128 + signal.SIGTERM


@pytest.mark.parametrize("arguments, code, said", [
    (("exec",), 2, "Missing expected argument"),
    (("exec", "--", "no-such-command"), 127, "no-such-command cannot be run"),
    (("exec", "--", "/"), 126, "/ cannot be run"),
    (("exec", "--ns", "--port", "1", "--", "true"), 2, "leave out --port"),
    (("exec", "--url", "http://127.0.0.1:9", "--", "true"), 2, "add --ns"),
    (("exec", "--ns", "--url", "http://127.0.0.1:9", "--", "true"), 3, "no server answers"),
    (("exec", "--export-on-failure", "/", "--", "true"), 2, "exists"),
    (("exec", "--auth", "nobody", "--", "true"), 2, "nobody"),
])
def test_a_command_that_cannot_be_run_is_reported(tmp_path, arguments, code, said):
    answer = run(*arguments, cwd=tmp_path)
    assert answer.returncode == code and said in answer.stderr, answer


def test_a_seed_is_yaml_or_json(served, tmp_path):
    seed = tmp_path / "seed.yaml"
    seed.write_text("""
clients: [{client_id: clinic, client_secret: "0123", api_keys: [clinic-key]}]
users: [{partner_id: demo-partner, provider_id: dr-rao, provider_org_id: demo-org}]
templates: [{client_id: clinic, template_id: follow-up, title: Follow-up, section_ids: [plan]}]
consultations:
  - client_id: clinic
    txn_id: visit-1
    template_ids: [follow-up]
    transcript: |
      Doctor: What brings you in?
      Patient: I have had a cough for three days.
""")
    server = served(*LOGGING)
    said = run("seed", "--url", server.base_url, str(seed))
    assert said.returncode == 0 and said.stdout.splitlines() == [
        "client  clinic", "user  dr-rao", "template  follow-up", "consultation  visit-1  success"], said
    client = server.client("clinic", "0123")
    result = client.transaction("visit-1").poll()
    assert result.status_code == 200 and result.json()["data"]["output"][0]["template_id"] == "follow-up"
    seed.write_text(json.dumps({"clients": [{"client_id": "dev-client", "client_secret": "x"}]}))
    refused = run("seed", "--url", server.base_url, str(seed))
    assert refused.returncode == 1 and "choose another id" in refused.stderr
    seed.write_text("clients: [")
    assert run("seed", "--url", server.base_url, str(seed)).returncode == 1
    assert run("seed", "--url", server.base_url, str(tmp_path / "nothing")).returncode == 1
