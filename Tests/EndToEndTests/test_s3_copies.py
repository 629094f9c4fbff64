"""S3 operations around objects: copies, deletion of many, buckets, what is read of them; keys, parts and headers."""

import datetime
import hashlib
import http.client
import socket
import urllib.parse
import uuid

import boto3
import botocore.exceptions
import minio
import pytest
import requests
from client import BUCKET
from emulator import PATIENCE
from namespaces import EkaClient, access, created
from s3_requests import Multipart, Signer, base64ed, checksum, sent

MB = 1 << 20
BODY = bytes(range(256)) * 5
#: Compiled into the SDKs.
BUCKETS = [
    "m-dev-voice-record", "m-pp-voice2rx", "m-prod-ekascribe-batch", "m-prod-voice-record", "m-staging-voice-record"]
ClientError = botocore.exceptions.ClientError


@pytest.fixture(scope="module")
def signer(server):
    return Signer(server)


@pytest.fixture(scope="module")
def s3(server):
    return server.client().s3()


@pytest.fixture(scope="module")
def other(server):
    """boto3 of the other tenant."""
    return server.client("dev-client-2", "dev-secret-2").s3()


@pytest.fixture
def key():
    """A key that no other test has."""
    return f"260510/copies/{uuid.uuid4()}"


@pytest.fixture
def target(key):
    return f"/{BUCKET}/{key}"


def tag(body: bytes) -> str:
    return f'"{hashlib.md5(body).hexdigest()}"'


def address(key: str, bucket=BUCKET) -> dict:
    return {"Bucket": bucket, "Key": key}


# Copies


def test_a_copy_has_the_content_and_the_headers_of_its_source(s3, key):
    kept = {
        "ContentType": "audio/wav", "CacheControl": "max-age=3", "ContentLanguage": "en", "Metadata": {"txnid": "t"},
        "ContentDisposition": 'attachment; filename="a.wav"', "ContentEncoding": "identity"}
    s3.put_object(**address(key), Body=BODY, **kept)
    result = s3.copy_object(**address(key, "copies"), CopySource=address(key))["CopyObjectResult"]
    got = s3.get_object(**address(key, "copies"))
    assert (result["ETag"], result["LastModified"].replace(microsecond=0)) == (tag(BODY), got["LastModified"])
    assert got["Body"].read() == BODY
    assert {name: got[name] for name in kept} == kept
    s3.delete_object(**address(key))
    assert s3.get_object(**address(key, "copies"))["Body"].read() == BODY, "it is no link"


def test_a_copy_replaces_headers_only_if_it_says_so(s3, key):
    s3.put_object(**address(key), Body=BODY, ContentType="audio/wav", Metadata={"old": "1"}, CacheControl="no-store")
    new = {"ContentType": "audio/mp4", "Metadata": {"new": "2"}}
    old, replaced = ("audio/wav", {"old": "1"}, "no-store"), ("audio/mp4", {"new": "2"}, None)
    for directive, expected in [
        ({}, old), ({"MetadataDirective": "COPY"}, old), ({"MetadataDirective": "REPLACE"}, replaced)
    ]:
        s3.copy_object(**address(f"{key}/copy"), CopySource=address(key), **new, **directive)
        head = s3.head_object(**address(f"{key}/copy"))
        assert (head["ContentType"], head["Metadata"], head.get("CacheControl")) == expected


def test_an_empty_object_is_copied_and_read_like_any_other(signer, s3, key, target):
    s3.put_object(**address(key), Body=b"")
    assert s3.copy_object(**address(f"{key}/copy"), CopySource=address(key))["CopyObjectResult"]["ETag"] == tag(b"")
    answer = signer.send("GET", f"{target}/copy")
    assert (answer.status, answer.content) == (200, b"")
    answer = signer.send("GET", f"{target}/copy", headers={"range": "bytes=0-"})
    assert (answer.error, answer.headers["Content-Range"]) == ((416, "InvalidRange"), "bytes */0")


