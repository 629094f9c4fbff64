"""Snapshots: saved, restored, exported with the command and read by tar, imported elsewhere, and refused when bad."""

import contextlib
import io
import json
import sqlite3
import subprocess
import tarfile
from random import Random

import pytest
import requests
from emulator import BINARY, LIMITED, LONG, PATIENCE, ROOT, run, running, wait_until
from namespaces import Access, EkaClient, access, control, created, finished
from session_client import recording

HEADERS = {"Content-Type": "application/octet-stream"}


@pytest.fixture(scope="module")
def server(served):
    server = served(*LONG)
    # What other tests have left.
    control(server, "POST", "reset").raise_for_status()
    return server


def visited(inside: Access, name: str):
    """A finished consultation with an upload, an upload in parts, and one in progress. Returns what can be read again.
    """
    client = EkaClient(inside)
    transaction = client.transaction(name)
    assert transaction.init().status_code == 201
    s3 = client.s3()
    audio = inside_file(name)
    transaction.upload(s3, audio)
    assert transaction.commit().status_code == 200
    finished(transaction)
    s3.put_object(Bucket="kept", Key=f"{name}/a", Body=b"x" * 1000)
    upload = s3.create_multipart_upload(Bucket="kept", Key=f"{name}/b")["UploadId"]
    part = s3.upload_part(Bucket="kept", Key=f"{name}/b", UploadId=upload, PartNumber=1, Body=b"y" * 2000)
    s3.complete_multipart_upload(
        Bucket="kept", Key=f"{name}/b", UploadId=upload,
        MultipartUpload={"Parts": [{"PartNumber": 1, "ETag": part["ETag"]}]})
    going = s3.create_multipart_upload(Bucket="kept", Key=f"{name}/c")["UploadId"]
    s3.upload_part(Bucket="kept", Key=f"{name}/c", UploadId=going, PartNumber=1, Body=b"z" * 10)
    return seen(inside, name)


def inside_file(name: str):
    path = ROOT / ".build" / "snapshots" / f"{name}.wav"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(recording(2))
    return path


def seen(inside: Access, name: str) -> dict:
    client = EkaClient(inside)
    s3 = client.s3()
    return {
        "history": client.history(),
        "result": client.transaction(name).poll().json()["data"]["output"][0]["value"],
        "bytes": [s3.get_object(Bucket="kept", Key=f"{name}/{key}")["Body"].read() for key in "ab"],
        "tags": [s3.head_object(Bucket="kept", Key=f"{name}/{key}")["ETag"] for key in "ab"],
        "uploads": [each["Key"] for each in s3.list_multipart_uploads(Bucket="kept").get("Uploads", [])],
    }


def saved(server, name: str, **options) -> dict:
    answer = control(server, "PUT", f"snapshots/{name}", **options)
    assert answer.status_code == 200, answer.text
    return answer.json()


def imported(server, name: str, data: bytes, **options) -> requests.Response:
    return control(server, "PUT", f"snapshots/{name}/content", data=data, headers=HEADERS, **options)


@pytest.fixture(scope="module")
def exported(server) -> bytes:
    """The file of a snapshot."""
    made = created(server, "exported")
    visited(access(server, made, "prefix"), "visit")
    saved(server, "base", params={"namespace": "exported"})
    answer = control(server, "GET", "snapshots/base/content", params={"namespace": "exported"})
    assert answer.status_code == 200 and answer.headers["Content-Type"] == "application/octet-stream"
    assert int(answer.headers["Content-Length"]) == len(answer.content)
    return answer.content


