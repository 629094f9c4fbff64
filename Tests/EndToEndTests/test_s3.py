"""The upload target, judged by boto3 and by bytes on a socket."""

import base64
import concurrent.futures
import datetime
import hashlib
import json
import os
import pathlib
import random
import socket
import subprocess
import sys

import boto3
import boto3.s3.transfer
import botocore.auth
import botocore.awsrequest
import botocore.config
import botocore.credentials
import botocore.exceptions
import pytest
import requests
from conftest import PATIENCE, wait_until
from client import BUCKET

MB = 1 << 20


@pytest.fixture(scope="module")
def client(server):
    return server.client()


@pytest.fixture(scope="module")
def s3(client):
    return client.s3()


BODIES = [b"", b"x", bytes(range(256)) * 40, bytes(1_500_000)]


@pytest.mark.covers("C-73")
@pytest.mark.parametrize("body", BODIES, ids=len)
def test_put_get_and_head_agree(s3, body):
    key = f"260510/s3/{len(body)}.wav"
    put = s3.put_object(Bucket=BUCKET, Key=key, Body=body, ContentType="audio/wav", Metadata={"bid": "", "txnid": "t"})
    etag = f'"{hashlib.md5(body).hexdigest()}"'
    assert put["ETag"] == etag
    got = s3.get_object(Bucket=BUCKET, Key=key)
    assert got["Body"].read() == body
    assert (got["ETag"], got["ContentType"], got["Metadata"]) == (etag, "audio/wav", {"bid": "", "txnid": "t"})
    assert s3.head_object(Bucket=BUCKET, Key=key)["ContentLength"] == len(body)


@pytest.mark.parametrize("key", ["a b/ü (1)+~.m4a", "plus+and%20percent", "x'*!()@:&=$,;?#[]", "日本/語.wav", "a//b"])
def test_keys_of_every_spelling_are_signed_alike(s3, key):
    s3.put_object(Bucket=BUCKET, Key=key, Body=key.encode())
    assert s3.get_object(Bucket=BUCKET, Key=key)["Body"].read() == key.encode()


@pytest.mark.covers("C-69")
def test_presigned_urls_work_for_reading_and_writing(s3):
    parameters = {"Bucket": BUCKET, "Key": "260510/s3/presigned.m4a"}
    url = s3.generate_presigned_url("put_object", {**parameters, "ContentType": "audio/mp4"}, ExpiresIn=3000)
    answer = requests.put(url, data=b"presigned", headers={"Content-Type": "audio/mp4"})
    assert answer.status_code == 200, answer.text
    assert answer.headers["ETag"]
    assert requests.get(s3.generate_presigned_url("get_object", parameters)).content == b"presigned"
    assert requests.put(url.replace("presigned.m4a", "other.m4a"), data=b"x").status_code == 403


def test_an_unsigned_payload_is_accepted(client, server):
    s3 = client.s3(s3={"payload_signing_enabled": False}, request_checksum_calculation="when_required")
    s3.put_object(Bucket=BUCKET, Key="260510/s3/unsigned", Body=b"unsigned")
    assert s3.get_object(Bucket=BUCKET, Key="260510/s3/unsigned")["Body"].read() == b"unsigned"


@pytest.mark.covers("C-69", "C-71")
@pytest.mark.parametrize(
    "host", ["{bucket}.s3.ap-south-1.amazonaws.com", "{bucket}.s3-ap-south-1.amazonaws.com", "{bucket}.s3.amazonaws.com"]
)
def test_virtual_host_style_is_verified_against_the_received_host(client, server, host):
    """What iOS and Android send through a changed DNS: the bucket is in the host, and the host is signed."""
    keys = client.session.get(f"{server.base_url}/credentials").json()["credentials"]
    credentials = botocore.credentials.Credentials(keys["AccessKeyId"], keys["SecretKey"], keys["SessionToken"])
    host = host.format(bucket=BUCKET)
    # The query signer takes no body: what it signs is UNSIGNED-PAYLOAD.
    for sign, body in ((botocore.auth.S3SigV4Auth, b"virtual"), (botocore.auth.S3SigV4QueryAuth, None)):
        request = botocore.awsrequest.AWSRequest(
            "PUT", f"https://{host}/260510/vhost/1.m4a", data=body, headers={"x-amz-meta-txnid": "vhost"}
        )
        request.context["signing"] = {"bucket": BUCKET}
        request.context["client_config"] = botocore.config.Config(s3={"payload_signing_enabled": False})
        sign(credentials, "s3", "ap-south-1").add_auth(request)
        local = request.url.replace(f"https://{host}", server.base_url)
        answer = requests.put(local, data=b"virtual", headers={**request.headers, "Host": host})
        assert answer.status_code == 200, answer.text
        other = requests.put(local, data=b"virtual", headers={**request.headers, "Host": "other" + host})
        assert other.status_code == 403
    head = requests.head(f"{server.base_url}/", headers={"Host": f"{BUCKET}.s3-us-west-1.amazonaws.com"})
    assert (head.status_code, head.headers["x-amz-bucket-region"]) == (200, "ap-south-1")
    assert client.s3().get_object(Bucket=BUCKET, Key="260510/vhost/1.m4a")["Body"].read() == b"virtual"


