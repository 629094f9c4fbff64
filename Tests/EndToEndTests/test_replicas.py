"""Servers that share rows in PostgreSQL and audio in S3: any request on any of them. `replica_visits.py` has more."""

import concurrent.futures
import contextlib

import pytest
import requests
from client import text
from emulator import PATIENCE, run, wait_until
from listen_client import KEY
from shared_place import BUCKET, GUARDED, KEYS, RequestCounter, replica


@pytest.fixture(scope="module")
def replicas(place, tmp_path_factory):
    """Two servers on a schema of their own, which no test of this file ends."""
    database, endpoint, _ = place
    schema = database.schema()
    with contextlib.ExitStack() as stack:
        yield [
            stack.enter_context(replica(tmp_path_factory.mktemp(name), schema, endpoint, "--long-poll", "3s"))
            for name in ("first", "second")]


def test_a_transaction_that_begins_on_one_server_goes_on_and_ends_on_the_other(replicas, chunks, place):
    first, second = (server.client() for server in replicas)
    # The token of one server is good on the other.
    second.session.headers["Authorization"] = first.session.headers["Authorization"]
    one, two = first.transaction("i-shared"), second.transaction("i-shared")
    assert one.init().status_code == 201
    assert two.init().status_code in (200, 201), "a repeated init finds the row"
    storage = second.s3()
    for path, start, end in chunks:
        two.upload(storage, path, start, end)
    one.uploaded, one.times = two.uploaded, two.times
    assert one.stop().status_code == 200
    # A poll that one server holds ends when the other has the result.
    with concurrent.futures.ThreadPoolExecutor() as pool:
        held = pool.submit(two.poll)
        assert one.commit().status_code == 200
        answer = held.result(timeout=PATIENCE)
    answer = answer if answer.status_code == 200 else wait_until(
        lambda: (again := two.poll()).status_code == 200 and again, "the results are there")
    assert answer.json() == one.poll().json()
    outputs = answer.json()["data"]["output"]
    assert all(output["status"] == "success" for output in outputs) and "fever" in text(outputs[0]).lower()
    key = f"{one.folder}/{one.uploaded[0]}"
    assert first.s3().get_object(Bucket="m-prod-voice-record", Key=key)["Body"].read() == chunks[0][0].read_bytes()
    _, _, client = place
    assert client.list_objects_v2(Bucket=BUCKET)["KeyCount"] >= len(chunks), "the audio is in the bucket"


def test_a_chunk_is_sent_once_and_fetched_at_most_once_by_a_server_that_did_not_receive_it(place, chunks, tmp_path):
    database, endpoint, _ = place
    schema = database.schema()
    with contextlib.ExitStack() as stack:
        ways = [stack.enter_context(RequestCounter(endpoint)) for _ in range(2)]
        # The first server takes the audio, the second recognises it.
        servers = [
            stack.enter_context(
                replica(tmp_path / role, schema, way.url, "--role", role, TMPDIR=str(tmp_path / role)))
            for role, way in zip(("front", "all"), ways)]
        front, worker = [server.client() for server in servers]
        for way in ways:
            way.requests.clear()
            way.answers.clear()
        transaction, storage = front.transaction("i-counted"), front.s3()
        assert transaction.init().status_code == 201
        for path, start, end in chunks:
            transaction.upload(storage, path, start, end)
        assert transaction.stop().status_code == 200 and transaction.commit().status_code == 200
        wait_until(lambda: transaction.poll().status_code == 200, "the results are there")
        key = f"{transaction.folder}/{transaction.uploaded[0]}"
        body = storage.get_object(Bucket="m-prod-voice-record", Key=key)["Body"].read()
        assert body == chunks[0][0].read_bytes()
        puts = len(chunks)
        # A commit may write a list of the files, which nobody recognises.
        assert ways[0].requests.keys() == {"PUT"} and ways[0].requests["PUT"] >= puts, ways[0].requests
        # A request that the busy service did not answer, or with 5xx, is sent again: what counts is what was fetched.
        fetched = {status: count for status, count in ways[1].answers.items() if status < 500}
        assert ways[1].requests.keys() == {"GET"} and fetched == {206: puts}, (ways[1].requests, ways[1].answers)
        worker.session.headers["Authorization"] = front.session.headers["Authorization"]
        assert worker.s3().get_object(Bucket="m-prod-voice-record", Key=key)["Body"].read() == body
        assert ways[1].answers[206] == puts, "it has a copy of what it fetched"
        files = [sum(path.is_file() for path in (tmp_path / role).rglob("spool/*/*")) for role in ("front", "all")]
        assert files == [0, puts], "what was fetched has files; small uploads stay in memory"