@pytest.mark.parametrize("name", ["default", "inside"])
def test_a_restore_brings_back_the_saved_rows_and_audio(server, name):
    where = {"params": {"namespace": name}}
    inside = Access(server.base_url) if name == "default" else access(server, created(server, name), "credentials")
    before = visited(inside, "visit")
    record = saved(server, "base", **where)
    assert record["objects"] == 4 and record["name"] == "base"
    client = EkaClient(inside)
    assert client.transaction("later").init().status_code == 201
    client.s3().delete_object(Bucket="kept", Key="visit/a")
    for _ in range(2):
        restored = control(server, "POST", "snapshots/base/restore", **where)
        assert restored.status_code == 200 and restored.json()["namespace"] == name
        # Access tokens stay; S3 credentials have to be fresh.
        assert client.history() == ["visit"] and seen(inside, "visit") == before
        assert control(server, "POST", "reset", **where).json()["state"] == restored.json()["state"] + 1
        assert client.history() == []
    assert [each["name"] for each in control(server, "GET", "snapshots", **where).json()["snapshots"]] == ["base"]
    assert control(server, "DELETE", "snapshots/base", **where).status_code == 204
    assert control(server, "POST", "snapshots/base/restore", **where).status_code == 404


def test_a_snapshot_of_one_namespace_belongs_to_the_client_of_another(server, exported):
    made = created(server, "receiving")
    where = {"params": {"namespace": "receiving"}}
    assert imported(server, "from-elsewhere", exported, **where).json()["objects"] == 4
    assert control(server, "POST", "snapshots/from-elsewhere/restore", **where).status_code == 200
    for way in ("prefix", "credentials"):
        history = EkaClient(access(server, made, way)).history()
        # By prefix the demo client asks, whose rows the snapshot has.
        assert history == (["visit"] if way == "prefix" else [])


def test_rows_of_a_namespaces_own_client_move_with_it(server, tmp_path):
    made = created(server, "own")
    before = visited(access(server, made, "credentials"), "mine")
    file = tmp_path / "own.tar"
    written = run("snapshot", "export", "--url", server.base_url, "--namespace", "own", str(file))
    assert written.returncode == 0, written.stderr
    assert file.stat().st_mode & 0o777 == 0o600
    again = run("snapshot", "export", "--url", server.base_url, "--namespace", "own", str(file))
    assert again.returncode == 1 and "exists" in again.stderr
    command = [BINARY, "snapshot", "export", "--json", "--url", server.base_url, "--namespace", "own", "-"]
    streamed = subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=PATIENCE).stdout
    with tarfile.open(fileobj=io.BytesIO(streamed)) as archive, tarfile.open(file) as other:
        assert archive.getnames() == other.getnames()
    # A reader that leaves, and a full disk: the temporary snapshot goes, too.
    for target in ("| true", "> /dev/full"):
        subprocess.run(["sh", "-c", f'"$0" "$@" {target}', *command], timeout=PATIENCE, stderr=subprocess.DEVNULL)
    listed = run("snapshot", "list", "--url", server.base_url, "--namespace", "own")
    assert listed.stdout == "no snapshots\n"
    here = ("--url", server.base_url, "--namespace", "other-own")
    other = created(server, "other-own")
    assert run("snapshot", "import", *here, "base", str(file)).returncode == 0
    listed = json.loads(run("snapshot", "list", "--json", *here).stdout)
    assert [each["name"] for each in listed["snapshots"]] == ["base"]
    assert run("snapshot", "restore", *here, "base").returncode == 0
    assert seen(access(server, other, "credentials"), "mine") == before
    # In the default namespace they are the demo client's, who had none.
    with running(tmp_path, "--ephemeral", "--object-wait", "50ms", "--snapshot", str(file)) as another:
        assert seen(Access(another.base_url), "mine") == before
    folder, second = tmp_path / "data", tmp_path / "second.tar"
    with running(tmp_path, "--data-dir", str(folder), "--snapshot", str(file)) as another:
        assert seen(Access(another.base_url), "mine") == before
        written = run("snapshot", "export", "--url", another.base_url, str(second))
        assert written.returncode == 0, written.stderr
    refused = run("serve", "--port", "0", "--data-dir", str(folder), "--snapshot", str(file))
    assert refused.returncode == 1 and "holds data already" in refused.stderr
    # And a namespace restores what the data folder has exported.
    made = created(server, "of-a-folder")
    where = {"params": {"namespace": made["name"]}}
    assert imported(server, "base", second.read_bytes(), **where).json()["objects"] == 4
    assert control(server, "POST", "snapshots/base/restore", **where).status_code == 200
    assert seen(access(server, made, "prefix"), "mine") == before


