"""S3 objects: listing, ranges, conditions, deletion and refusals."""

import datetime
import json
import os
import pathlib
import random
import socket
import subprocess
import sys

import botocore.exceptions
import pytest
import requests
from client import BUCKET
from emulator import PATIENCE, wait_until

MB = 1 << 20


@pytest.fixture(scope="module")
def client(server):
    return server.client()


@pytest.fixture(scope="module")
def s3(client):
    return client.s3()


def test_a_missing_key_is_no_such_key(s3):
    with pytest.raises(s3.exceptions.NoSuchKey):
        s3.get_object(Bucket=BUCKET, Key="never/was")


def test_expect_100_continue_is_answered_at_once(s3, server):
    url = s3.generate_presigned_url("put_object", {"Bucket": BUCKET, "Key": "260510/s3/continue"})
    path = url.removeprefix(server.base_url)
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as connection:
        connection.sendall(
            f"PUT {path} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nContent-Length: 4\r\n"
            "Expect: 100-continue\r\n\r\n".encode()
        )
        assert connection.recv(100).startswith(b"HTTP/1.1 100 ")
        connection.sendall(b"body")
        assert connection.recv(1000).startswith(b"HTTP/1.1 200 ")


def test_a_client_that_hangs_up_half_way_leaves_the_old_object(s3, server):
    parameters = {"Bucket": BUCKET, "Key": "260510/s3/half"}
    s3.put_object(**parameters, Body=b"whole")
    url = s3.generate_presigned_url("put_object", parameters)
    before = server.metric("scribe_connections")
    for _ in range(3):
        with socket.create_connection(("127.0.0.1", server.port)) as connection:
            connection.sendall(
                f"PUT {url.removeprefix(server.base_url)} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
                "Content-Length: 100000\r\n\r\n".encode() + bytes(500)
            )
            wait_until(lambda: server.metric("scribe_connections") > before, "the upload is there")
    wait_until(lambda: server.metric("scribe_connections") <= before, "those that hung up are gone")
    assert s3.get_object(**parameters)["Body"].read() == b"whole"


def test_a_fixture_that_refuses_uploads_refuses_every_way_of_uploading(client, s3):
    transaction = client.transaction("refusing")
    assert transaction.init(additional_data={"fixture": "fixture:upload-refused"}).status_code == 201
    where = {"Bucket": BUCKET, "Key": f"{transaction.folder}/1.m4a"}
    with pytest.raises(botocore.exceptions.ClientError, match="ServiceUnavailable"):
        s3.put_object(**where, Body=b"x")
    upload = {**where, "UploadId": s3.create_multipart_upload(**where)["UploadId"]}
    tag = s3.upload_part(**upload, PartNumber=1, Body=b"x")["ETag"]
    with pytest.raises(botocore.exceptions.ClientError, match="ServiceUnavailable"):
        s3.complete_multipart_upload(**upload, MultipartUpload={"Parts": [{"PartNumber": 1, "ETag": tag}]})
    assert [part["ETag"] for part in s3.list_parts(**upload)["Parts"]] == [tag], "nothing of it is lost"
    form = s3.generate_presigned_post(**where)
    answer = requests.post(form["url"], data=form["fields"], files={"file": b"x"})
    assert answer.status_code == 503 and "<Code>ServiceUnavailable</Code>" in answer.text
    assert "Contents" not in s3.list_objects_v2(Bucket=BUCKET, Prefix=transaction.folder)


def test_a_form_upload_of_the_wrong_size_is_refused_and_the_next_one_is_stored(client, s3):
    """More than is written at once, so that its file is open when it is refused."""
    where = {"Bucket": BUCKET, "Key": "260510/s3/form"}
    sizes = [["content-length-range", 1 * MB, 2 * MB]]
    form = s3.generate_presigned_post(**where, Conditions=sizes)
    for size, code in [(MB - 1, "EntityTooSmall"), (2 * MB + 1, "EntityTooLarge")]:
        answer = requests.post(form["url"], data=form["fields"], files={"file": bytes(size)})
        assert answer.status_code == 400 and f"<Code>{code}</Code>" in answer.text
    assert requests.post(form["url"], data=form["fields"], files={"file": bytes(MB)}).status_code == 204
    assert s3.head_object(**where)["ContentLength"] == MB