def test_a_copy_onto_itself_must_change_something(s3, key):
    s3.put_object(**address(key), Body=BODY, Metadata={"old": "1"})
    with pytest.raises(ClientError, match="InvalidRequest"):
        s3.copy_object(**address(key), CopySource=address(key))
    result = s3.copy_object(
        **address(key), CopySource=address(key), Metadata={"new": "2"}, MetadataDirective="REPLACE")
    assert result["CopyObjectResult"]["ETag"] == tag(BODY)
    got = s3.get_object(**address(key))
    assert (got["Body"].read(), got["Metadata"]) == (BODY, {"new": "2"})


def test_a_source_that_is_not_there_is_no_such_key(s3, key):
    with pytest.raises(ClientError, match="NoSuchKey"):
        s3.copy_object(**address(f"{key}/copy"), CopySource=address(key))
    upload = {**address(key), "UploadId": s3.create_multipart_upload(**address(key))["UploadId"]}
    with pytest.raises(ClientError, match="NoSuchKey"):
        s3.upload_part_copy(**upload, PartNumber=1, CopySource=address(f"{key}/source"))
    assert "Contents" not in s3.list_objects_v2(Bucket=BUCKET, Prefix=key)


@pytest.mark.parametrize("name", ["a b/ü (1)+~.m4a", "plus+and%20percent", "x'*!@:&=$,;?#[]", "日本/語.wav"])
@pytest.mark.parametrize("start", ["", "/"])
def test_sources_of_every_spelling_are_found(signer, s3, key, name, start):
    s3.put_object(**address(f"{key}/{name}"), Body=name.encode())
    source = start + urllib.parse.quote(f"{BUCKET}/{key}/{name}")
    answer = signer.send("PUT", f"/{BUCKET}/{key}/copy", headers={"x-amz-copy-source": source})
    assert (answer.status, answer.value("ETag")) == (200, tag(name.encode())), answer.text
    assert s3.get_object(**address(f"{key}/copy"))["Body"].read() == name.encode()


@pytest.mark.parametrize("part", [False, True], ids=["object", "part"])
def test_a_copy_is_made_only_under_its_conditions(s3, key, part):
    eTag = s3.put_object(**address(key), Body=BODY)["ETag"]
    changed = s3.head_object(**address(key))["LastModified"]
    before = changed - datetime.timedelta(seconds=1)
    where = address(f"{key}/copy")
    upload = {"UploadId": s3.create_multipart_upload(**where)["UploadId"], "PartNumber": 1}

    def copy(**conditions):
        make = s3.upload_part_copy if part else s3.copy_object
        return make(**where, **(upload if part else {}), CopySource=address(key), **conditions)

    for conditions in (
        {"CopySourceIfMatch": '"other"'}, {"CopySourceIfNoneMatch": eTag}, {"CopySourceIfUnmodifiedSince": before},
        {"CopySourceIfModifiedSince": changed},
    ):
        with pytest.raises(ClientError) as failure:
            copy(**conditions)
        assert failure.value.response["Error"]["Code"] == "PreconditionFailed", conditions
        assert failure.value.response["ResponseMetadata"]["HTTPStatusCode"] == 412
    for conditions in (
        {"CopySourceIfMatch": eTag}, {"CopySourceIfMatch": eTag.strip('"')}, {"CopySourceIfNoneMatch": '"other"'},
        {"CopySourceIfUnmodifiedSince": changed}, {"CopySourceIfModifiedSince": before},
    ):
        assert copy(**conditions)["CopyPartResult" if part else "CopyObjectResult"]["ETag"] == eTag, conditions


@pytest.mark.parametrize("text", [
    "bytes=0-", "bytes=-5", "bytes=2-1", "bytes=0-99", "bytes=99-100", "0-1", "bytes=0-1,2-3"])
