"""S3 tools as users have them, with their defaults: rclone, s3cmd, the AWS CLI and minio's Python library."""

import contextlib
import datetime
import hashlib
import io
import os
import pathlib
import random
import subprocess
import sys
import uuid

import botocore.exceptions
import minio
import minio.commonconfig
import minio.datatypes
import minio.deleteobjects
import minio.error
import pytest
import requests
import urllib3
from client import BUCKET
from emulator import PATIENCE
from namespaces import EkaClient, access, created

MB = 1 << 20
PROGRAMS = pathlib.Path(sys.executable).parent
#: What a recording is in, below a folder. The last one comes in parts where a tool sends parts.
TREE = {
    "one.m4a": b"one", "sub/empty": b"", "sub/two ü (1)+&.wav": b"two",
    "sub/large.wav": random.Random(1).randbytes(9 * MB)}


class Place:
    """A new namespace, by credentials: how its tools reach it, and boto3 to look at what they did."""

    def __init__(self, server):
        client = EkaClient(access(server, created(server), "credentials"))
        self.server, self.keys, self.s3 = server, client.keys(), client.s3()
        self.host = f"127.0.0.1:{server.port}"

    def environment(self, home: pathlib.Path, **more: str) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"], "HOME": str(home), "LC_ALL": "C.UTF-8",
            "AWS_ACCESS_KEY_ID": self.keys["AccessKeyId"], "AWS_SECRET_ACCESS_KEY": self.keys["SecretKey"],
            "AWS_SESSION_TOKEN": self.keys["SessionToken"], **more}

    def found(self, bucket: str, prefix="") -> dict[str, bytes]:
        """Content of all objects, by their keys without the prefix."""
        pages = self.s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
        keys = [item["Key"] for page in pages for item in page.get("Contents", [])]
        return {
            key.removeprefix(prefix): self.s3.get_object(Bucket=bucket, Key=key)["Body"].read() for key in keys}


@pytest.fixture(scope="module")
def place(server):
    return Place(server)