def test_a_posted_recording_stays_on_its_server_and_never_reaches_the_bucket(replicas, chunks, place):
    client = place[2]
    before = client.list_objects_v2(Bucket=BUCKET).get("Contents")
    answer = requests.post(
        f"{replicas[0].base_url}/v1/listen", data=chunks[0][0].read_bytes(), timeout=PATIENCE,
        headers={"Authorization": f"Token {KEY}", "Content-Type": "audio/mp4"})
    assert answer.status_code == 200, answer.text
    assert client.list_objects_v2(Bucket=BUCKET).get("Contents") == before


def test_calls_that_would_change_one_server_alone_are_refused(replicas):
    for path in ("faults", "namespaces", "clock", "reset", "snapshots/now", "transactions/t/fail"):
        method = requests.put if path in ("clock", "snapshots/now") else requests.post
        answer = method(f"{replicas[0].base_url}/__admin/{path}", json={}, timeout=PATIENCE)
        assert (answer.status_code, answer.json()["code"]) == (409, "data_is_shared"), path


def test_a_prefix_of_another_database_ends_the_start_because_its_sweep_would_remove_the_audio(
        place, replicas, tmp_path):
    database, endpoint, _ = place
    objects = f"s3://{BUCKET}/{replicas[0].prefix}?endpoint={endpoint}"
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), **KEYS}
    flags = ("--database", database.schema(), "--objects", objects)
    found = run("serve", "--port", "0", *flags, cwd=tmp_path, env=environment)
    assert found.returncode != 0 and "audio of another database" in found.stderr, found.stderr


def test_the_password_of_the_database_comes_from_pgpassword_or_the_file_that_pgpassfile_names(place, tmp_path):
    database, endpoint, _ = place
    database.sql(f"CREATE ROLE {GUARDED} LOGIN SUPERUSER PASSWORD 'open-sesame'")
    schema = database.schema().replace("scribe@", f"{GUARDED}@")
    file = tmp_path / "pgpass"
    file.write_text(f"*:*:*:{GUARDED}:open-sesame\n")
    file.chmod(0o600)
    for variables in ({"PGPASSWORD": "open-sesame"}, {"PGPASSFILE": str(file)}):
        with replica(tmp_path / "server", schema, endpoint, **variables) as server:
            assert server.client().transaction().init(["soap"]).status_code == 201
    flags = ("--database", schema, "--objects", f"s3://{BUCKET}/{server.prefix}?endpoint={endpoint}")
    for variables in ({}, {"PGPASSWORD": "open-barley"}):
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), **KEYS, **variables}
        found = run("serve", "--port", "0", *flags, cwd=tmp_path, env=environment)
        assert found.returncode != 0 and "password" in found.stderr and "barley" not in found.stderr, found.stderr


def full(*values):
    return pytest.param(*values, marks=pytest.mark.full)


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        full(("--database", "mysql://x/y", "--objects", "s3://b"), "is no database"),
        full(("--database", "postgres://scribe@127.0.0.1:{port}/postgres"), "go together"),
        full(("--database", "postgres://scribe@127.0.0.1:1/postgres", "--objects", "s3://b"), "cannot be used"),
        full(("--database", "postgres://scribe@127.0.0.1:{port}/missing", "--objects", "s3://b"), "does not exist"),
        full(("--database", "postgres://scribe@127.0.0.1:{port}/postgres?schema=foreign", "--objects", "s3://b"),
             "another program"),
        # One of the database and one of the bucket in each run.
        (("--database", "postgres://scribe@127.0.0.1:{port}/postgres?schema=later", "--objects", "s3://b"),
         "later version"),
        (("--database", "{schema}", "--objects", "s3://missing?endpoint={endpoint}"), "takes no objects"),
        full(("--database", "{schema}", "--objects", "s3://b", "--allow-reset"), "excludes"),
    ])
def test_a_database_or_bucket_that_cannot_be_used_ends_the_start_with_a_sentence(place, tmp_path, flags, sentence):
    database, endpoint, _ = place
    for statement in (
            "CREATE SCHEMA IF NOT EXISTS foreign_; CREATE SCHEMA IF NOT EXISTS \"foreign\"",
            "CREATE TABLE IF NOT EXISTS \"foreign\".other (id int)",
            "CREATE SCHEMA IF NOT EXISTS later; CREATE TABLE IF NOT EXISTS later.schema_version (version bigint)",
            "INSERT INTO later.schema_version VALUES (99)"):
        database.sql(statement)
    flags = [flag.format(port=database.port, endpoint=endpoint, schema=database.schema()) for flag in flags]
    found = run(
        "serve", "--port", "0", *flags, cwd=tmp_path, env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), **KEYS})
    assert found.returncode != 0 and sentence in found.stderr, found.stderr
    assert "Traceback" not in found.stderr and len(found.stderr.splitlines()) <= 6