def test_a_range_of_a_copy_has_both_ends_within_its_source(s3, key, text):
    s3.put_object(**address(key), Body=b"0123456789")
    upload = {**address(f"{key}/copy"), "UploadId": s3.create_multipart_upload(**address(f"{key}/copy"))["UploadId"]}
    with pytest.raises(ClientError) as failure:
        s3.upload_part_copy(**upload, PartNumber=1, CopySource=address(key), CopySourceRange=text)
    assert failure.value.response["Error"]["Code"] == "InvalidArgument"


def test_parts_are_copied_whole_and_by_ranges(s3, key):
    source = bytes(5 * MB) + BODY
    s3.put_object(**address(key), Body=source)
    s3.put_object(**address(f"{key}/small"), Body=b"small")
    where = address(f"{key}/copy")
    upload = {**where, "UploadId": s3.create_multipart_upload(**where)["UploadId"]}
    copied = [
        s3.upload_part_copy(**upload, PartNumber=number, CopySource=address(name), **more)["CopyPartResult"]
        for number, name, more in [
            (1, key, {"CopySourceRange": f"bytes=0-{5 * MB - 1}"}), (2, key, {}), (3, f"{key}/small", {})]]
    assert [each["ETag"] for each in copied] == [tag(bytes(5 * MB)), tag(source), tag(b"small")]
    assert all(each["LastModified"] for each in copied)
    assert [part["Size"] for part in s3.list_parts(**upload)["Parts"]] == [5 * MB, len(source), 5]
    s3.complete_multipart_upload(**upload, MultipartUpload={
        "Parts": [{"PartNumber": number, "ETag": each["ETag"]} for number, each in enumerate(copied, 1)]})
    assert s3.get_object(**where)["Body"].read() == bytes(5 * MB) + source + b"small"


@pytest.mark.parametrize("operation", ["object", "part"])
@pytest.mark.parametrize("direction", ["first-to-second", "second-to-first"])
def test_another_tenants_object_is_no_source(s3, other, key, operation, direction):
    owner, thief = (s3, other) if direction == "first-to-second" else (other, s3)
    owner.put_object(**address(key), Body=b"mine")
    where = address(f"{key}/copy")
    with pytest.raises(ClientError, match="NoSuchKey"):
        if operation == "object":
            thief.copy_object(**where, CopySource=address(key))
        else:
            upload = thief.create_multipart_upload(**where)["UploadId"]
            thief.upload_part_copy(**where, UploadId=upload, PartNumber=1, CopySource=address(key))
    assert "Contents" not in thief.list_objects_v2(Bucket=BUCKET, Prefix=key)
    # An own object under the same key is one.
    thief.put_object(**address(key), Body=b"theirs")
    thief.copy_object(**where, CopySource=address(key))
    assert thief.get_object(**where)["Body"].read() == b"theirs"


def test_an_object_of_another_namespace_is_no_source(server, s3, key):
    inside = EkaClient(access(server, created(server), "prefix")).s3()
    for owner, thief in [(s3, inside), (inside, s3)]:
        owner.put_object(**address(key), Body=b"mine")
        with pytest.raises(ClientError, match="NoSuchKey"):
            thief.copy_object(**address(f"{key}/copy"), CopySource=address(key))
        owner.delete_object(**address(key))


# Deletion of many


def deletion(keys, quiet=False) -> bytes:
    objects = "".join(f"<Object><Key>{key}</Key></Object>" for key in keys)
    return f"<Delete>{objects}{'<Quiet>true</Quiet>' if quiet else ''}</Delete>".encode()