@pytest.mark.covers("C-59")
def test_a_wrong_secret_is_refused_with_s3s_error(client, server):
    keys = client.session.get(f"{server.base_url}/voice/api/v1/s3-token/").json()["credentials"]
    s3 = boto3.client(
        "s3", endpoint_url=server.base_url, region_name="ap-south-1", aws_access_key_id=keys["AccessKeyId"],
        aws_secret_access_key="wrong", aws_session_token=keys["SessionToken"],
    )
    with pytest.raises(botocore.exceptions.ClientError) as failure:
        s3.put_object(Bucket=BUCKET, Key="k", Body=b"x")
    assert failure.value.response["Error"]["Code"] == "SignatureDoesNotMatch"


def test_a_missing_key_is_no_such_key(s3):
    with pytest.raises(s3.exceptions.NoSuchKey):
        s3.get_object(Bucket=BUCKET, Key="never/was")


def test_a_second_tenant_gets_nothing(s3, server):
    s3.put_object(Bucket=BUCKET, Key="260510/mine/1.m4a", Body=b"mine")
    other = server.client("dev-client-2", "dev-secret-2").s3()
    with pytest.raises(other.exceptions.NoSuchKey):
        other.get_object(Bucket=BUCKET, Key="260510/mine/1.m4a")
    other.put_object(Bucket=BUCKET, Key="260510/mine/1.m4a", Body=b"theirs")
    assert s3.get_object(Bucket=BUCKET, Key="260510/mine/1.m4a")["Body"].read() == b"mine"


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


@pytest.mark.parametrize("path", ["/b/../k", "/b/%2e%2e/k", "/b/a%00b", "/b/..%2f..%2fetc", "/../../etc/passwd"])
def test_hostile_keys_are_refused(server, path):
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as connection:
        connection.sendall(f"PUT {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n".encode())
        answer = connection.recv(2000)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"<Code>InvalidURI</Code>" in answer


