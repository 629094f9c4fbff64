"""State at the start: seeds, fault rules and fixtures of files, which are there before the first request."""

import pytest
import requests
from emulator import run, running
from namespaces import control

SEED = """
clients:
  - {client_id: clinic, client_secret: clinic-secret, api_keys: [clinic-key-1]}
consultations:
  - {client_id: clinic, txn_id: visit-1, transcript: "What brings you in? I have a cough."}
"""
MORE = """{"users": [], "consultations": [
  {"client_id": "clinic", "txn_id": "visit-2", "transcript": "I have a fever.", "patient_details": {"age": 40}}]}"""
FAULTS = """
- {operation: commitTransaction, status: 503, times: 1, client: clinic}
- {id: slow, operation: transcription, fail: transcription_failed}
"""
FIXTURES = "fixtures: [{name: cough, text: A dry cough.}]"


def written(folder, **files: str):
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)
    return folder


def transaction(server, name: str) -> dict:
    return control(server, "GET", f"transactions/{name}").json()


def login(server) -> int:
    body = {"client_id": "clinic", "client_secret": "clinic-secret"}
    return requests.post(f"{server.base_url}/connect-auth/v1/account/login", json=body).status_code


def test_files_are_applied_before_the_server_is_ready_and_seeds_once_to_a_data_folder(tmp_path):
    files = written(tmp_path / "files", seed__yaml=SEED, more__json=MORE, faults__yaml=FAULTS)
    flags = (
        "--data-dir", "data", "--seed", str(files / "seed.yaml"), "--seed", str(files / "more.json"),
        "--faults", str(files / "faults.yaml"))
    with running(tmp_path, *flags) as server:
        for name in ("visit-1", "visit-2"):
            assert transaction(server, name)["processing_status"] == "success", "a fault of results came too early"
        rules = control(server, "GET", "faults").json()["faults"]
        assert [(rule["id"], rule["applied"]) for rule in rules] == [("fault-1", 0), ("slow", 0)]
        assert login(server) == 200
        assert control(server, "DELETE", "transactions/visit-1").status_code == 204
    with running(tmp_path, *flags) as server:
        assert transaction(server, "visit-1")["code"] == "not_found", "a seed came twice"
        assert transaction(server, "visit-2")["is_final"]
        assert len(control(server, "GET", "faults").json()["faults"]) == 2
        assert login(server) == 200
    # Another content is another seed, and clients that are there are replaced.
    (files / "seed.yaml").write_text(SEED + "# changed\n")
    with running(tmp_path, *flags) as server:
        assert transaction(server, "visit-1")["is_final"]


def test_a_folder_of_files_is_applied_as_mounted(tmp_path):
    files = written(
        tmp_path / "start", seed__yaml=SEED, seed_2__json=MORE, faults_of_team__yml=FAULTS, fixtures__yaml=FIXTURES)
    # As Kubernetes mounts a ConfigMap.
    (files / "..data").mkdir()
    with running(tmp_path, "--ephemeral", environment={"SCRIBE_START_DIR": str(files)}) as server:
        assert transaction(server, "visit-1")["is_final"] and transaction(server, "visit-2")["is_final"]
        assert len(control(server, "GET", "faults").json()["faults"]) == 2
        # A fixture is known by its name: a transaction that names another one is refused.
        visit = server.client("clinic", "clinic-secret").transaction()
        assert visit.init(patient_details={"visit_id": "fixture:cough"}).status_code == 201
    with running(tmp_path, "--ephemeral", "--start-dir", str(tmp_path / "none")) as server:
        assert control(server, "GET", "faults").json()["faults"] == []


@pytest.mark.parametrize("files, problem", [
    ({"faults.yaml": "- {operation: commitTransactoin, status: 503}"},
     "faults.yaml: 'operation' is not known: no operation is called 'commitTransactoin'; nearest: commitTransaction"),
    ({"seed.yaml": SEED, "seed-2.yaml": "consultations: [{client_id: nobody, transcript: x}]"},
     "'consultations[0].client_id' is no client of this namespace and of this body"),
    ({"seed.yaml": SEED, "faults.yaml": "- {status: 503, client: nobody}"}, "no client is called 'nobody'"),
    ({"seed.yaml": "clients: [{client_id: dev-client, client_secret: x}]"}, "The demo has a client of this id"),
    ({"seed.yaml": "{a: b"}, "it is not YAML"),
], ids=["operation", "reference", "client", "demo client", "YAML"])
def test_a_file_that_cannot_be_applied_ends_the_start_and_leaves_nothing(tmp_path, files, problem):
    folder = written(tmp_path / "start", **{name.replace(".", "__"): text for name, text in files.items()})
    command = ("serve", "--port", "0", "--data-dir", "data", "--start-dir", str(folder))
    failed = run(*command, cwd=tmp_path)
    assert failed.returncode == 1
    assert problem in failed.stderr and failed.stderr.count("\n") == 1, failed.stderr
    for file in folder.iterdir():
        file.unlink()
    with running(tmp_path, "--data-dir", "data") as server:
        assert control(server, "GET", "info").json()["counts"]["objects"] == 0
        assert transaction(server, "visit-1")["code"] == "not_found"
        assert login(server) == 401



def test_equal_files_are_one_seed(tmp_path):
    files = written(tmp_path / "start", seed_1__yaml="", seed_2__yaml="", seed_3__json=SEED, seed_4__json=SEED)
    with running(tmp_path, "--ephemeral", "--start-dir", str(files)) as server:
        assert transaction(server, "visit-1")["is_final"]