def test_s3_operations_that_are_not_supported_are_refused_and_change_nothing(s3):
    where = {"Bucket": BUCKET, "Key": "260510/s3/refused"}
    s3.put_object(**where, Body=b"here")
    for call in (
        lambda: s3.delete_object(**where, VersionId="abc"),
        lambda: s3.put_object_tagging(**where, Tagging={"TagSet": [{"Key": "a", "Value": "b"}]}),
        lambda: s3.get_bucket_lifecycle_configuration(Bucket=BUCKET),
    ):
        with pytest.raises(botocore.exceptions.ClientError, match="NotImplemented"):
            call()
    assert s3.get_object(**where)["Body"].read() == b"here"


def test_a_conditional_put_replaces_only_what_it_may(s3):
    where = {"Bucket": BUCKET, "Key": "260510/s3/conditional"}
    with pytest.raises(botocore.exceptions.ClientError, match="NoSuchKey"):
        s3.put_object(**where, Body=b"x", IfMatch='"abc"')
    tag = s3.put_object(**where, Body=b"first", IfNoneMatch="*")["ETag"]
    for condition in ({"IfNoneMatch": "*"}, {"IfMatch": '"abc"'}):
        with pytest.raises(botocore.exceptions.ClientError, match="PreconditionFailed"):
            s3.put_object(**where, Body=b"second", **condition)
    assert s3.get_object(**where)["Body"].read() == b"first"
    s3.put_object(**where, Body=b"third", IfMatch=tag)
    assert s3.get_object(**where)["Body"].read() == b"third"


def test_listing_pages_rolls_up_and_stays_within_the_tenant(server):
    s3 = server.client("dev-client-2", "dev-secret-2").s3()
    keys = sorted([f"list/{a}/{b}" for a in "abc" for b in range(4)] + ["list/z", "list/ü (1)&<", "other/x"])
    for key in keys:
        s3.put_object(Bucket="listing", Key=key, Body=b"x")

    def every(**options):
        pages = s3.get_paginator("list_objects_v2").paginate(Bucket="listing", **options)
        found, prefixes = [], []
        for page in pages:
            found += [item["Key"] for item in page.get("Contents", [])]
            prefixes += [item["Prefix"] for item in page.get("CommonPrefixes", [])]
        return found, prefixes

    inside = [key for key in keys if key.startswith("list/")]
    expected = sorted(inside, key=lambda key: key.encode())
    for size in (1, 2, 3, 1000):
        assert every(Prefix="list/", PaginationConfig={"PageSize": size}) == (expected, [])
        assert every(Prefix="list/", Delimiter="/", PaginationConfig={"PageSize": size}) == (
            ["list/z", "list/ü (1)&<"], ["list/a/", "list/b/", "list/c/"]
        )
        assert every(Delimiter="/", PaginationConfig={"PageSize": size}) == ([], ["list/", "other/"])
    assert every(StartAfter="list/c/2", Prefix="list/c")[0] == ["list/c/3"]
    # A folder's own marker hides nothing of the folder.
    s3.put_object(Bucket="listing", Key="list/", Body=b"")
    for size in (1, 2, 1000):
        pages = {"PaginationConfig": {"PageSize": size}}
        below = (["list/z", "list/ü (1)&<"], ["list/a/", "list/b/", "list/c/"])
        assert every(Prefix="list/", Delimiter="/", StartAfter="list/", **pages) == below
        assert every(Prefix="list/", Delimiter="/", **pages) == (["list/", *below[0]], below[1])
        old = s3.get_paginator("list_objects").paginate(Bucket="listing", Prefix="list/", Delimiter="/", **pages)
        assert [item["Prefix"] for page in old for item in page.get("CommonPrefixes", [])] == below[1]
    assert every(Prefix="nothing") == ([], [])
    # Beyond U+10FFFF there is no letter to skip to.
    odd = ["f/\U0010ffffx", "f/a", "g", "e\u0301/a", "\u00e9/a"]
    for key in odd:
        s3.put_object(Bucket="odd", Key=key, Body=b"x")
    for size in (1, 2, 1000):
        pages = s3.get_paginator("list_objects_v2").paginate(
            Bucket="odd", Delimiter="/", PaginationConfig={"PageSize": size})
        found = [(page.get("CommonPrefixes", []), page.get("Contents", [])) for page in pages]
        assert [each["Prefix"] for prefixes, _ in found for each in prefixes] == ["e\u0301/", "f/", "\u00e9/"]
        assert [each["Key"] for _, contents in found for each in contents] == ["g"]
    assert [item["Key"] for item in s3.list_objects(Bucket="listing", Prefix="list/b", MaxKeys=2)["Contents"]] == [
        "list/b/0", "list/b/1"
    ]
    assert "listing" in [bucket["Name"] for bucket in s3.list_buckets()["Buckets"]]
    assert "listing" not in [bucket["Name"] for bucket in server.client().s3().list_buckets()["Buckets"]]
    assert server.client().s3().list_objects_v2(Bucket="listing")["KeyCount"] == 0


