"""Rules of FHIR R4 (4.0.1) that `fhir.resources` does not check, for the documents that this server writes.

`fhir.resources` has R4B (4.3.0) and no R4. R4B changed the resources for definitions of medicines, for evidence and for
subscriptions, and nothing in the resources below (https://hl7.org/fhir/R4B/r4b-explanation.html). The package checks
elements, their types and cardinalities, and choices of one type. It checks no invariants, no required codes, no
references and no narrative. The tables below are those of R4, and have the elements that this server writes.
"""

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from typing import Any

ELEMENTS = {
    "Bundle": "id identifier type timestamp entry",
    "Composition": "id text status type subject encounter date author title section",
    "Patient": "id text name gender",
    "Encounter": "id text identifier status class subject period reasonCode",
    "Device": "id text deviceName",
    "Condition": "id text category code subject encounter recordedDate",
    "AllergyIntolerance": "id text clinicalStatus code patient encounter recordedDate",
    "Observation": "id text status category code subject encounter effectiveDateTime valueQuantity valueString"
    " valueBoolean component note",
    "MedicationStatement": "id text status medicationCodeableConcept subject context dateAsserted note dosage",
    "Immunization": "id text status vaccineCode patient occurrenceString",
    "Procedure": "id text status code subject",
    "ServiceRequest": "id text status intent code subject encounter authoredOn",
    "CarePlan": "id text status intent description subject encounter created",
}
#: Codes of required bindings.
CODES = {
    ("Bundle", "type"): {"document"},
    ("Composition", "status"): {"preliminary", "final", "amended", "entered-in-error"},
    ("Device", "deviceName.type"): {
        "udi-label-name", "user-friendly-name", "patient-reported-name", "manufacturer-name", "model-name", "other",
    },
    ("Patient", "gender"): {"male", "female", "other", "unknown"},
    ("Encounter", "status"): {
        "planned", "arrived", "triaged", "in-progress", "onleave", "finished", "cancelled", "entered-in-error",
        "unknown",
    },
    ("Observation", "status"): {
        "registered", "preliminary", "final", "amended", "corrected", "cancelled", "entered-in-error", "unknown",
    },
    ("MedicationStatement", "status"): {
        "active", "completed", "entered-in-error", "intended", "stopped", "on-hold", "unknown", "not-taken",
    },
    ("Immunization", "status"): {"completed", "entered-in-error", "not-done"},
    ("Procedure", "status"): {
        "preparation", "in-progress", "not-done", "on-hold", "stopped", "completed", "entered-in-error", "unknown",
    },
    ("ServiceRequest", "status"): {
        "draft", "active", "on-hold", "revoked", "completed", "entered-in-error", "unknown",
    },
    ("ServiceRequest", "intent"): {
        "proposal", "plan", "directive", "order", "original-order", "reflex-order", "filler-order", "instance-order",
        "option",
    },
    ("CarePlan", "status"): {
        "draft", "active", "on-hold", "revoked", "completed", "entered-in-error", "unknown",
    },
    ("CarePlan", "intent"): {"proposal", "plan", "order", "option"},
}
#: The coded concepts that R4 requires a code for. Everything else is text.
ALLOWED_SYSTEMS = {"http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical"}
UCUM = {"mm[Hg]", "Cel", "[degF]", "/min", "%", "kg", "[lb_av]", "cm", "kg/m2", "mg", "ug", "g", "mL", "[iU]"}
#: What R4 requires, what its invariants do (ait-1), and what every document here has.
REQUIRED = {
    "Composition": "status type date author title subject encounter section",
    "Encounter": "status class subject",
    "Device": "deviceName",
    "Condition": "subject code",
    "AllergyIntolerance": "patient code clinicalStatus",
    "Observation": "status code subject",
    "MedicationStatement": "status subject medicationCodeableConcept",
    "Immunization": "status vaccineCode patient occurrenceString",
    "Procedure": "status subject code",
    "ServiceRequest": "status intent subject code",
    "CarePlan": "status intent subject description",
}
#: Types that a reference may name.
TARGETS = {
    "subject": {"Patient"}, "patient": {"Patient"}, "encounter": {"Encounter"}, "context": {"Encounter"},
    "author": {"Device"},
}
ABSENT = "http://hl7.org/fhir/StructureDefinition/data-absent-reason"
XHTML = "{http://www.w3.org/1999/xhtml}"
INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
TIMES = ("date", "timestamp", "effectiveDateTime", "recordedDate", "authoredOn", "dateAsserted", "created", "start")
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def parts(value: Any) -> Iterator[dict]:
    """Every object in a value."""
    if isinstance(value, dict):
        yield value
        for one in value.values():
            yield from parts(one)
    elif isinstance(value, list):
        for one in value:
            yield from parts(one)


def problems(bundle: dict) -> list[str]:
    """What is wrong with a document; empty for a right one."""
    found = [*document(bundle), *references(bundle), *values(bundle)]
    for resource in [bundle] + [entry["resource"] for entry in bundle["entry"]]:
        found += elements(resource)
    return found