@pytest.mark.covers("C-72")
@pytest.mark.parametrize("part_mb, threads", [(5, 1), (5, 4), (8, 3)])
def test_multipart_uploads_of_several_part_sizes_and_concurrency(s3, part_mb, threads, tmp_path):
    body = random.Random(part_mb).randbytes(17 * MB + 12345)
    path = tmp_path / "file"
    path.write_bytes(body)
    config = boto3.s3.transfer.TransferConfig(
        multipart_threshold=5 * MB, multipart_chunksize=part_mb * MB, max_concurrency=threads
    )
    key = f"260510/s3/multipart-{part_mb}-{threads}"
    s3.upload_file(str(path), BUCKET, key, Config=config, ExtraArgs={"ContentType": "audio/wav", "Metadata": {"a": "b"}})
    got = s3.get_object(Bucket=BUCKET, Key=key)
    parts = -(-len(body) // (part_mb * MB))
    digests = [hashlib.md5(body[i : i + part_mb * MB]).digest() for i in range(0, len(body), part_mb * MB)]
    assert got["ETag"] == f'"{hashlib.md5(b"".join(digests)).hexdigest()}-{parts}"'
    assert (got["ContentType"], got["Metadata"]) == ("audio/wav", {"a": "b"})
    assert got["Body"].read() == body
    target = tmp_path / "copy"
    s3.download_file(BUCKET, key, str(target), Config=config)
    assert target.read_bytes() == body


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


def test_multipart_by_hand_lists_replaces_orders_and_refuses(s3):
    where = {"Bucket": BUCKET, "Key": "260510/s3/by-hand"}
    upload = {**where, "UploadId": s3.create_multipart_upload(**where)["UploadId"]}
    first = s3.upload_part(**upload, PartNumber=1, Body=bytes(5 * MB))["ETag"]
    s3.upload_part(**upload, PartNumber=3, Body=b"old")
    last = s3.upload_part(**upload, PartNumber=3, Body=b"new")["ETag"]
    listed = s3.list_parts(**upload)["Parts"]
    assert [(part["PartNumber"], part["Size"]) for part in listed] == [(1, 5 * MB), (3, 3)]
    assert [part["PartNumber"] for page in s3.get_paginator("list_parts").paginate(
        **upload, PaginationConfig={"PageSize": 1}) for part in page["Parts"]] == [1, 3]

    def complete(*parts):
        return s3.complete_multipart_upload(
            **upload, MultipartUpload={"Parts": [{"PartNumber": n, "ETag": tag} for n, tag in parts]}
        )

    for parts, code in [
        ([(1, last), (3, last)], "InvalidPart"), ([(1, first), (2, last)], "InvalidPart"),
        ([(3, last), (1, first)], "InvalidPartOrder"),
    ]:
        with pytest.raises(botocore.exceptions.ClientError, match=code):
            complete(*parts)
    assert complete((1, first), (3, last))["ETag"] == s3.head_object(**where)["ETag"]
    assert complete((1, first), (3, last))["ETag"] == s3.head_object(**where)["ETag"], "asked again"
    assert s3.get_object(**where)["Body"].read() == bytes(5 * MB) + b"new"
    with pytest.raises(botocore.exceptions.ClientError, match="NoSuchUpload"):
        complete((1, first))
    small = {**where, "UploadId": s3.create_multipart_upload(**where)["UploadId"]}
    tags = [s3.upload_part(**small, PartNumber=n, Body=b"x")["ETag"] for n in (1, 2)]
    with pytest.raises(botocore.exceptions.ClientError, match="EntityTooSmall"):
        s3.complete_multipart_upload(
            **small, MultipartUpload={"Parts": [{"PartNumber": n, "ETag": tag} for n, tag in enumerate(tags, 1)]}
        )
    s3.abort_multipart_upload(**small)
    with pytest.raises(botocore.exceptions.ClientError, match="NoSuchUpload"):
        s3.upload_part(**small, PartNumber=1, Body=b"x")


def test_parallel_completions_and_aborts_of_one_upload_never_fail_with_500(s3):
    for ends in (["complete"] * 3, ["complete", "abort"]):
        where = {"Bucket": BUCKET, "Key": f"260510/s3/parallel-{len(ends)}"}
        upload = {**where, "UploadId": s3.create_multipart_upload(**where)["UploadId"]}
        tags = [s3.upload_part(**upload, PartNumber=n, Body=bytes(10 * MB))["ETag"] for n in (1, 2)]
        parts = {"Parts": [{"PartNumber": n, "ETag": tag} for n, tag in enumerate(tags, 1)]}

        def end(how):
            try:
                if how == "complete":
                    return s3.complete_multipart_upload(**upload, MultipartUpload=parts)["ETag"]
                return s3.abort_multipart_upload(**upload)["ResponseMetadata"]["HTTPStatusCode"]
            except botocore.exceptions.ClientError as error:
                return error.response["Error"]["Code"]

        with concurrent.futures.ThreadPoolExecutor() as pool:
            answers = list(pool.map(end, ends))
        if "abort" in ends:
            assert "InternalError" not in answers
        else:
            assert set(answers) == {s3.head_object(**where)["ETag"]}


def test_what_s3_has_besides_is_refused_and_changes_nothing(s3):
    where = {"Bucket": BUCKET, "Key": "260510/s3/refused"}
    s3.put_object(**where, Body=b"here")
    upload = {**where, "UploadId": s3.create_multipart_upload(**where)["UploadId"]}
    for call in (
        lambda: s3.upload_part_copy(**upload, PartNumber=1, CopySource=where),
        lambda: s3.copy_object(Bucket=BUCKET, Key="260510/s3/copy", CopySource=where),
        lambda: s3.delete_object(**where, VersionId="abc"),
    ):
        with pytest.raises(botocore.exceptions.ClientError, match="NotImplemented"):
            call()
    assert "Parts" not in s3.list_parts(**upload)
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


def test_another_tenant_cannot_touch_an_upload(s3, server):
    where = {"Bucket": BUCKET, "Key": "260510/s3/private"}
    upload = {**where, "UploadId": s3.create_multipart_upload(**where)["UploadId"]}
    other = server.client("dev-client-2", "dev-secret-2").s3()
    for call in (other.list_parts, other.abort_multipart_upload, lambda **k: other.upload_part(**k, PartNumber=1, Body=b"")):
        with pytest.raises(botocore.exceptions.ClientError, match="NoSuchUpload"):
            call(**upload)
    s3.abort_multipart_upload(**upload)


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


ALGORITHMS = ["CRC32", "SHA1", "SHA256"]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_checksum_headers_are_checked(s3, algorithm):
    where = {"Bucket": BUCKET, "Key": "260510/s3/checksum"}
    answer = s3.put_object(**where, Body=b"checked", ChecksumAlgorithm=algorithm)
    assert answer[f"Checksum{algorithm}"]
    wrong = base64.b64encode(base64.b64decode(answer[f"Checksum{algorithm}"])[::-1]).decode()
    with pytest.raises(botocore.exceptions.ClientError, match="BadDigest"):
        s3.put_object(**where, Body=b"checked", **{f"Checksum{algorithm}": wrong})
    assert s3.get_object(**where)["Body"].read() == b"checked"


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("size", [0, 1, 100_000, 3_000_000])
def test_trailing_checksums_over_tls_are_decoded_and_checked(client, server, algorithm, size):
    """boto3 sends its checksums as trailers of a chunked body where the connection is encrypted."""
    keys = client.session.get(f"{server.base_url}/credentials").json()["credentials"]
    s3 = boto3.client(
        "s3", endpoint_url=f"https://localhost:{server.tls_port}", verify=server.authority, region_name="ap-south-1", aws_access_key_id=keys["AccessKeyId"],
        aws_secret_access_key=keys["SecretKey"], aws_session_token=keys["SessionToken"],
    )
    modes = []
    s3.meta.events.register("before-send.s3.PutObject", lambda request, **_: modes.append(request.headers["x-amz-content-sha256"]))
    body = random.Random(size).randbytes(size)
    where = {"Bucket": BUCKET, "Key": f"260510/s3/trailer-{algorithm}-{size}"}
    s3.put_object(**where, Body=body, ChecksumAlgorithm=algorithm)
    assert b"STREAMING-UNSIGNED-PAYLOAD-TRAILER" in modes or "STREAMING-UNSIGNED-PAYLOAD-TRAILER" in modes
    assert s3.get_object(**where)["Body"].read() == body


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
    assert json.loads(aws("s3api", "list-objects-v2", "--bucket", "cli", "--output", "json") or "{}").get("Contents") is None


def test_multipart_uploads_are_listed_page_by_page(s3, server):
    bucket = "listed-uploads"
    begun = [
        (key, s3.create_multipart_upload(Bucket=bucket, Key=key)["UploadId"])
        for key in ("b/ü 1", "a", "b/2", "a", "c")
    ]
    assert s3.list_multipart_uploads(Bucket="another").get("Uploads", []) == []
    pages = s3.get_paginator("list_multipart_uploads").paginate(Bucket=bucket, PaginationConfig={"PageSize": 2})
    listed = [(upload["Key"], upload["UploadId"]) for page in pages for upload in page["Uploads"]]
    assert listed == sorted(begun, key=lambda upload: (upload[0].encode(), upload[1]))
    only = s3.list_multipart_uploads(Bucket=bucket, Prefix="b/")
    assert [upload["Key"] for upload in only["Uploads"]] == ["b/2", "b/ü 1"]
    for key, upload in begun:
        s3.abort_multipart_upload(Bucket=bucket, Key=key, UploadId=upload)
    assert s3.list_multipart_uploads(Bucket=bucket).get("Uploads", []) == []


@pytest.mark.parametrize("method, path", [("GET", "/b/k"), ("DELETE", "/b/k"), ("POST", "/b/k?uploads="), ("GET", "/b")])
def test_a_declared_payload_is_that_of_the_body_for_every_verb(server, method, path):
    keys = server.client().session.get(f"{server.base_url}/credentials").json()["credentials"]
    credentials = botocore.credentials.Credentials(keys["AccessKeyId"], keys["SecretKey"], keys["SessionToken"])
    for declared, status in [(hashlib.sha256(b"").hexdigest(), None), (hashlib.sha256(b"other").hexdigest(), 400)]:
        request = botocore.awsrequest.AWSRequest(method, f"{server.base_url}{path}", data=b"")
        request.headers["X-Amz-Content-SHA256"] = declared
        signer = botocore.auth.S3SigV4Auth(credentials, "s3", "ap-south-1")
        signer.payload = lambda _, declared=declared: declared
        signer.add_auth(request)
        answer = requests.request(method, request.url, headers=dict(request.headers))
        if status:
            assert answer.status_code == status and "XAmzContentSHA256Mismatch" in answer.text, answer.text
        else:
            assert answer.status_code in (200, 204, 404), answer.text