@pytest.fixture
def bucket():
    return f"tools-{uuid.uuid4()}"


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tree")
    for name, content in TREE.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def files(folder: pathlib.Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def ran(command: list, environment: dict[str, str], **options) -> str:
    """Runs a tool. Returns what it prints; everything, if it fails."""
    done = subprocess.run(command, env=environment, capture_output=True, timeout=PATIENCE, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout.decode()}\n{done.stderr.decode()}"
    return done.stdout.decode()


# rclone


@pytest.fixture
def rclone(place, tmp_path):
    """Gives a function that runs rclone. `x:` is the server, of the kind and by the address that are given."""
    def rclone(*arguments, provider="Other", url=place.server.base_url, **options):
        # Without `env_auth` it takes no credentials from the environment, but all other settings.
        remote = {
            "TYPE": "s3", "PROVIDER": provider, "ENDPOINT": url, "ACCESS_KEY_ID": place.keys["AccessKeyId"],
            "SECRET_ACCESS_KEY": place.keys["SecretKey"], "SESSION_TOKEN": place.keys["SessionToken"]}
        settings = {f"RCLONE_CONFIG_X_{name}": value for name, value in remote.items()}
        environment = place.environment(tmp_path, RCLONE_CA_CERT=place.server.authority, **settings)
        command = [PROGRAMS / "rclone", "--config", os.devnull, "--retries", "1", *arguments]
        return ran(command, environment, **options)

    return rclone


@pytest.mark.parametrize("provider, is_encrypted", [("Other", False), ("AWS", True)])
def test_rclone_synchronises_a_tree(rclone, place, bucket, tree, tmp_path, provider, is_encrypted):
    """For AWS it uploads over TLS alone, since it signs no body; and it puts the bucket into every host but an address.
    """
    url = f"https://127.0.0.1:{place.server.tls_port}" if is_encrypted else place.server.base_url
    there = {"provider": provider, "url": url}
    rclone("mkdir", f"x:{bucket}", **there)
    rclone("sync", tree, f"x:{bucket}/tree", **there)
    assert place.found(bucket, "tree/") == TREE
    assert sorted(rclone("lsf", "-R", "--files-only", f"x:{bucket}/tree", **there).splitlines()) == sorted(TREE)
    rclone("check", "--one-way", tree, f"x:{bucket}/tree", **there)
    (tmp_path / "back").mkdir()
    rclone("sync", f"x:{bucket}/tree", tmp_path / "back", **there)
    assert files(tmp_path / "back") == TREE
    (tmp_path / "back/one.m4a").write_bytes(b"changed")
    (tmp_path / "back/sub/large.wav").unlink()
    rclone("sync", tmp_path / "back", f"x:{bucket}/tree", **there)
    assert place.found(bucket, "tree/") == files(tmp_path / "back")


def test_rclone_copies_moves_and_deletes_on_the_server(rclone, place, bucket):
    place.s3.put_object(Bucket=bucket, Key="a/ü 1+&.wav", Body=b"one", ContentType="audio/x-wav", Metadata={"a": "b"})
    rclone("copyto", f"x:{bucket}/a/ü 1+&.wav", f"x:{bucket}/b/ü 1+&.wav")
    rclone("moveto", f"x:{bucket}/b/ü 1+&.wav", f"x:{bucket}/c/two.wav")
    assert place.found(bucket) == {"a/ü 1+&.wav": b"one", "c/two.wav": b"one"}
    head = place.s3.head_object(Bucket=bucket, Key="c/two.wav")
    assert (head["ContentType"], head["Metadata"]["a"]) == ("audio/x-wav", "b")
    link = rclone("link", f"x:{bucket}/c/two.wav").strip()
    assert requests.get(link, timeout=PATIENCE).content == b"one"
    rclone("deletefile", f"x:{bucket}/c/two.wav")
    rclone("delete", f"x:{bucket}/a")
    assert place.found(bucket) == {}


def test_rclone_sets_the_time_of_an_object(rclone, place, bucket):
    """By a copy onto itself with other metadata."""
    place.s3.put_object(Bucket=bucket, Key="one.wav", Body=b"one", ContentType="audio/x-wav")
    rclone("touch", "--timestamp", "2026-05-10T09:12:33", f"x:{bucket}/one.wav")
    assert "2026-05-10 09:12:33" in rclone("lsl", f"x:{bucket}/one.wav")
    assert place.found(bucket) == {"one.wav": b"one"}


def test_rclone_uploads_what_it_is_piped_and_copies_it_in_parts(rclone, place, bucket):
    """Above 100 KB a stream comes in parts of 5 MB."""
    content = TREE["sub/large.wav"]
    rclone("rcat", f"x:{bucket}/piped", input=content)
    rclone("copyto", "--s3-copy-cutoff", "5M", "--s3-chunk-size", "5M", f"x:{bucket}/piped", f"x:{bucket}/copy")
    assert place.found(bucket) == {"piped": content, "copy": content}
    for key in ("piped", "copy"):
        assert place.s3.head_object(Bucket=bucket, Key=key)["ETag"].endswith('-2"')


def test_rclone_copies_into_a_bucket_of_the_sdks(rclone, place):
    """It creates the bucket before each upload that comes as a stream or as a copy."""
    rclone("mkdir", f"x:{BUCKET}")
    rclone("rcat", f"x:{BUCKET}/tools/one.m4a", input=b"one")
    rclone("copyto", f"x:{BUCKET}/tools/one.m4a", f"x:{BUCKET}/tools/two.m4a")
    assert place.found(BUCKET, "tools/") == {"one.m4a": b"one", "two.m4a": b"one"}
    assert f"{BUCKET}/" in rclone("lsf", "x:").splitlines()


# s3cmd


@pytest.fixture
def s3cmd(place, tmp_path):
    """Gives a function that runs s3cmd."""
    def s3cmd(*arguments, **options):
        command = [
            PROGRAMS / "s3cmd", "--config", os.devnull, "--no-ssl", "--host", place.host, "--host-bucket", place.host,
            "--no-progress", *arguments]
        return ran(command, place.environment(tmp_path), **options)

    return s3cmd


def test_s3cmd_synchronises_a_tree_and_removes_it(s3cmd, place, bucket, tree, tmp_path):
    s3cmd("mb", f"s3://{bucket}")
    s3cmd("--multipart-chunk-size-mb", "5", "sync", f"{tree}/", f"s3://{bucket}/tree/")
    assert place.found(bucket, "tree/") == TREE
    assert place.s3.head_object(Bucket=bucket, Key="tree/sub/large.wav")["ETag"].endswith('-2"')
    assert s3cmd("sync", "--dry-run", f"{tree}/", f"s3://{bucket}/tree/") == "", "nothing is left to do"
    (tmp_path / "back").mkdir()
    s3cmd("sync", f"s3://{bucket}/tree/", f"{tmp_path / 'back'}/")
    assert files(tmp_path / "back") == TREE
    place.s3.put_object(Bucket=bucket, Key="stays", Body=b"x")
    s3cmd("rm", "--recursive", "--force", f"s3://{bucket}/tree/")
    assert place.found(bucket) == {"stays": b"x"}


def test_s3cmd_puts_gets_copies_moves_and_deletes(s3cmd, place, bucket, tree, tmp_path):
    """With each copy it reads the source's ACL, and tries to set the copy's."""
    name = "two ü (1)+&.wav"
    s3cmd("put", tree / "sub" / name, f"s3://{bucket}/a/{name}")
    s3cmd("cp", f"s3://{bucket}/a/{name}", f"s3://{bucket}/b/{name}")
    s3cmd("mv", f"s3://{bucket}/b/{name}", f"s3://{bucket}/c/{name}")
    assert place.found(bucket) == {f"a/{name}": b"two", f"c/{name}": b"two"}
    assert f"s3://{bucket}/c/{name}" in s3cmd("ls", f"s3://{bucket}/c/")
    s3cmd("get", f"s3://{bucket}/c/{name}", tmp_path / "back")
    assert (tmp_path / "back").read_bytes() == b"two"
    s3cmd("del", f"s3://{bucket}/c/{name}")
    assert place.found(bucket) == {f"a/{name}": b"two"}


def test_s3cmd_changes_headers_and_shows_them(s3cmd, place, bucket, tree):
    """By a copy onto itself that sends back what was answered."""
    s3cmd("put", "--mime-type", "audio/x-wav", tree / "one.m4a", f"s3://{bucket}/one")
    s3cmd("modify", "--add-header", "Cache-Control:max-age=3", f"s3://{bucket}/one")
    head = place.s3.head_object(Bucket=bucket, Key="one")
    assert (head["CacheControl"], head["ContentType"]) == ("max-age=3", "audio/x-wav")
    assert "s3cmd-attrs" in head["Metadata"]
    shown = s3cmd("info", f"s3://{bucket}/one")
    assert "audio/x-wav" in shown and "FULL_CONTROL" in shown
    assert "Location:  ap-south-1" in s3cmd("info", f"s3://{bucket}")
    assert f"s3://{BUCKET}" in s3cmd("ls")


# The AWS CLI


@pytest.fixture
def aws(place, tmp_path):
    """Gives a function that runs the AWS CLI."""
    def aws(*arguments, url=place.server.base_url, **options):
        environment = place.environment(
            tmp_path, AWS_DEFAULT_REGION="ap-south-1", AWS_CA_BUNDLE=place.server.authority)
        return ran([PROGRAMS / "aws", "--endpoint-url", url, *arguments], environment, **options)

    return aws


@pytest.mark.parametrize("is_encrypted", [False, True], ids=["plain", "tls"])
def test_the_aws_cli_makes_a_bucket_and_synchronises_it_with_another(aws, place, bucket, tree, is_encrypted):
    """Over TLS its checksums are trailers. What is longer than 8 MB is sent, and copied, in parts."""
    url = place.server.tls_url if is_encrypted else place.server.base_url
    aws("s3", "mb", f"s3://{bucket}", url=url)
    aws("s3", "sync", tree, f"s3://{bucket}/tree", url=url)
    assert place.found(bucket, "tree/") == TREE
    if not is_encrypted:
        aws("s3", "sync", f"s3://{bucket}/tree", f"s3://{bucket}-2/copy")
        assert place.found(f"{bucket}-2", "copy/") == TREE
        assert place.s3.head_object(Bucket=f"{bucket}-2", Key="copy/sub/large.wav")["ETag"].endswith('-2"')


def test_the_aws_cli_moves_and_reads_from_a_pipe(aws, place, bucket):
    aws("s3", "cp", "-", f"s3://{bucket}/a/piped", input=b"piped")
    aws("s3", "mv", "--recursive", f"s3://{bucket}/a", f"s3://{bucket}/b")
    assert place.found(bucket) == {"b/piped": b"piped"}
    assert aws("s3", "cp", f"s3://{bucket}/b/piped", "-") == "piped"


# minio's library for Python


@pytest.fixture(params=["plain", "tls"])
def client(place, request):
    """Over TLS it signs no body."""
    is_encrypted = request.param == "tls"
    with contextlib.ExitStack() as stack:
        pool = None
        if is_encrypted:
            pool = stack.enter_context(urllib3.PoolManager(ca_certs=place.server.authority))
        yield minio.Minio(
            f"localhost:{place.server.tls_port}" if is_encrypted else place.host, place.keys["AccessKeyId"],
            place.keys["SecretKey"], place.keys["SessionToken"], secure=is_encrypted, http_client=pool)


def test_minio_puts_lists_gets_and_removes(client, place, bucket, tmp_path):
    client.make_bucket(bucket)
    assert client.bucket_exists(bucket)
    with pytest.raises(minio.error.S3Error) as failure:
        client.make_bucket(BUCKET)
    assert failure.value.code == "BucketAlreadyOwnedByYou"
    for name in ("a/ü (1)+&.wav", "a/two", "b"):
        client.put_object(bucket, name, io.BytesIO(b"one"), 3, content_type="audio/wav", metadata={"txnid": "t"})
    stat = client.stat_object(bucket, "a/ü (1)+&.wav")
    assert (stat.size, stat.content_type, stat.metadata["x-amz-meta-txnid"]) == (3, "audio/wav", "t")
    assert stat.etag == hashlib.md5(b"one").hexdigest()
    assert [each.object_name for each in client.list_objects(bucket)] == ["b", "a/"]
    assert [each.object_name for each in client.list_objects(bucket, recursive=True)] == [
        "a/two", "a/ü (1)+&.wav", "b"]
    with client.get_object(bucket, "b", offset=1, length=1) as answer:
        assert answer.read() == b"n"
    client.fget_object(bucket, "b", str(tmp_path / "back"))
    assert (tmp_path / "back").read_bytes() == b"one"
    doomed = [minio.deleteobjects.DeleteObject(name) for name in ("a/two", "b", "missing")]
    assert list(client.remove_objects(bucket, doomed)) == []
    client.remove_object(bucket, "a/ü (1)+&.wav")
    assert place.found(bucket) == {}
    assert {BUCKET} <= {each.name for each in client.list_buckets()}


def test_minio_copies_replaces_and_composes(client, place, bucket):
    large, name = TREE["sub/large.wav"], "ü (1)+&.wav"
    client.put_object(bucket, name, io.BytesIO(b"end"), 3, metadata={"old": "1"})
    client.put_object(bucket, "large", io.BytesIO(large), len(large), part_size=5 * MB)
    source = minio.commonconfig.CopySource(bucket, name)
    client.copy_object(bucket, "copy", source)
    client.copy_object(
        bucket, "replaced", source, metadata={"new": "2"}, metadata_directive=minio.commonconfig.REPLACE)
    sources = [minio.commonconfig.ComposeSource(bucket, each) for each in ("large", name)]
    client.compose_object(bucket, "composed", sources)
    assert place.found(bucket) == {
        name: b"end", "large": large, "copy": b"end", "replaced": b"end", "composed": large + b"end"}
    heads = [place.s3.head_object(Bucket=bucket, Key=key) for key in ("copy", "replaced")]
    assert [head["Metadata"] for head in heads] == [{"old": "1"}, {"new": "2"}]
    with pytest.raises(minio.error.S3Error) as failure:
        client.copy_object(bucket, "copy", minio.commonconfig.CopySource(bucket, "missing"))
    assert failure.value.code == "NoSuchKey"


def test_minio_signs_links_and_forms(client, place, bucket):
    trusted = {"timeout": PATIENCE, "verify": place.server.authority}
    put, get = client.presigned_put_object(bucket, "a/1"), client.presigned_get_object(bucket, "a/1")
    assert requests.put(put, b"linked", **trusted).status_code == 200
    assert requests.get(get, **trusted).content == b"linked"
    policy = minio.datatypes.PostPolicy(
        bucket, datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1))
    policy.add_starts_with_condition("key", "a/")
    policy.add_content_length_range_condition(1, 10)
    fields = {"key": "a/2", **client.presigned_post_policy(policy)}
    url = get.partition("/a/1")[0]
    assert requests.post(url, fields, files={"file": b"posted"}, **trusted).status_code == 204
    assert place.found(bucket) == {"a/1": b"linked", "a/2": b"posted"}


def test_minio_reads_what_nothing_was_set(client, place, bucket):
    client.put_object(bucket, "one", io.BytesIO(b"one"), 3)
    assert client.get_object_tags(bucket, "one") is None
    assert client.get_bucket_tags(bucket) is None
    assert client.get_bucket_versioning(bucket).status in (None, "Off")
    with pytest.raises(botocore.exceptions.ClientError, match="NoSuchTagSet"):
        place.s3.get_bucket_tagging(Bucket=bucket)
