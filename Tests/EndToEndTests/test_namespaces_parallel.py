"""Many namespaces at once. test_crashes.py and test_process_stops.py have the ends of their server."""

import collections
import concurrent.futures
import threading

from client import BUCKET
from emulator import PATIENCE
from namespaces import WAYS, Access, EkaClient, access, control, counts, created
from session_client import recording

COUNT = 50
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
    # Jobs of earlier tests may end meanwhile.
    assert set(found) <= set(listed) and {**counts(server), "jobs": before["jobs"]} == before
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
    assert control(server, "DELETE", "namespaces/victim").status_code == 204


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
    assert control(server, "DELETE", "namespaces/both").status_code == 204
