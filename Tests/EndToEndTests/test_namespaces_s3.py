"""S3 in a namespace, over boto3: signatures cover the path as it was sent, with the prefix."""

import urllib.parse

import botocore.auth
import botocore.awsrequest
import botocore.config
import botocore.credentials
import botocore.exceptions
import pytest
import requests
from emulator import PATIENCE
from namespaces import WAYS, Access, EkaClient, access, counts, created

MB = 1 << 20


@pytest.fixture(params=WAYS)
def client(request, server):
    """Client of a new namespace. Nothing that it stores is in the default world."""
    before = counts(server)
    yield EkaClient(access(server, created(server), request.param))
    assert counts(server) == before


def test_a_conditional_put_replaces_only_what_it_may(client):
    s3, where = client.s3(), {"Bucket": "b", "Key": "conditional"}
    tag = s3.put_object(**where, Body=b"first", IfNoneMatch="*")["ETag"]
    for condition in ({"IfNoneMatch": "*"}, {"IfMatch": '"abc"'}):
        with pytest.raises(botocore.exceptions.ClientError, match="PreconditionFailed"):
            s3.put_object(**where, Body=b"second", **condition)
    assert s3.get_object(**where)["Body"].read() == b"first"
    s3.put_object(**where, Body=b"third", IfMatch=tag)
    assert s3.get_object(**where)["Body"].read() == b"third"


def test_the_same_key_of_two_namespaces_is_two_objects(server):
    one, two = (EkaClient(access(server, created(server), "prefix")).s3() for _ in range(2))
    default, where = EkaClient(Access(server.base_url)).s3(), {"Bucket": "b", "Key": "same"}
    for number, s3 in enumerate((one, two, default)):
        # None of them sees the others' objects, so that each of them is the first.
        s3.put_object(**where, Body=b"%d" % number, IfNoneMatch="*")
    assert [s3.get_object(**where)["Body"].read() for s3 in (one, two, default)] == [b"0", b"1", b"2"]
    two.delete_object(**where)
    assert [s3.get_object(**where)["Body"].read() for s3 in (one, default)] == [b"0", b"2"]
    default.delete_object(**where)


def test_a_multipart_upload(client):
    s3, where = client.s3(), {"Bucket": "b", "Key": "parts/ü 1.wav"}
    upload = {**where, "UploadId": s3.create_multipart_upload(**where)["UploadId"]}
    tags = [
        s3.upload_part(**upload, PartNumber=number, Body=body)["ETag"]
        for number, body in ((1, bytes(5 * MB)), (2, b"end"))]
    assert [part["Size"] for part in s3.list_parts(**upload)["Parts"]] == [5 * MB, 3]
    assert [each["Key"] for each in s3.list_multipart_uploads(Bucket="b")["Uploads"]] == [where["Key"]]
    done = s3.complete_multipart_upload(
        **upload, MultipartUpload={"Parts": [{"PartNumber": n, "ETag": tag} for n, tag in enumerate(tags, 1)]})
    # The object, as the client reached it.
    assert done["Location"] == f"{client.base_url}/b/{urllib.parse.quote(where['Key'])}"
    assert s3.get_object(**where)["Body"].read() == bytes(5 * MB) + b"end"
    aborted = {**where, "UploadId": s3.create_multipart_upload(**where)["UploadId"]}
    s3.abort_multipart_upload(**aborted)
    assert s3.list_multipart_uploads(Bucket="b").get("Uploads", []) == []


