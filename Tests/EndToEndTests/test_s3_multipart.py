"""S3 multipart uploads."""

import concurrent.futures
import hashlib
import random

import boto3
import boto3.s3.transfer
import botocore.exceptions
import pytest
from client import BUCKET

MB = 1 << 20


@pytest.fixture(scope="module")
def client(server):
    return server.client()


@pytest.fixture(scope="module")
def s3(client):
    return client.s3()


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
    s3.upload_file(
        str(path), BUCKET, key, Config=config, ExtraArgs={"ContentType": "audio/wav", "Metadata": {"a": "b"}})
    got = s3.get_object(Bucket=BUCKET, Key=key)
    parts = -(-len(body) // (part_mb * MB))
    digests = [hashlib.md5(body[i : i + part_mb * MB]).digest() for i in range(0, len(body), part_mb * MB)]
    assert got["ETag"] == f'"{hashlib.md5(b"".join(digests)).hexdigest()}-{parts}"'
    assert (got["ContentType"], got["Metadata"]) == ("audio/wav", {"a": "b"})
    assert got["Body"].read() == body
    target = tmp_path / "copy"
    s3.download_file(BUCKET, key, str(target), Config=config)
    assert target.read_bytes() == body


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


def test_another_tenant_cannot_touch_an_upload(s3, server):
    where = {"Bucket": BUCKET, "Key": "260510/s3/private"}
    upload = {**where, "UploadId": s3.create_multipart_upload(**where)["UploadId"]}
    other = server.client("dev-client-2", "dev-secret-2").s3()
    for call in (
        other.list_parts, other.abort_multipart_upload, lambda **k: other.upload_part(**k, PartNumber=1, Body=b"")
    ):
        with pytest.raises(botocore.exceptions.ClientError, match="NoSuchUpload"):
            call(**upload)
    s3.abort_multipart_upload(**upload)


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