def test_delete_removes_and_can_be_repeated(s3):
    where = {"Bucket": BUCKET, "Key": "260510/s3/deleted"}
    s3.put_object(**where, Body=b"x")
    for _ in range(2):
        assert s3.delete_object(**where)["ResponseMetadata"]["HTTPStatusCode"] == 204
    with pytest.raises(s3.exceptions.NoSuchKey):
        s3.get_object(**where)


def test_ranges_and_conditions(s3):
    where = {"Bucket": BUCKET, "Key": "260510/s3/range"}
    tag = s3.put_object(**where, Body=bytes(range(100)))["ETag"]
    got = s3.get_object(**where, Range="bytes=10-19")
    assert got["ResponseMetadata"]["HTTPStatusCode"] == 206
    assert (got["ContentRange"], got["Body"].read()) == ("bytes 10-19/100", bytes(range(10, 20)))
    assert s3.get_object(**where, Range="bytes=-3")["Body"].read() == bytes([97, 98, 99])
    with pytest.raises(botocore.exceptions.ClientError, match="InvalidRange"):
        s3.get_object(**where, Range="bytes=100-")
    with pytest.raises(botocore.exceptions.ClientError, match="304"):
        s3.get_object(**where, IfNoneMatch=tag)
    with pytest.raises(botocore.exceptions.ClientError, match="PreconditionFailed"):
        s3.get_object(**where, IfMatch='"other"')
    head = s3.head_object(**where, Range="bytes=10-19", IfMatch="*")
    assert (head["ResponseMetadata"]["HTTPStatusCode"], head["ContentLength"]) == (206, 10)
    changed = head["LastModified"]
    for condition in ({"IfNoneMatch": f'W/{tag}, "x"'}, {"IfModifiedSince": changed}):
        with pytest.raises(botocore.exceptions.ClientError, match="304"):
            s3.head_object(**where, **condition)
    before = changed - datetime.timedelta(seconds=1)
    with pytest.raises(botocore.exceptions.ClientError, match="PreconditionFailed"):
        s3.get_object(**where, IfUnmodifiedSince=before)
    assert s3.get_object(**where, IfUnmodifiedSince=changed)["Body"].read() == bytes(range(100))
    assert s3.head_object(**where, IfModifiedSince=before)["ContentLength"] == 100


def test_the_aws_cli_copies_lists_and_removes(client, server, tmp_path):
    keys = client.session.get(f"{server.base_url}/credentials").json()["credentials"]
    environment = {
        **os.environ, "AWS_ACCESS_KEY_ID": keys["AccessKeyId"], "AWS_SECRET_ACCESS_KEY": keys["SecretKey"],
        "AWS_SESSION_TOKEN": keys["SessionToken"], "AWS_DEFAULT_REGION": "ap-south-1", "HOME": str(tmp_path),
    }

    def aws(*arguments):
        command = [pathlib.Path(sys.executable).parent / "aws", "--endpoint-url", server.base_url, *arguments]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

    (tmp_path / "tree/sub").mkdir(parents=True)
    (tmp_path / "tree/one.m4a").write_bytes(b"one")
    (tmp_path / "tree/sub/large.wav").write_bytes(random.Random(1).randbytes(9 * MB))
    aws("s3", "sync", str(tmp_path / "tree"), "s3://cli/tree")
    assert "one.m4a" in aws("s3", "ls", "s3://cli/tree/")
    aws("s3", "cp", "--recursive", "s3://cli/tree", str(tmp_path / "back"))
    for name in ("one.m4a", "sub/large.wav"):
        assert (tmp_path / "back" / name).read_bytes() == (tmp_path / "tree" / name).read_bytes()
    aws("s3", "rm", "--recursive", "s3://cli/tree")
    assert json.loads(
        aws("s3api", "list-objects-v2", "--bucket", "cli", "--output", "json") or "{}").get("Contents") is None