def test_listing_and_ranges(client):
    s3 = client.s3()
    keys = ["a/1", "a/2", "b (1)+~.m4a", "ns/a", "x'*!()@:&=$,;?#[]", "日本/語.wav"]
    for key in keys:
        s3.put_object(Bucket="listed", Key=key, Body=key.encode())
        assert s3.get_object(Bucket="listed", Key=key, Range="bytes=1-2")["Body"].read() == key.encode()[1:3]
    pages = s3.get_paginator("list_objects_v2").paginate(Bucket="listed", PaginationConfig={"PageSize": 2})
    assert [item["Key"] for page in pages for item in page["Contents"]] == sorted(keys, key=str.encode)
    rolled = s3.list_objects_v2(Bucket="listed", Delimiter="/")
    assert [each["Prefix"] for each in rolled["CommonPrefixes"]] == ["a/", "ns/", "日本/"]
    assert [bucket["Name"] for bucket in s3.list_buckets()["Buckets"]] == ["listed"]
    assert s3.head_object(Bucket="listed", Key="a/1")["ContentLength"] == 3
    s3.delete_object(Bucket="listed", Key="a/1")
    with pytest.raises(s3.exceptions.NoSuchKey):
        s3.get_object(Bucket="listed", Key="a/1")


def test_presigned_urls_and_forms(client, server):
    s3, where = client.s3(), {"Bucket": "b", "Key": "presigned ü.m4a"}
    put = s3.generate_presigned_url("put_object", where)
    assert put.startswith(f"{client.base_url}/b/")
    answer = requests.put(put, data=b"presigned", timeout=PATIENCE)
    assert answer.status_code == 200, answer.text
    get = s3.generate_presigned_url("get_object", where)
    assert requests.get(get, timeout=PATIENCE).content == b"presigned"
    assert requests.put(get, data=b"x", timeout=PATIENCE).status_code == 403
    form = s3.generate_presigned_post("b", "form")
    answer = requests.post(form["url"], form["fields"], files={"file": b"form"}, timeout=PATIENCE)
    assert answer.status_code == 204, answer.text
    assert s3.get_object(Bucket="b", Key="form")["Body"].read() == b"form"
    if "/ns/" in client.base_url:
        # What is signed with the prefix holds only with it, and the other way round.
        moved = get.replace(client.base_url, server.base_url)
        other = client.s3(base_url=server.base_url).generate_presigned_url("get_object", where)
        for url in (moved, other.replace(server.base_url, client.base_url)):
            answer = requests.get(url, timeout=PATIENCE)
            assert answer.status_code == 403 and "<Code>SignatureDoesNotMatch</Code>" in answer.text
        assert requests.get(other, timeout=PATIENCE).content == b"presigned"


def test_a_wrong_secret_is_refused(client):
    keys = client.keys()
    with pytest.raises(botocore.exceptions.ClientError, match="SignatureDoesNotMatch"):
        client.s3({**keys, "SecretKey": "wrong"}).put_object(Bucket="b", Key="k", Body=b"x")
    assert client.s3(keys).list_objects_v2(Bucket="b")["KeyCount"] == 0


@pytest.mark.parametrize("host", ["b.s3.ap-south-1.amazonaws.com", "b.s3.amazonaws.com"])
def test_on_a_buckets_own_host_the_session_token_selects_the_namespace(client, server, host):
    """What mobile SDKs send: the bucket is in the host, and neither a prefix nor a header is sent."""
    keys = client.keys()
    credentials = botocore.credentials.Credentials(keys["AccessKeyId"], keys["SecretKey"], keys["SessionToken"])
    for sign in (botocore.auth.S3SigV4Auth, botocore.auth.S3SigV4QueryAuth):
        request = botocore.awsrequest.AWSRequest("PUT", f"https://{host}/260510/v/1.m4a")
        request.context["signing"] = {"bucket": "b"}
        request.context["client_config"] = botocore.config.Config(s3={"payload_signing_enabled": False})
        sign(credentials, "s3", "ap-south-1").add_auth(request)
        local = request.url.replace(f"https://{host}", server.base_url)
        answer = requests.put(local, data=b"virtual", headers={**request.headers, "Host": host}, timeout=PATIENCE)
        assert answer.status_code == 200, answer.text
    assert client.s3().get_object(Bucket="b", Key="260510/v/1.m4a")["Body"].read() == b"virtual"