def test_many_objects_are_deleted_at_once_and_missing_ones_count(s3, other, key):
    keys = [f"{key}/{name}" for name in ("a", "ü <&>", "c")]
    for name in keys:
        s3.put_object(**address(name), Body=b"x")
        other.put_object(**address(name), Body=b"theirs")
    gone = [*keys[:2], f"{key}/missing"]
    for _ in range(2):
        answer = s3.delete_objects(Bucket=BUCKET, Delete={"Objects": [{"Key": name} for name in gone]})
        assert ([each["Key"] for each in answer["Deleted"]], answer.get("Errors")) == (gone, None)
    assert [each["Key"] for each in s3.list_objects_v2(Bucket=BUCKET, Prefix=key)["Contents"]] == keys[2:]
    assert other.list_objects_v2(Bucket=BUCKET, Prefix=key)["KeyCount"] == 3, "the other tenant's are its own"


def test_a_quiet_deletion_says_nothing_of_what_went_well(s3, key):
    s3.put_object(**address(key), Body=b"x")
    answer = s3.delete_objects(Bucket=BUCKET, Delete={"Objects": [{"Key": key}], "Quiet": True})
    assert "Deleted" not in answer and "Errors" not in answer
    assert "Contents" not in s3.list_objects_v2(Bucket=BUCKET, Prefix=key)


def test_at_most_1000_objects_are_deleted_at_once(signer, key):
    assert signer.put(f"/{BUCKET}/{key}", b"x").status == 200
    for count, error in [(1001, (400, "MalformedXML")), (1000, (200, None))]:
        body = deletion([key, *(f"{key}/{number}" for number in range(count - 1))])
        answer = signer.send("POST", f"/{BUCKET}?delete", body, {"content-md5": checksum("MD5", body)})
        assert answer.error == error, answer.text
        assert len(answer.all("Key")) == (count if answer.status == 200 else 0)
        assert signer.send("HEAD", f"/{BUCKET}/{key}").status == (404 if answer.status == 200 else 200)


@pytest.mark.parametrize("body", [b"<Delete>", b"<Delete></Delete>", b"<Other></Other>"])
def test_a_deletion_must_be_whole(signer, body):
    answer = signer.send("POST", f"/{BUCKET}?delete", body, {"content-md5": checksum("MD5", body)})
    assert answer.error == (400, "MalformedXML"), answer.text


def test_a_deletion_needs_a_sum_of_its_body(signer, key):
    assert signer.put(f"/{BUCKET}/{key}", b"x").status == 200
    body = deletion([key], quiet=True)
    for headers, error in [
        ({}, (400, "InvalidRequest")), ({"content-md5": checksum("MD5", b"other")}, (400, "BadDigest")),
        ({"x-amz-checksum-crc32": checksum("CRC32", b"other")}, (400, "BadDigest")),
    ]:
        assert signer.send("POST", f"/{BUCKET}?delete", body, headers).error == error
        assert signer.send("HEAD", f"/{BUCKET}/{key}").status == 200
    for headers in (
        {"content-md5": checksum("MD5", body)}, {"x-amz-checksum-crc32": checksum("CRC32", body)},
        {"x-amz-checksum-sha256": checksum("SHA256", body)},
    ):
        assert signer.put(f"/{BUCKET}/{key}", b"x").status == 200
        # As s3cmd spells it, too.
        for path in (f"/{BUCKET}?delete", f"/{BUCKET}/?delete="):
            answer = signer.send("POST", path, body, headers)
            assert (answer.status, answer.all("Key")) == (200, []), answer.text
        assert signer.send("HEAD", f"/{BUCKET}/{key}").status == 404


# Buckets


