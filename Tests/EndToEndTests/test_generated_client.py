"""A client that openapi-python-client generates from the document, as docs/ci.md does, records a
consultation.
"""

import fcntl
import hashlib
import importlib
import io
import os
import pathlib
import pkgutil
import shutil
import subprocess
import sys
import tempfile
import uuid

import boto3
import pytest
from emulator import PATIENCE, ROOT, wait_until

DOCUMENT = ROOT / "openapi/scribe.yaml"
CONFIGURATION = ROOT / "openapi/openapi-python-client.yaml"
BUCKET = "m-prod-voice-record"


def generated(literal_enums: bool) -> pathlib.Path:
    """The folder of the client's package, which is generated once for each change of the document."""
    configuration = CONFIGURATION.read_text() + f"literal_enums: {str(literal_enums).lower()}\n"
    pin = next(
        line for line in (ROOT / "Tests/requirements.txt").read_text().split() if line.startswith("openapi-python-"))
    digest = hashlib.sha256(DOCUMENT.read_bytes() + configuration.encode() + pin.encode()).hexdigest()[:16]
    package = ROOT / f".build/generated-clients/scribe_{'literals' if literal_enums else 'enums'}_{digest}"
    package.parent.mkdir(parents=True, exist_ok=True)
    with open(package.parent / "lock", "w") as lock:
        # Other workers of pytest wait here.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not package.exists():
            for old in package.parent.glob(f"{package.name.rsplit('_', 1)[0]}_*"):
                shutil.rmtree(old)
            generate(package, configuration)
    return package


def generate(package: pathlib.Path, configuration: str):
    with tempfile.TemporaryDirectory(dir=package.parent) as folder:
        made, settings = pathlib.Path(folder, package.name), pathlib.Path(folder, "configuration.yaml")
        settings.write_text(configuration)
        tools = pathlib.Path(sys.executable).parent
        run = subprocess.run(
            [tools / "openapi-python-client", "generate", "--path", DOCUMENT, "--output-path", made, "--meta", "none",
             "--config", settings, "--fail-on-warning"],
            capture_output=True, text=True, timeout=PATIENCE,
            # It formats what it has made with ruff.
            env={**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"},
        )
        assert run.returncode == 0 and "warning" not in (run.stdout + run.stderr).lower(), run.stdout + run.stderr
        made.rename(package)


@pytest.fixture(scope="module", params=[False, True], ids=["enums", "literals"])
def package(request):
    folder = generated(request.param)
    sys.path.insert(0, str(folder.parent))
    try:
        yield importlib.import_module(folder.name)
    finally:
        sys.path.remove(str(folder.parent))


def test_every_module_of_the_client_can_be_imported(package):
    names = [module.name for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")]
    assert len(names) > 300
    for name in names:
        importlib.import_module(name)


def test_the_client_records_a_consultation(package, server, chunks):
    def call(tag: str, operation: str, *arguments, **options):
        """The parsed body of a success."""
        module = importlib.import_module(f"{package.__name__}.api.{tag}.{operation}")
        answer = module.sync_detailed(*arguments, **options)
        assert answer.status_code < 300, answer.content
        assert answer.parsed is not None, f"{operation}: {answer.status_code} has no parsed body"
        return answer.parsed

    models = importlib.import_module(f"{package.__name__}.models")
    anonymous = package.Client(base_url=server.base_url)
    tokens = call(
        "auth", "login", client=anonymous, body=models.LoginRequest(client_id="dev-client", client_secret="dev-secret"))
    assert isinstance(tokens, models.Tokens)
    client = package.AuthenticatedClient(base_url=server.base_url, token=tokens.access_token, timeout=30)

    transaction = f"i-{uuid.uuid4()}"
    template = models.InitTemplate(template_id="clinical_notes_template", template_name="Clinical Notes")
    transfer = getattr(models, "Transfer", None)
    started = call(
        "transactions", "init_transaction", transaction, client=client, body=models.Init(
            transfer=transfer("vaded") if isinstance(transfer, type) else "vaded",
            s3_url=f"s3://{BUCKET}/260510/{transaction}", mode="consultation", output_format_template=[template]))
    assert isinstance(started, models.InitAcknowledgement) and started.txn_id == transaction

    keys = call("uploads", "read_credentials", client=client).credentials
    s3 = boto3.client(
        "s3", endpoint_url=server.base_url, region_name="ap-south-1", aws_access_key_id=keys.access_key_id,
        aws_secret_access_key=keys.secret_key, aws_session_token=keys.session_token)
    names = []
    for path, *_ in chunks:
        s3.put_object(Bucket=BUCKET, Key=f"260510/{transaction}/{path.name}", Body=io.BytesIO(path.read_bytes()))
        names.append(path.name)

    files = models.ChunkList(audio_files=names)
    assert call("transactions", "stop_transaction", transaction, client=client, body=files).txn_id == transaction
    assert call("transactions", "commit_transaction", transaction, client=client, body=files).txn_id == transaction

    def finished():
        """None while the results are pending. The server holds each answer for some seconds."""
        answer = call("results", "read_status", transaction, client=client)
        return None if isinstance(answer, models.Pending) else answer

    result = wait_until(finished, "the results are there")
    assert isinstance(result, models.TransactionResult)
    (note,) = result.data.template_results.custom
    assert note.template_id == "clinical_notes_template" and note.value
    assert result.data.template_results.transcript[0].value

    history = call("history", "list_history", client=client, count=1)
    assert isinstance(history, models.History) and history.data[0].txn_id == transaction
    templates = call("templates", "list_templates", client=client)
    assert isinstance(templates, models.TemplateList)
    assert "soap" in [template.id for template in templates.data.templates]
