"""Notes as FHIR R4 documents: by `fhir.resources` (R4B), and by the rules of R4 that it does not check."""

import base64
import copy
import json
import re
import subprocess

import pydantic
import pytest
import requests
import yaml
from emulator import BINARY, PATIENCE, ROOT
from fhir.resources.R4B.bundle import Bundle
from fhir_rules import problems
from test_consultation import take

VISIT = """\
Doctor: What brings you in?
Patient: I have had a dry cough for three days. No fever. I am allergic to penicillin. I have diabetes.
Patient: I had my appendix out in 2010. My father had a stroke. I smoke ten a day. I had my flu shot in October.
Doctor: Blood pressure is 152 over 94, temperature 38.2, pulse 88, sats 97 percent, weight is 80 kilos. Chest is clear.
Doctor: This looks like bronchitis. Take ibuprofen 400 mg twice a day for five days. Stop the ramipril.
Doctor: I will order a chest x-ray and refer you to cardiology. Drink plenty of water. Come back in two weeks.
"""


def document(transcript: str, *flags: str) -> dict:
    command = [BINARY, "note", "--format", "fhir", *flags]
    return json.loads(subprocess.run(command, input=transcript.encode(), capture_output=True, check=True).stdout)


@pytest.fixture(scope="module")
def visit() -> dict:
    return document(VISIT)