def document(bundle: dict) -> Iterator[str]:
    """Invariants of a Bundle of type document: bdl-7, bdl-9, bdl-10, bdl-11."""
    entries = bundle["entry"]
    urls = [entry["fullUrl"] for entry in entries]
    if len(set(urls)) != len(urls):
        yield "two entries have one fullUrl"
    kinds = [entry["resource"]["resourceType"] for entry in entries]
    if kinds[0] != "Composition" or kinds.count("Composition") > 1:
        yield "the first entry is no Composition, or there are two"
    identifier = bundle.get("identifier", {})
    if not (identifier.get("system") and identifier.get("value")):
        yield "a document needs an identifier with a system and a value"
    if not bundle.get("timestamp"):
        yield "a document needs a timestamp"
    for entry in entries:
        if entry["fullUrl"] != f"urn:uuid:{entry['resource']['id']}" or not UUID.fullmatch(entry["resource"]["id"]):
            yield "a fullUrl is not the UUID that its resource has as id"


def references(bundle: dict) -> Iterator[str]:
    kinds = {entry["fullUrl"]: entry["resource"]["resourceType"] for entry in bundle["entry"]}
    named = {one["reference"] for one in parts(bundle) if "reference" in one}
    yield from (f"{reference} is not in the bundle" for reference in named - kinds.keys())
    first = bundle["entry"][0]["fullUrl"]
    yield from (f"{url} is named by nothing" for url in kinds.keys() - named - {first})
    for part in parts(bundle):
        for name, allowed in TARGETS.items():
            targets = part.get(name, [])
            for target in targets if isinstance(targets, list) else [targets]:
                if kinds.get(target["reference"]) not in allowed:
                    yield f"{name} refers to a {kinds.get(target['reference'])}"


def elements(resource: dict) -> Iterator[str]:
    """Elements, codes of required bindings, and invariants of one resource."""
    kind = resource["resourceType"]
    for name in resource.keys() - set(ELEMENTS[kind].split()) - {"resourceType"}:
        yield f"{kind}.{name} is not in R4, or not written"
    yield from (f"{kind} has no {name}" for name in REQUIRED.get(kind, "").split() if name not in resource)
    for (type_name, path), codes in CODES.items():
        if type_name == kind:
            values = [resource]
            for name in path.split("."):
                values = [one[name] for one in values if name in one]
                values = [one for value in values for one in (value if isinstance(value, list) else [value])]
            yield from (f"{kind}.{path} is {value}" for value in values if value not in codes)
    if kind != "Bundle":
        yield from narrative(kind, resource.get("text", {}))
    if kind == "Composition":
        for section in resource.get("section", []):
            if not (section.get("text") or section.get("entry") or section.get("section")):
                yield "a section has neither text nor entries (cmp-1)"
            if "text" in section:
                yield from narrative("a section", section["text"])
    if kind == "Observation":
        values = [name for name in resource if name.startswith("value")] + ["component"] * ("component" in resource)
        if len(values) != 1:
            yield f"an Observation has {values}"
        if any(part["code"] == resource["code"] for part in resource.get("component", [])):
            yield "a component has the code of its Observation (obs-7)"
    if kind == "Encounter":
        coding = resource.get("class", {})
        if "code" not in coding and not any(one["url"] == ABSENT for one in coding.get("extension", [])):
            yield "Encounter.class has neither a code nor a reason why not"


def narrative(of: str, text: dict) -> Iterator[str]:
    """A text that people see: dom-6, txt-1, txt-2."""
    if text.get("status") not in {"generated", "extensions", "additional", "empty"}:
        yield f"the narrative of {of} has the status {text.get('status')}"
    try:
        root = ElementTree.fromstring(text.get("div", ""))
    except ElementTree.ParseError as error:
        yield f"the narrative of {of} is no XML: {error}"
        return
    tags = {element.tag for element in root.iter()}
    if root.tag != f"{XHTML}div" or not tags <= {XHTML + name for name in ("div", "p", "ul", "li")}:
        yield f"the narrative of {of} has {sorted(tags)}"
    if any(element.attrib for element in root.iter()) or not "".join(root.itertext()).strip():
        yield f"the narrative of {of} has attributes or no text"


def values(bundle: dict) -> Iterator[str]:
    """Units, codes, texts and times."""
    for part in parts(bundle):
        if "value" in part and "system" not in part and "code" in part:
            yield f"{part} has a code without a system (qty-3)"
        if "system" in part and "code" in part and "value" in part:
            if part["system"] != "http://unitsofmeasure.org" or part["code"] not in UCUM:
                yield f"{part} is no quantity in UCUM"
        elif "coding" in part:
            yield from (f"{code} was not said" for code in part["coding"] if code.get("system") not in ALLOWED_SYSTEMS)
        for name, value in part.items():
            if value in ("", [], {}, None):
                yield f"{name} is empty"
            if isinstance(value, str) and re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", value):
                yield f"{name} has a control character"
            if name in TIMES and not INSTANT.fullmatch(value):
                yield f"{name} is {value}"
