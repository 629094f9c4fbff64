"""Many namespaces at once, and what of them outlives a namespace, a process or a kill: nothing."""

import collections
import concurrent.futures
import contextlib
import os
import pathlib
import threading

import pytest
import requests
from client import BUCKET
from emulator import PATIENCE, Server, running, wait_until
from namespaces import WAYS, Access, EkaClient, access, asked, control, counts, created
from session_client import recording

COUNT = 50


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with running(tmp_path_factory.mktemp("parallel"), "--ephemeral", "--object-wait", "50ms") as server:
        yield server


#: boto3 makes clients in one thread at a time only.
MAKING = threading.Lock()


def visit(inside: Access, mark: int):
    """Under the same names in each namespace. Returns the clients of the API and of S3."""
    client = EkaClient(inside)
    keys, transaction = client.keys(), client.transaction("visit")
    with MAKING:
        s3 = client.s3(keys)
    assert transaction.init(["soap"], additional_data={"mark": mark}).status_code == 201
    for name in ("1.wav", f"{mark}.txt"):
        s3.put_object(Bucket=BUCKET, Key=f"{transaction.folder}/{name}", Body=recording(1, mark), IfNoneMatch="*")
    transaction.uploaded.append("1.wav")
    assert transaction.stop().status_code == transaction.commit().status_code == 200
    while (answer := transaction.poll()).status_code == 202:
        pass
    assert answer.status_code == 200 and answer.json()["data"]["additional_data"] == {"mark": mark}, answer.text
    return client, s3


def seen(client: EkaClient, s3) -> list[str]:
    """All that a client sees: transactions and objects."""
    objects = s3.list_objects_v2(Bucket=BUCKET).get("Contents", [])
    return client.history() + [item["Key"].rsplit("/", 1)[1] for item in objects]


def test_fifty_parallel_namespaces_see_only_their_own_data(server):
    before, together = counts(server), threading.Barrier(COUNT, timeout=PATIENCE)

    def work(number: int) -> tuple[str, list[str]]:
        made = created(server, f"parallel-{number}")
        clients = visit(access(server, made, WAYS[number % 3]), number)
        # All of them are there at the same time.
        together.wait()
        return made["name"], seen(*clients)

    with concurrent.futures.ThreadPoolExecutor(COUNT) as pool:
        found = dict(pool.map(work, range(COUNT)))
    assert found == {f"parallel-{number}": ["visit", *sorted(["1.wav", f"{number}.txt"])] for number in range(COUNT)}
    listed = [each["name"] for each in control(server, "GET", "namespaces").json()["namespaces"]]
    assert set(found) <= set(listed) and counts(server) == before
    with concurrent.futures.ThreadPoolExecutor(COUNT) as pool:
        answers = list(pool.map(lambda name: control(server, "DELETE", f"namespaces/{name}").status_code, found))
    assert answers == [204] * COUNT


def test_resets_disturb_no_other_namespace(server):
    """One namespace is reset again and again, while others work."""
    victim, ended, states = created(server, "victim"), threading.Event(), []

    def resets():
        while not ended.is_set():
            states.append(control(server, "POST", "reset", params={"namespace": "victim"}).json()["state"])

    def suffers():
        statuses = collections.Counter()
        client = EkaClient(access(server, victim, "prefix"))
        while not ended.is_set():
            statuses[client.transaction().init().status_code] += 1
            statuses[client.get("/voice/api/v2/transaction/history").status_code] += 1
        return statuses

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        reset, suffering = pool.submit(resets), pool.submit(suffers)
        try:
            workers = [
                pool.submit(lambda each=each: seen(*visit(access(server, created(server), "prefix"), each)))
                for each in range(12)]
            found = [worker.result(PATIENCE) for worker in workers]
        finally:
            ended.set()
        reset.result(PATIENCE)
        statuses = suffering.result(PATIENCE)
    assert found == [["visit", *sorted(["1.wav", f"{number}.txt"])] for number in range(12)]
    # Its tokens hold all the time, and no request fails in a way that tells of the inside.
    assert states == list(range(2, len(states) + 2)) and set(statuses) <= {200, 201, 503}, statuses
    control(server, "POST", "reset", params={"namespace": "victim"})
    assert EkaClient(access(server, victim, "credentials")).history() == []


