"""A thousand namespaces at once, each used by boto3 and deepgram-sdk, and each twentieth by the AWS CLI and the Python
SDK as well: nothing of one is in another. `make bench-test` runs it; BENCH_NAMESPACES is another number."""

import collections
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import threading
import time

import botocore.exceptions
import tls
from client import BUCKET
from emulator import PATIENCE, TLS, running, wait_until
from listen_client import SPEECH, environment
from namespaces import Access, access, control, counts, created
from test_namespaces_parallel import MAKING, visit
from test_python_sdk import Ekacare

COUNT = int(os.environ.get("BENCH_NAMESPACES", "1000"))
THREADS = 24
#: Each one of so many namespaces is used by programs, which take a second of processor time each.
PROGRAMS = 20
AWS = pathlib.Path(sys.executable).parent / "aws"


def mark(number: int) -> bytes:
    return f"only in {number}".encode()


def bodies(number: int) -> list[bytes]:
    """Parts of an upload: one, or where programs are at work two, the first of which has 5 MB at least."""
    return [mark(number).ljust(5 << 20), mark(number)] if number % PROGRAMS == 0 else [mark(number)]


def put(s3, number: int):
    """The same keys in each namespace, with bytes of its own."""
    s3.put_object(Bucket="shared", Key="key", Body=mark(number), IfNoneMatch="*")
    try:
        s3.put_object(Bucket="shared", Key="key", Body=b"x", IfNoneMatch="*")
        raise AssertionError("a key was written twice")
    except botocore.exceptions.ClientError as error:
        assert error.response["Error"]["Code"] == "PreconditionFailed"
    where = {"Bucket": "shared", "Key": "parts"}
    upload = s3.create_multipart_upload(**where)["UploadId"]
    parts = [
        {"PartNumber": part, "ETag": s3.upload_part(**where, UploadId=upload, PartNumber=part, Body=body)["ETag"]}
        for part, body in enumerate(bodies(number), 1)]
    s3.complete_multipart_upload(**where, UploadId=upload, MultipartUpload={"Parts": parts})


def listen(server, inside: Access) -> int:
    """Streams speech with the SDK. Returns the number of words that it heard."""
    from deepgram import DeepgramClient
    from deepgram.core.events import EventType
    from deepgram.listen.v1.types import ListenV1Results

    messages, ended = [], threading.Event()
    with MAKING:
        client = DeepgramClient(api_key=inside.key, environment=environment(server))
    with client.listen.v1.connect(model="nova-3", encoding="linear16", sample_rate="16000") as connection:
        connection.on(EventType.MESSAGE, messages.append)
        connection.on(EventType.CLOSE, lambda _: ended.set())
        threading.Thread(target=connection.start_listening, daemon=True).start()
        connection.send_media(SPEECH)
        connection.send_close_stream()
        assert ended.wait(PATIENCE)
    finals = [each for each in messages if isinstance(each, ListenV1Results) and each.is_final]
    return sum(len(each.channel.alternatives[0].words) for each in finals)


def sync(server, client, folder: pathlib.Path, number: int):
    """Syncs a folder up and down with the AWS CLI."""
    tree, back = folder / f"tree-{number}", folder / f"back-{number}"
    (tree / "deep").mkdir(parents=True)
    for name in ("one", "deep/two"):
        (tree / name).write_bytes(mark(number))
    keys = client.keys()
    variables = {
        "PATH": os.environ["PATH"], "HOME": str(folder), "AWS_ACCESS_KEY_ID": keys["AccessKeyId"],
        "AWS_SECRET_ACCESS_KEY": keys["SecretKey"], "AWS_SESSION_TOKEN": keys["SessionToken"],
        "AWS_DEFAULT_REGION": "ap-south-1"}
    for arguments in ([tree, "s3://shared/tree"], ["s3://shared/tree", back]):
        subprocess.run(
            [AWS, "--endpoint-url", server.base_url, "s3", "sync", *arguments], check=True, env=variables,
            capture_output=True, timeout=PATIENCE)
    assert {path.name: path.read_bytes() for path in back.rglob("*") if path.is_file()} == {
        name: mark(number) for name in ("one", "two")}


def record(server, inside: Access, folder: pathlib.Path, number: int):
    """Starts a transaction with the Python SDK, whose hosts are compiled in: the credentials choose the namespace."""
    sdk = Ekacare(
        tls.environment(server, folder / f"hosts-{number}"), client_id=inside.client, client_secret=inside.secret,
        base_url=server.base_url)
    try:
        token = sdk.call("auth.login")["access_token"]
        sdk.call("set_access_token", token=token)
        assert sdk.call("files.get_upload_location", txn_id="of-the-sdk")["folderPath"]
    finally:
        sdk.process.stdin.close()
        sdk.process.wait(timeout=PATIENCE)
        sdk.process.stdout.close()


def test_a_thousand_namespaces_stay_isolated_from_each_other(tmp_path):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    flags = ("--ephemeral", "--object-wait", "50ms", *TLS)
    with running(tmp_path, *flags, environment={"TMPDIR": str(temporary)}) as server:
        before, begun = counts(server), time.monotonic()
        idle = server.memory("VmRSS")

        def work(number: int):
            made = created(server, f"bench-{number}")
            inside = access(server, made, "credentials")
            client, s3 = visit(inside, number)
            put(s3, number)
            assert listen(server, inside) == 10
            if number % PROGRAMS == 0:
                sync(server, client, tmp_path, number)
                record(server, inside, tmp_path, number)
            return inside, client, s3

        def look(number: int):
            inside, client, s3 = used[number]
            assert client.history() == ["visit"]
            listed = [each["Key"] for each in s3.list_objects_v2(Bucket="shared").get("Contents", [])]
            assert listed == ["key", "parts"] + ["tree/deep/two", "tree/one"] * (number % PROGRAMS == 0), listed
            assert s3.get_object(Bucket="shared", Key="key")["Body"].read() == mark(number)
            assert s3.get_object(Bucket="shared", Key="parts")["Body"].read() == b"".join(bodies(number))
            audio = [each["Key"].rsplit("/", 1)[1] for each in s3.list_objects_v2(Bucket=BUCKET)["Contents"]]
            assert audio == sorted(["1.wav", f"{number}.txt"]), audio
            other = used[(number + 1) % COUNT][0]
            answer = client.session.get(f"{other.base_url}/ns/{other.name}/voice/api/v2/transaction/history")
            assert answer.status_code == 401 or COUNT == 1

        with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
            used = list(pool.map(work, range(COUNT)))
            made_in = time.monotonic() - begun
            list(pool.map(look, range(COUNT)))
            assert counts(server) == before and server.metric("scribe_namespaces") == COUNT
            each = (server.memory("VmRSS") - idle) / COUNT / 1000
            print(json.dumps({
                "namespaces": COUNT, "seconds": round(made_in), "kilobytes_each": round(each),
                "row_kilobytes_each": round(server.metric("scribe_namespace_memory_bytes") / COUNT / 1000)}))
            statuses = collections.Counter(
                pool.map(
                    lambda number: control(server, "DELETE", f"namespaces/bench-{number}").status_code, range(COUNT)))
        assert statuses == {204: COUNT}
        [folder] = temporary.glob("scribe-emulator-*")
        # One is of the default namespace.
        wait_until(lambda: len(list((folder / "work/worlds").iterdir())) == 1, "the audio of all others is removed")
    assert not any(temporary.iterdir())