def test_a_snapshot_holds_neither_clients_nor_secrets(exported, tmp_path):
    with tarfile.open(fileobj=io.BytesIO(exported)) as archive:
        names = archive.getnames()
        assert names[:2] == ["manifest.json", "scribe.sqlite"]
        assert all(name.startswith("objects/") for name in names[2:])
        archive.extractall(tmp_path, filter="data")
    with sqlite3.connect(tmp_path / "scribe.sqlite") as database:
        for table in ("clients", "refresh_tokens", "client_keys", "device_logins", "webhooks", "deliveries", "leases"):
            assert database.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,), table


def packed(files: list[tuple[str, bytes]], *kinds: bytes, form=tarfile.USTAR_FORMAT) -> bytes:
    """An archive of files, and of an entry of each other kind."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=form) as archive:
        for name, data in files:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        for kind in kinds:
            info = tarfile.TarInfo("objects/abcdef")
            info.type, info.linkname = kind, "/etc/passwd"
            archive.addfile(info)
    return file.getvalue()


def unpacked(data: bytes) -> dict[str, bytes]:
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        return {info.name: archive.extractfile(info).read() for info in archive}


def edited(data: bytes, folder, *statements: str) -> bytes:
    """The archive with another database."""
    files = unpacked(data)
    path = folder / "edited.sqlite"
    path.write_bytes(files["scribe.sqlite"])
    with sqlite3.connect(path) as database:
        database.executescript(";".join(["PRAGMA foreign_keys = OFF", *statements]))
    database.close()
    return packed(list({**files, "scribe.sqlite": path.read_bytes()}.items()))


def bad_archives(good: bytes, folder):
    files = unpacked(good)
    entries = list(files.items())
    manifest = json.loads(files["manifest.json"])
    first = entries[2][0]

    def with_manifest(**changes):
        return packed([("manifest.json", json.dumps({**manifest, **changes}).encode()), *entries[1:]])

    yield "empty", b"", "not_a_snapshot"
    yield "another file", b"PK\3\4" * 500, "not_a_snapshot"
    yield "zeros", bytes(10240), "not_a_snapshot"
    yield "cut off", good[:len(good) // 2], "damaged_snapshot"
    yield "cut off in the header", good[:100], "not_a_snapshot"
    yield "without its end", good[:-1024], "damaged_snapshot"
    yield "more behind its end", good + b"x" * 512, "damaged_snapshot"
    yield "twice", good + good, "damaged_snapshot"
    yield "newer schema", with_manifest(schema=99), "newer_snapshot"
    yield "newer layout", with_manifest(version=2), "newer_snapshot"
    yield "another program's", with_manifest(format="other"), "not_a_snapshot"
    yield "older schema than any", with_manifest(schema=0), "not_a_snapshot"
    yield "manifest no JSON", packed([("manifest.json", b"{"), *entries[1:]]), "not_a_snapshot"
    yield "database first", packed([entries[1], entries[0], *entries[2:]]), "not_a_snapshot"
    yield "database no database", packed([entries[0], ("scribe.sqlite", b"x" * 5000), *entries[2:]]), "damaged_snapshot"
    for name in (
        "/etc/cron.d/x", "../x", "objects/../../x", "objects/x/y", "objects/", "objects/..", "other", "objects/.x",
    ):
        yield f"name {name}", packed([*entries, (name, b"x")]), "not_a_snapshot"
    yield "a name twice", packed([*entries, entries[2]]), "damaged_snapshot"
    yield "a file too many", packed([*entries, ("objects/abcdef", b"x")]), "damaged_snapshot"
    yield "a file too few", packed(entries[:-1]), "damaged_snapshot"
    yield "other bytes", packed([*entries[:2], (first, b"!" * len(files[first])), *entries[3:]]), "damaged_snapshot"
    yield "a longer file", packed([*entries[:2], (first, files[first] + b"x"), *entries[3:]]), "damaged_snapshot"
    for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE):
        yield f"kind {kind}", packed(entries, kind), "not_a_snapshot"
    yield "long names", packed([*entries, ("objects/" + "a" * 120, b"x")], form=tarfile.GNU_FORMAT), "not_a_snapshot"
    extended = packed([*entries, ("objects/ä" + "a" * 90, b"x")], form=tarfile.PAX_FORMAT)
    yield "extended headers", extended, "not_a_snapshot"
    yield "a view", edited(good, folder, "CREATE VIEW v AS SELECT 1"), "not_a_snapshot"
    yield "a trigger", edited(
        good, folder, "CREATE TRIGGER t AFTER INSERT ON jobs BEGIN DELETE FROM objects; END"), "not_a_snapshot"
    yield "a client", edited(
        good, folder, "INSERT INTO clients VALUES ('c', 'b', 'u', 'd', 'n', 'w', zeroblob(32), NULL, 'api')"
    ), "damaged_snapshot"
    yield "a row that refers to nothing", edited(
        good, folder,
        "INSERT INTO memories SELECT id + 100, memory_id || 'x', business_id, user_id, conversation_id, content, "
        "folded, category, visibility, is_edited, created_at, updated_at FROM memories",
        "INSERT INTO segments (conversation, segment_id, text, speaker, is_user, start, end) "
        "VALUES (99, 's', 't', 'S', 0, 0, 1)"
    ), "damaged_snapshot"


def test_importing_a_bad_snapshot_file_changes_nothing(server, exported, tmp_path):
    created(server, "bad")
    where = {"params": {"namespace": "bad"}}
    good = imported(server, "kept", exported, **where).json()
    for what, data, code in bad_archives(exported, tmp_path):
        answer = imported(server, "kept", data, **where)
        assert answer.status_code == 400, (what, answer.text)
        assert answer.headers["Content-Type"] == "application/problem+json", (what, answer.text)
        assert answer.json()["code"] == code, (what, answer.text)
        assert control(server, "GET", "snapshots", **where).json()["snapshots"] == [good], what
    assert imported(server, "kept", exported, **where).status_code == 200
    assert control(server, "POST", "snapshots/kept/restore", **where).status_code == 200


#: Values at the edges of their types.
EDGES = (None, 0, -1, 2**63 - 1, -2**63, -1e300, 1e300, 0.5, "", "x", "ä" * 1000, b"", b"\xff\x00" * 100, "[]", "{}",
         '{"duration":-1e300}', "null", '"x"', "[" * 100)


def damaged(good: bytes, folder, random: Random) -> bytes:
    """A snapshot with flipped bytes, or with other values in its database."""
    kind = random.randrange(4)
    if kind == 0:
        data = bytearray(good)
        for _ in range(random.choice((1, 3, 50))):
            data[random.randrange(len(data))] ^= 1 << random.randrange(8)
        return bytes(data)
    files = unpacked(good)
    if kind == 1:
        name = random.choice(("manifest.json", "scribe.sqlite"))
        data = bytearray(files[name])
        for _ in range(random.choice((1, 3, 50))):
            data[random.randrange(len(data))] ^= 1 << random.randrange(8)
        return packed(list({**files, name: bytes(data)}.items()))
    if kind == 2:
        manifest = json.loads(files["manifest.json"])
        manifest[random.choice(list(manifest))] = random.choice([each for each in EDGES if type(each) is not bytes])
        return packed(list({**files, "manifest.json": json.dumps(manifest).encode()}.items()))
    path = folder / "damaged.sqlite"
    path.write_bytes(files["scribe.sqlite"])
    database = sqlite3.connect(path)
    database.execute("PRAGMA foreign_keys = OFF")
    database.execute("PRAGMA ignore_check_constraints = ON")
    if random.randrange(20) == 0:
        database.execute("PRAGMA writable_schema = ON")
        column = random.choice(("type", "name", "tbl_name", "rootpage", "sql"))
        database.execute(f"UPDATE sqlite_schema SET {column} = ? WHERE rowid = 3", (random.choice(EDGES),))
    else:
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        table = random.choice([name for name in tables if database.execute(f"SELECT 1 FROM {name}").fetchone()])
        column = random.choice([row[1] for row in database.execute(f"PRAGMA table_info({table})")])
        with contextlib.suppress(sqlite3.IntegrityError):
            database.execute(f"UPDATE {table} SET {column} = ?", (random.choice(EDGES),))
    database.commit()
    database.close()
    return packed(list({**files, "scribe.sqlite": path.read_bytes()}.items()))


@pytest.mark.full
def test_no_damaged_snapshot_ends_the_server(server, exported, tmp_path):
    """Each of 5,000 is refused, or is restored and can be read."""
    inside = access(server, created(server, "damaged"), "prefix")
    where = {"params": {"namespace": "damaged"}}
    console = {"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    random, taken = Random(71), 0
    for number in range(5000):
        answer = imported(server, "d", damaged(exported, tmp_path, random), **where)
        assert answer.status_code in (200, 400, 413), (number, answer.text)
        if answer.status_code != 200:
            continue
        taken += 1
        assert control(server, "POST", "snapshots/d/restore", **where).status_code < 500, number
        for path in ("/voice/api/v2/transaction/history", "/voice/api/v3/status/visit", "/v3/memories", "/kept"):
            inside.session().get(f"{inside.base_url}{path}", timeout=PATIENCE)
        for page in ("/consultations", "/consultations/b-demo/visit", "/requests", ""):
            requests.get(f"{server.base_url}/__console{page}", headers=console, timeout=PATIENCE, **where)
    assert requests.get(f"{server.base_url}/livez").status_code == 200
    assert taken > 100


def test_an_export_goes_on_while_its_snapshot_is_deleted(server):
    control(server, "POST", "reset").raise_for_status()
    s3, large = EkaClient(Access(server.base_url)).s3(), bytes(1 << 20) * 24
    s3.put_object(Bucket="kept", Key="first", Body=large)
    s3.put_object(Bucket="kept", Key="second", Body=large)
    [folder] = (server.folder / "temporary").glob("scribe-emulator-*/snapshots")
    before = set(folder.iterdir())
    saved(server, "base")
    assert set(folder.iterdir()) > before
    url = f"{server.base_url}/__admin/snapshots/base/content"
    with requests.get(url, stream=True, timeout=PATIENCE) as export:
        pieces = export.iter_content(1 << 16)
        data = [next(pieces)]
        # Far more is left than what connections hold.
        assert control(server, "DELETE", "snapshots/base").status_code == 204
        data += pieces
    files = unpacked(b"".join(data))
    assert [len(each) for name, each in files.items() if name.startswith("objects/")] == [len(large)] * 2
    wait_until(lambda: set(folder.iterdir()) == before, "the files are removed after the export")
    control(server, "POST", "reset").raise_for_status()


def test_a_file_beyond_the_quota_is_refused(served, exported):
    server = served(*LIMITED)
    assert len(exported) > 200_000
    answer = imported(server, "base", exported)
    assert answer.status_code == 413 and answer.json()["code"] == "quota_exceeded"
    assert control(server, "GET", "snapshots").json()["snapshots"] == []


def test_bad_calls_are_answered_with_what_to_do(server):
    for name in ("a%2Fb", ".x", "%00", "a" * 65, "%C3%A4"):
        assert control(server, "PUT", f"snapshots/{name}").status_code in (400, 404), name
        assert control(server, "GET", f"snapshots/{name}").status_code == 404, name
    assert control(server, "PUT", "snapshots/a", json={"x": 1}).status_code == 400
    assert control(server, "PUT", "snapshots/a/content", data=b"x").status_code == 415
    assert control(server, "PUT", "snapshots/a/content", json={}).status_code == 415
    assert control(server, "GET", "snapshots/unknown/content").status_code == 404
    assert control(server, "POST", "snapshots/unknown/restore").status_code == 404
    assert control(server, "GET", "snapshots", params={"namespace": "nowhere"}).status_code == 404