def test_resets_and_deletions_of_one_namespace_at_once_all_get_an_answer(server):
    created(server, "both")

    def end(number: int) -> int:
        if number % 4 == 3:
            return control(server, "DELETE", "namespaces/both").status_code
        return control(server, "POST", "reset", params={"namespace": "both"}).status_code

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        statuses = collections.Counter(pool.map(end, range(16)))
    # Refused with 409 while another call changes it.
    assert set(statuses) <= {200, 204, 404, 409} and statuses[204] <= 1 and statuses[200] + statuses[204], statuses
    control(server, "DELETE", "namespaces/both")
    assert created(server, "both")["state"] == 1


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_audio_is_deleted_with_its_namespace_and_with_the_process(tmp_path, end):
    """A restart has no namespaces, and the default world keeps its data."""
    audio = recording(3, 77)

    def holding() -> int:
        """Number of files with the audio, anywhere below the server's folders."""
        found = 0
        for folder, _, names in os.walk(tmp_path):
            for name in names:
                # Files are being removed meanwhile.
                with contextlib.suppress(FileNotFoundError):
                    found += audio in pathlib.Path(folder, name).read_bytes()
        return found

    temporary = tmp_path / "temporary"
    temporary.mkdir()
    flags, options = ("--data-dir", "data"), {"environment": {"TMPDIR": str(temporary)}}
    server = Server(tmp_path, *flags, **options)
    default = EkaClient(Access(server.base_url))
    assert default.transaction("default's").init().status_code == 201
    made = {name: created(server, name) for name in ("reset", "deleted", "kept")}
    clients = {name: EkaClient(access(server, each, "credentials")) for name, each in made.items()}
    for client in clients.values():
        client.s3().put_object(Bucket=BUCKET, Key="1.wav", Body=audio)
    assert holding() == 3
    control(server, "POST", "reset", params={"namespace": "reset"})
    control(server, "DELETE", "namespaces/deleted")
    wait_until(lambda: holding() == 1, "the audio of the others is deleted")
    if end == "stop":
        server.stop()
        assert holding() == 0
    else:
        server.kill()
    with running(tmp_path, *flags, **options) as again:
        wait_until(lambda: holding() == 0, "what a kill left is deleted")
        assert control(again, "GET", "namespaces").json()["namespaces"] == []
        assert asked(again, "GET", "/ns/kept/voice/api/v2/transaction/history").status_code == 404
        for token in ("access_token", "refresh_token"):
            headers = {"Authorization": f"Bearer {clients['kept'].tokens[token]}"}
            assert asked(again, "GET", "/voice/api/v2/transaction/history", headers=headers).status_code == 401
        login = {"client_id": made["kept"]["client_id"], "client_secret": made["kept"]["client_secret"]}
        assert asked(again, "POST", "/connect-auth/v1/account/login", json=login).status_code == 401
        assert EkaClient(Access(again.base_url)).history() == ["default's"]


def test_a_stop_with_open_namespaces_takes_no_longer(tmp_path):
    server = Server(tmp_path, "--ephemeral", "--long-poll", "1h")
    held, answers = [], []
    for number in range(5):
        client = EkaClient(access(server, created(server, f"open-{number}"), "prefix"))
        transaction = client.transaction("visit")
        transaction.init()
        held.append(threading.Thread(target=lambda poll=transaction.poll: answers.append(poll().status_code)))
        held[-1].start()
    wait_until(lambda: server.metric("scribe_held_polls") == len(held), "the polls are held")
    server.stop()
    for thread in held:
        thread.join(PATIENCE)
    assert answers == [202] * 5
    with contextlib.suppress(requests.ConnectionError):
        pytest.fail(f"it still answers: {requests.get(server.base_url).status_code}")