@pytest.fixture(scope="module")
def written(server):
    """Writes a document as the console's page of templates does, without a process for each."""
    page = f"{server.base_url}/__console"
    headers = {"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    with requests.Session() as session:
        opened = session.get(page, headers=headers, timeout=PATIENCE)
        token = re.search(r'name="scribe-console" content="([^"]+)"', opened.text)[1]
        own = {"Sec-Fetch-Site": "same-origin", "Origin": server.base_url, "X-Scribe-Console": token}

        def write(transcript: str) -> dict:
            wish = {"template": "fhir_template_v2", "transcript": transcript}
            answer = session.post(f"{page}/note", json=wish, headers=own, timeout=PATIENCE)
            answer.raise_for_status()
            return json.loads(answer.json()["note"])

        yield write


def transcripts(name: str, key: str = "transcript") -> list[str]:
    return [entry[key] for entry in yaml.safe_load((ROOT / f"Tests/Notes/{name}.yaml").read_text())]


def resources(bundle: dict, kind: str) -> list[dict]:
    return [entry["resource"] for entry in bundle["entry"] if entry["resource"]["resourceType"] == kind]


def test_every_note_is_a_document_of_r4(written):
    said = [text for name in ("check", "practice", "unseen") for text in transcripts(name)]
    for transcript in [*said, "", "Good morning.", "<b>\x01 & \u0000 I have a cough]]>", "\ufffe\x7f नमस्ते"]:
        bundle = written(transcript)
        Bundle.model_validate(bundle)
        assert problems(bundle) == [], transcript


def test_every_dictation_is_a_document_of_r4():
    for text in transcripts("dictation", "text")[:6]:
        bundle = document(text, "--mode", "dictation")
        Bundle.model_validate(bundle)
        assert problems(bundle) == [], text


def test_a_consultation_has_the_resources_that_it_spoke_of(visit):
    bundle = visit
    kinds = {entry["resource"]["resourceType"] for entry in bundle["entry"]}
    assert kinds >= {
        "Composition", "Patient", "Encounter", "Device", "Condition", "AllergyIntolerance", "MedicationStatement",
        "Observation", "ServiceRequest", "Immunization", "Procedure", "CarePlan",
    }
    vitals = {vital["code"]["text"]: vital for vital in resources(bundle, "Observation")}
    assert [part["valueQuantity"]["value"] for part in vitals["blood pressure"]["component"]] == [152, 94]
    assert vitals["temperature"]["valueQuantity"]["code"] == "Cel" and vitals["fever"]["valueBoolean"] is False
    drugs = {drug["medicationCodeableConcept"]["text"]: drug for drug in resources(bundle, "MedicationStatement")}
    assert drugs["ramipril"]["status"] == "stopped"
    assert drugs["ibuprofen"]["dosage"][0]["doseAndRate"][0]["doseQuantity"]["value"] == 400
    denied = {observation["code"]["text"] for observation in resources(bundle, "Observation")
              if observation.get("valueBoolean") is False}
    assert denied.isdisjoint(condition["code"]["text"] for condition in resources(bundle, "Condition"))


def change(kind: str, **members):
    return lambda bundle: resources(bundle, kind)[0].update(members)


def vital(bundle: dict) -> dict:
    return next(one for one in resources(bundle, "Observation") if "valueQuantity" in one)


@pytest.mark.parametrize(("wrong", "problem"), [
    (lambda bundle: bundle["entry"].pop(1), "is not in the bundle"),
    (lambda bundle: bundle["entry"].append(
        {"fullUrl": f"urn:uuid:{bundle['id']}", "resource": {"resourceType": "Patient", "id": bundle["id"]}}),
     "is named by nothing"),
    (lambda bundle: bundle["entry"].reverse(), "no Composition"),
    (lambda bundle: bundle.pop("identifier"), "identifier"),
    (lambda bundle: bundle.pop("timestamp"), "timestamp"),
    (lambda bundle: bundle.update(timestamp="2026-05-10"), "timestamp is 2026-05-10"),
    (change("Encounter", status="done"), "Encounter.status"),
    (change("Encounter", **{"class": {"display": "ambulatory"}}), "Encounter.class"),
    (change("Encounter", subject={"reference": "Patient/1"}), "is not in the bundle"),
    (lambda bundle: resources(bundle, "Encounter")[0].update(subject=bundle["entry"][0]["resource"]["author"][0]),
     "subject refers to a Device"),
    (change("Device", definition={}), "not in R4"),
    (change("Device", deviceName=[{"name": "x", "type": "nickname"}]), "Device.deviceName.type"),
    (change("Condition", code={"coding": [{"system": "s", "code": "c"}]}), "not said"),
    (change("Condition", code={"text": "a\x01"}), "control character"),
    (change("Condition", category=[]), "category is empty"),
    (change("Condition", text={"status": "generated", "div": "<div>x</div>"}), "narrative of Condition"),
    (change("Condition", text={"status": "generated", "div": "a & b"}), "no XML"),
    (lambda bundle: resources(bundle, "AllergyIntolerance")[0].pop("clinicalStatus"), "clinicalStatus"),
    (lambda bundle: bundle["entry"][0]["resource"]["section"][0].clear(), "cmp-1"),
    (lambda bundle: vital(bundle)["valueQuantity"].update(code="mmHg"), "UCUM"),
    (lambda bundle: vital(bundle)["valueQuantity"].pop("system"), "qty-3"),
    (lambda bundle: vital(bundle).update(valueString="88"), "an Observation has"),
])
def test_the_rules_find_what_is_wrong(visit, wrong, problem):
    bundle = copy.deepcopy(visit)
    wrong(bundle)
    assert any(problem in found for found in problems(bundle)), problems(bundle)


@pytest.mark.parametrize("wrong", [
    lambda bundle: bundle["entry"][0]["resource"].pop("title"),
    change("Condition", severity="mild"),
    change("Immunization", vaccine="flu"),
    lambda bundle: vital(bundle).update(valueString="88"),
])
def test_the_package_finds_what_is_wrong_with_a_resource(visit, wrong):
    bundle = copy.deepcopy(visit)
    wrong(bundle)
    with pytest.raises(pydantic.ValidationError):
        Bundle.model_validate(bundle)


def test_a_template_gives_the_document_that_version_1_gives_too(server, chunks):
    client = server.client()
    transaction = client.transaction()
    details = {"username": "Asha Rao", "biologicalSex": "F", "oid": "1", "visit_id": "v"}
    answer = take(transaction, client.s3(), chunks, ["fhir_template_v2"], patient_details=details)
    (item,) = answer.json()["data"]["output"]
    assert item["type"] == "fhir" and item["status"] == "success"
    bundle = json.loads(base64.b64decode(item["value"]))
    Bundle.model_validate(bundle)
    assert problems(bundle) == []
    (patient,) = resources(bundle, "Patient")
    assert patient["name"] == [{"text": "Asha Rao"}] and patient["gender"] == "female"
    (encounter,) = resources(bundle, "Encounter")
    assert encounter["identifier"] == [{"value": transaction.id}]
    first = client.session.get(f"{server.base_url}/voice-record/api/status/{transaction.id}").json()
    other = json.loads(base64.b64decode(first["data"]["output"]["fhir"]))
    assert problems(other) == []
    assert [one["resource"]["resourceType"] for one in other["entry"]] == [
        one["resource"]["resourceType"] for one in bundle["entry"]]
    assert other["timestamp"] == bundle["timestamp"]
