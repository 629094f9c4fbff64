"""A scribe client as the iOS SDK is one: login, init, S3 uploads with boto3, stop, commit, poll."""

import base64
import datetime
import uuid

import boto3
import botocore.config
import requests

BUCKET = "m-prod-voice-record"


class ScribeClient:
    def __init__(self, base_url: str, client_id="dev-client", client_secret="dev-secret", flavour="ScribeIOS"):
        self.base_url = base_url
        self.session = requests.Session()
        self.session.headers.update({"flavour": flavour, "client-id": client_id})
        answer = self.session.post(
            f"{base_url}/connect-auth/v1/account/login", json={"client_id": client_id, "client_secret": client_secret}
        )
        answer.raise_for_status()
        self.tokens = answer.json()
        self.session.headers["Authorization"] = f"Bearer {self.tokens['access_token']}"

    def s3(self, **options):
        """boto3 with the tenant's temporary credentials."""
        answer = self.session.get(f"{self.base_url}/credentials")
        answer.raise_for_status()
        keys = answer.json()["credentials"]
        return boto3.client(
            "s3", endpoint_url=self.base_url, region_name="ap-south-1", aws_access_key_id=keys["AccessKeyId"],
            aws_secret_access_key=keys["SecretKey"], aws_session_token=keys["SessionToken"],
            config=botocore.config.Config(**{"retries": {"max_attempts": 1}, **options}),
        )

    def transaction(self, identifier: str | None = None) -> "Transaction":
        return Transaction(self, identifier or f"i-{uuid.uuid4()}")


class Transaction:
    def __init__(self, client: ScribeClient, identifier: str):
        self.client = client
        self.id = identifier
        self.folder = f"{datetime.date.today():%y%m%d}/{identifier}"
        self.uploaded: list[str] = []
        self.times: list[dict] = []

    def call(self, verb: str, body) -> requests.Response:
        return self.client.session.post(f"{self.client.base_url}/voice/api/v2/transaction/{verb}/{self.id}", json=body)

    def init(self, templates=("clinical_notes_template",), **more) -> requests.Response:
        return self.call(
            "init",
            {
                "mode": "consultation", "transfer": "vaded", "s3_url": f"s3://{BUCKET}/{self.folder}",
                "input_language": ["en-IN"], "model_type": "pro", "Section": "", "speciality": "",
                "output_format_template": [
                    {"template_id": name, "template_name": name, "template_type": "custom"} for name in templates
                ],
                **more,
            },
        )

    def upload(self, s3, path, start=None, end=None, name=None):
        name = name or path.name
        with open(path, "rb") as body:
            s3.put_object(
                Bucket=BUCKET, Key=f"{self.folder}/{name}", Body=body, ContentType="audio/mp4",
                Metadata={"bid": "b-demo", "txnid": self.id},
            )
        self.uploaded.append(name)
        if start is not None:
            self.times.append({name: {"st": start, "et": end}})

    def stop(self) -> requests.Response:
        return self.call("stop", {"audio_files": self.uploaded, "chunk_info": self.times})

    def commit(self, files=None) -> requests.Response:
        return self.call("commit", {"audio_files": self.uploaded if files is None else files, "chunk_info": []})

    def poll(self, **query) -> requests.Response:
        return self.client.session.get(f"{self.client.base_url}/voice/api/v3/status/{self.id}", params=query)


def text(item: dict) -> str:
    """The content of a result document."""
    return base64.b64decode(item["value"], validate=True).decode()