@pytest.mark.parametrize("bucket", BUCKETS)
def test_a_bucket_of_the_sdks_is_there_already(s3, bucket):
    with pytest.raises(s3.exceptions.BucketAlreadyOwnedByYou) as failure:
        s3.create_bucket(Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": "ap-south-1"})
    assert failure.value.response["ResponseMetadata"]["HTTPStatusCode"] == 409


def test_a_bucket_is_created_where_the_server_is(signer, s3):
    bucket = f"made-{uuid.uuid4()}"
    for location in ({}, {"CreateBucketConfiguration": {"LocationConstraint": "ap-south-1"}}):
        assert s3.create_bucket(Bucket=bucket, **location)["ResponseMetadata"]["HTTPStatusCode"] == 200
    # As s3cmd spells it.
    assert signer.send("PUT", f"/{bucket}/").status == 200
    with pytest.raises(ClientError, match="IllegalLocationConstraintException"):
        s3.create_bucket(Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
    s3.put_object(**address("a", bucket), Body=b"x")
    assert s3.list_objects_v2(Bucket=bucket)["KeyCount"] == 1


@pytest.mark.parametrize("region", ["ap-south-1", "us-east-1", "eu-west-1"])
def test_every_signing_region_learns_where_a_bucket_is(server, region):
    signer = Signer(server, region=region)
    for path in (f"/{BUCKET}?location", f"/{BUCKET}/?location="):
        answer = signer.send("GET", path)
        assert (answer.status, answer.value("LocationConstraint")) == (200, "ap-south-1"), answer.text
    head = signer.send("HEAD", f"/{BUCKET}")
    assert (head.status, head.headers["x-amz-bucket-region"]) == (200, "ap-south-1")


@pytest.mark.parametrize("region", ["us-east-1", "eu-west-1"])
def test_every_signing_region_is_accepted(server, key, region):
    signer, target = Signer(server, region=region), f"/{BUCKET}/{key}"
    assert signer.put(target, BODY).status == 200
    assert signer.send("GET", target).content == BODY
    assert sent(server, "GET", signer.presigned("GET", target)).content == BODY


def test_the_buckets_with_objects_are_listed(server):
    client = EkaClient(access(server, created(server), "prefix"))
    s3 = client.s3()

    def listed():
        return [bucket["Name"] for bucket in s3.list_buckets()["Buckets"]]

    assert listed() == []
    s3.put_object(Bucket="another", Key="a", Body=b"x")
    s3.put_object(Bucket=BUCKETS[0], Key="a", Body=b"x")
    assert listed() == ["another", BUCKETS[0]]


# What is read of objects and buckets that nothing can change


def test_objects_have_no_tags_and_buckets_have_no_set_of_tags(s3, key):
    s3.put_object(**address(key), Body=b"x")
    assert s3.get_object_tagging(**address(key))["TagSet"] == []
    with pytest.raises(ClientError) as failure:
        s3.get_bucket_tagging(Bucket=BUCKET)
    assert failure.value.response["Error"]["Code"] == "NoSuchTagSet"
    assert failure.value.response["ResponseMetadata"]["HTTPStatusCode"] == 404


def test_the_owner_alone_may_do_everything(s3, key):
    s3.put_object(**address(key), Body=b"x")
    owner = s3.list_buckets()["Owner"]["ID"]
    for acl in (s3.get_object_acl(**address(key)), s3.get_bucket_acl(Bucket=BUCKET)):
        assert acl["Owner"]["ID"] == owner
        [grant] = acl["Grants"]
        assert (grant["Grantee"]["Type"], grant["Grantee"]["ID"], grant["Permission"]) == (
            "CanonicalUser", owner, "FULL_CONTROL")


def test_a_missing_object_has_neither_tags_nor_an_acl(s3, key):
    for call in (s3.get_object_tagging, s3.get_object_acl):
        with pytest.raises(ClientError, match="NoSuchKey"):
            call(**address(key))


def test_no_bucket_keeps_versions(s3):
    answer = s3.get_bucket_versioning(Bucket=BUCKET)
    assert "Status" not in answer and "MFADelete" not in answer


@pytest.mark.parametrize("query", ["acl", "tagging"])
def test_what_would_change_them_is_not_implemented(signer, target, query):
    """s3cmd sends the ACL that it has read with every copy, and goes on after exactly 501."""
    assert signer.put(target, b"x").status == 200
    for path in (f"{target}?{query}", f"/{BUCKET}/?{query}"):
        assert signer.send("PUT", path, b"<AccessControlPolicy/>").error == (501, "NotImplemented")


# Keys


@pytest.mark.parametrize("name", ["a/./b", "a/../b", "./a", "a/.", "a/b/..", ".", "...", "a/.../b", "a//../b"])
def test_dots_in_keys_are_nothing_but_dots(server, signer, s3, key, name):
    where = address(f"{key}/{name}")
    s3.put_object(**where, Body=name.encode())
    assert s3.get_object(**where)["Body"].read() == name.encode()
    assert [each["Key"] for each in s3.list_objects_v2(Bucket=BUCKET, Prefix=key)["Contents"]] == [where["Key"]]
    target = signer.presigned("GET", f"/{BUCKET}/{where['Key']}")
    assert sent(server, "GET", target).content == name.encode()


@pytest.mark.parametrize("name", ["../x", "a/../../b", "..", "../../etc/passwd", "%2e%2e/x", "a/..%2f..%2fb"])
def test_a_key_that_leads_out_of_its_bucket_is_refused(signer, name):
    for method in ("PUT", "GET", "HEAD", "DELETE"):
        answer = signer.send(method, f"/{BUCKET}/{name}")
        assert answer.status == 400, answer.text
        assert method == "HEAD" or answer.value("Code") == "InvalidURI"


# Parts and ranges


def test_parts_are_read_by_their_numbers(signer, target):
    bodies = [bytes(5 * MB), BODY]
    upload = Multipart(signer, target)
    tags = [upload.part(number, body).headers["ETag"] for number, body in enumerate(bodies, 1)]
    done = upload.complete(*({"PartNumber": number, "ETag": each} for number, each in enumerate(tags, 1)))
    assert done.status == 200, done.text
    size, start = sum(map(len, bodies)), 0
    for number, body in enumerate(bodies, 1):
        for method in ("GET", "HEAD"):
            answer = signer.send(method, f"{target}?partNumber={number}")
            assert (answer.status, answer.headers["x-amz-mp-parts-count"]) == (206, "2"), answer.text
            assert answer.headers["Content-Range"] == f"bytes {start}-{start + len(body) - 1}/{size}"
            assert (answer.headers["Content-Length"], answer.headers["ETag"]) == (str(len(body)), done.value("ETag"))
            assert answer.content == (body if method == "GET" else b"")
        start += len(body)
    assert signer.send("GET", f"{target}?partNumber=3").error == (416, "InvalidPartNumber")
    assert signer.send("HEAD", f"{target}?partNumber=3").status == 416
    both = signer.send("GET", f"{target}?partNumber=1", headers={"range": "bytes=0-1"})
    assert both.error == (400, "InvalidRequest")
    assert signer.send("GET", f"{target}?partNumber=0").error == (400, "InvalidArgument")


def test_an_object_that_came_whole_is_its_first_part(signer, target):
    assert signer.put(target, BODY).status == 200
    answer = signer.send("GET", f"{target}?partNumber=1")
    assert (answer.status, answer.content) == (206, BODY)
    assert answer.headers["Content-Range"] == f"bytes 0-{len(BODY) - 1}/{len(BODY)}"
    assert signer.send("GET", f"{target}?partNumber=2").error == (416, "InvalidPartNumber")


def test_a_range_beyond_the_end_is_told_the_size(signer, target):
    assert signer.put(target, BODY).status == 200
    for method in ("GET", "HEAD"):
        answer = signer.send(method, target, headers={"range": "bytes=5000-6000"})
        assert (answer.status, answer.headers["Content-Range"]) == (416, f"bytes */{len(BODY)}"), answer.text
        if method == "GET":
            assert answer.error == (416, "InvalidRange")
            assert (answer.value("RangeRequested"), answer.value("ActualObjectSize")) == (
                "bytes=5000-6000", str(len(BODY)))


# Headers and lengths


KEPT = {
    "Content-Type": "audio/x-wav", "Content-Encoding": "gzip", "Cache-Control": "max-age=3, private",
    "Content-Language": "en-IN, hi", "Expires": "Wed, 21 Oct 2026 07:28:00 GMT",
    "Content-Disposition": 'attachment; filename="a b.wav"', "x-amz-meta-txnid": "t-1", "x-amz-meta-empty": "",
}


def kept(signer, target) -> list[dict]:
    return [
        {name: answer.headers[name] for name in KEPT}
        for answer in (signer.send(method, target) for method in ("GET", "HEAD"))]


def test_headers_of_a_put_are_kept(signer, target):
    assert signer.send("PUT", target, BODY, KEPT).status == 200
    assert kept(signer, target) == [KEPT, KEPT]
    assert signer.put(target, BODY).status == 200
    assert [found | {"Content-Type": None} for found in kept(signer, target)] == [dict.fromkeys(KEPT)] * 2


def test_headers_of_a_multipart_upload_are_kept(signer, server, target):
    upload = Multipart(signer, target, **KEPT)
    answer = upload.part(1, BODY)
    done = upload.complete({"PartNumber": 1, "ETag": answer.headers["ETag"]})
    assert (done.status, done.value("Location")) == (200, server.base_url + target), done.text
    assert kept(signer, target) == [KEPT, KEPT]


@pytest.mark.parametrize("given, is_kept", [
    ("aws-chunked", None), ("aws-chunked,gzip", "gzip"), ("gzip, aws-chunked", "gzip"), ("gzip,aws-chunked", "gzip")])
def test_the_encoding_of_the_transfer_is_not_that_of_the_object(signer, target, given, is_kept):
    trailer = f"x-amz-checksum-crc32:{checksum('CRC32', BODY)}"
    answer = signer.put_with_trailers(
        target, BODY, trailer, announced="x-amz-checksum-crc32", headers={"content-encoding": given})
    assert answer.status == 200, answer.text
    answer = signer.send("GET", target)
    assert (answer.content, answer.headers["Content-Encoding"]) == (BODY, is_kept)


def test_a_body_needs_a_length_that_s3_knows(signer, target):
    chunked = b"%x\r\n%b\r\n0\r\n\r\n" % (len(BODY), BODY)
    transfer = {"transfer-encoding": "chunked"}
    answer = signer.send("PUT", target, chunked, unsigned=transfer)
    assert answer.error == (501, "NotImplemented"), answer.text
    answer = signer.send("PUT", target, None)
    assert answer.error == (411, "MissingContentLength"), answer.text
    assert signer.send("HEAD", target).status == 404
    # What botocore sends over TLS: chunks of S3 in chunks of HTTP.
    framed = b"%x\r\n%b\r\n0\r\nx-amz-checksum-crc32:%b\r\n\r\n" % (len(BODY), BODY, checksum("CRC32", BODY).encode())
    headers = {"x-amz-trailer": "x-amz-checksum-crc32", "x-amz-decoded-content-length": str(len(BODY))}
    answer = signer.send(
        "PUT", target, b"%x\r\n%b\r\n0\r\n\r\n" % (len(framed), framed), headers,
        payload="STREAMING-UNSIGNED-PAYLOAD-TRAILER", unsigned=transfer)
    assert answer.status == 200, answer.text
    assert signer.send("GET", target).content == BODY


@pytest.mark.parametrize("is_right", [True, False], ids=["right", "wrong"])
def test_a_wrong_signature_is_refused_before_the_body_is_asked_for(server, signer, target, is_right):
    headers = signer.headers("PUT", target) | {"content-length": "4", "expect": "100-continue"}
    if not is_right:
        start, _, signature = headers["Authorization"].rpartition("=")
        headers["Authorization"] = f"{start}={'0' * len(signature)}"
    lines = [f"PUT {target} HTTP/1.1", f"Host: 127.0.0.1:{server.port}", *map(": ".join, headers.items())]
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as connection:
        connection.sendall("\r\n".join([*lines, "", ""]).encode())
        first = connection.recv(4000)
        if is_right:
            assert first.startswith(b"HTTP/1.1 100 ")
            connection.sendall(b"body")
            answer = http.client.HTTPResponse(connection)
            answer.begin()
            assert answer.status == 200
        else:
            assert first.startswith(b"HTTP/1.1 403 "), first
    assert signer.send("HEAD", target).status == (200 if is_right else 404)


def test_a_payload_that_was_signed_is_that_of_a_deletion(signer, key):
    assert signer.put(f"/{BUCKET}/{key}", b"x").status == 200
    body, payload = deletion([key]), hashlib.sha256(b"other").hexdigest()
    headers = {"content-md5": base64ed(hashlib.md5(body).digest())}
    answer = signer.send("POST", f"/{BUCKET}?delete", body, headers, payload=payload)
    assert answer.error == (400, "XAmzContentSHA256Mismatch"), answer.text
    assert signer.send("HEAD", f"/{BUCKET}/{key}").status == 200


# The setting for the region


@pytest.fixture(scope="module")
def strict_server(served):
    """A server that refuses other regions. One start serves all tests of this file."""
    return served("--s3-region", "strict")


def test_a_strict_server_refuses_another_region_and_names_its_own(strict_server, key):
    foreign, target = Signer(strict_server, region="us-east-1"), f"/{BUCKET}/{key}"
    presigned = sent(strict_server, "GET", foreign.presigned("GET", target))
    for answer in (foreign.put(target, BODY), foreign.send("GET", "/"), foreign.send("GET", f"/{BUCKET}?list-type=2")):
        assert answer.error == (400, "AuthorizationHeaderMalformed"), answer.text
        assert answer.value("Region") == "ap-south-1"
    assert presigned.status == 400 and presigned.value("Region") == "ap-south-1", presigned.text
    assert Signer(strict_server).put(target, BODY).status == 200


def test_a_strict_server_refuses_a_form_of_another_region(strict_server, key):
    for region, status in [("us-east-1", 400), ("ap-south-1", 204)]:
        fields = Signer(strict_server, region=region).form({"bucket": BUCKET}, ["starts-with", "$key", ""], key=key)
        answer = requests.post(
            f"{strict_server.base_url}/{BUCKET}", data={"key": key, **fields}, files={"file": b"x"}, timeout=PATIENCE)
        assert answer.status_code == status, answer.text


def test_a_strict_server_tells_every_region_where_a_bucket_is(strict_server):
    foreign = Signer(strict_server, region="us-east-1")
    head = foreign.send("HEAD", f"/{BUCKET}")
    assert (head.status, head.headers["x-amz-bucket-region"]) == (200, "ap-south-1")
    assert foreign.send("GET", f"/{BUCKET}?location").value("LocationConstraint") == "ap-south-1"


def test_clients_find_the_region_of_a_strict_server(strict_server, key):
    """boto3 signs once more for the region of the refusal, minio asks for the location first."""
    keys = Signer(strict_server).credentials
    s3 = boto3.client(
        "s3", endpoint_url=strict_server.base_url, region_name="us-east-1", aws_access_key_id=keys.access_key,
        aws_secret_access_key=keys.secret_key, aws_session_token=keys.token)
    s3.put_object(**address(key), Body=BODY)
    client = minio.Minio(
        f"127.0.0.1:{strict_server.port}", keys.access_key, keys.secret_key, keys.token, secure=False)
    assert client.stat_object(BUCKET, key).size == len(BODY)


def test_an_answer_before_the_expected_body_ends_the_connection(server):
    """A pooled connection would otherwise be closed under the next request."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as connection:
        head = "GET /livez HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n"
        connection.sendall(head.encode())
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        assert (answer.status, answer.headers["connection"]) == (200, "close")
