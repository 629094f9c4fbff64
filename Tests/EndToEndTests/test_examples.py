"""Sends the examples of openapi/scribe.yaml to fresh servers, which must answer as the document prints it.

Each story is one fresh server and the operations that a client calls there, in order. A request is made of the
document's examples alone; ids and links that the server chooses come from earlier answers, by the document's links.
"""

import hashlib
import json
import re
import urllib.parse

import botocore.auth
import botocore.awsrequest
import botocore.credentials
import pytest
import requests
from emulator import PATIENCE, SHORT, wait_until
from every_field.operations import DOCUMENT, TICKETS, resolve
from every_field.values import WAVE
from schemas import validator

METHODS = ("get", "post", "put", "patch", "delete")
CLINICIAN = ("login", "registerClinician", "loginClinician")
RECORDED = (
    "login", "readCredentials", "initTransaction", "putChunk", "stopTransaction", "commitTransaction", "readStatus")
STORIES = {
    "logins": (
        "login", "loginFromPage", "refreshToken", "refresh", "refreshDesktop", "beginDeviceLogin", "approveDevice",
        "finishDeviceLogin", "explainActivation", "readAuthMode", "whoAmI", "logout"),
    "a recording": (
        *RECORDED, "listHistory", "readTransaction", "readChunkTranscript", "editResults", "convertToFirstTemplate",
        "convertToTemplate", "readVersion1Status", "readBundle", "submitFeedback", "listFeedback", "readSession",
        "addContext", "removeContext", "listSuggestedMedications", "saveDocument", "listDocuments", "readDocument",
        "publishDocument", "readContent", "writeContent", "deleteDocument", "deleteTransaction"),
    "whole files": ("login", "readS3Token", "createUploadForm", "postForm", "uploadRecording"),
    "cancelled": ("login", "initTransaction", "patchTransaction"),
    "templates": (
        "login", "listTemplates", "createTemplate", "putTemplate", "updateTemplate", "deleteTemplate", "listSections",
        "createSection", "updateSection", "deleteSection", "draftTemplate", "draftTemplateAsBefore", "changeConfig",
        "readConfig"),
    "live": ("login", "grantToken", "readListenKey", "recogniseRecording"),
    "devices": (
        "login", "transcribeText", "listConversations", "processConversation", "readConversation",
        "listConversationTranscripts", "listConversationPhotos", "readConversationRecording", "titleConversation",
        "assignSegments", "assignSegment", "reprocessConversation", "deleteConversation", "createMemory",
        "listMemories", "changeMemory", "setMemoryVisibility", "deleteMemory"),
    "status": (
        "ping", "checkLiveness", "checkReadiness", "readMetrics", "readAmbientAsyncapi", "readOmiAsyncapi",
        "readListenAsyncapi", "readOpenapi", "readEkaOpenapi", "readSessionsOpenapi",
        "readSukiOpenapi", "readListenOpenapi", "readOmiOpenapi", "readStatusOpenapi"),
    "subscriptions": (
        "login", "subscribe", "listSubscriptions", "unsubscribe", "registerWebhook", "listWebhooks", "removeWebhook"),
    "a session": (
        "login", "readDiscovery", "listSessionTemplates", "createSession", "uploadSessionAudio", "uploadSessionFile",
        "endSession", "readSessionStatus", "processFirstTemplate", "processTemplate", "startRun", "resumeRun",
        "readCombinedAudio", "playAudio"),
    "a session that is changed": ("login", "createSession", "patchSession"),
    "a visit": (
        *CLINICIAN, "listClinicianKeys", "createAmbientSession", "setAmbientContext", "changeAmbientContext",
        "uploadAmbientAudio", "endAmbientSession", "readAmbientStatus", "readAmbientContent", "readAmbientTranscript",
        "readAmbientStructuredData", "listAmbientRecordings", "playAmbientRecording", "readEncounterContent",
        "readEncounterStructuredData", "giveAmbientFeedback"),
    "a visit that is cancelled": (*CLINICIAN, "createAmbientSession", "cancelAmbientSession"),
    "choices": (
        *CLINICIAN, "changeAmbientPreferences", "listEncounterTypes", "listVisitTypes", "listProviderRoles",
        "listSpecialties", "listLoincs"),
}
#: Polls, with the answer to wait for.
AWAITED = {
    "readStatus": lambda answer: answer.status_code != 202,
    "readSessionStatus": lambda answer: answer.status_code != 202,
    "readAmbientStatus": lambda answer: answer.json()["status"] == "completed",
    "readVersion1Status": lambda answer: answer.json()["status"] not in ("queued", "inprogress"),
}
#: Parts of texts that differ from server to server: times, ids, tokens, digests, ports.
VARYING = re.compile(
    r"\d{4}-\d\d-\d\dT[\d:.]+Z|\d{8}T\d{6}Z|\d{8}_\d{6}|\b\d{8}(?=/ap-south)|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b[0-9A-HJKMNP-TV-Z]{26}\b"
    r"|127\.0\.0\.1:\d+|[\w+/=.-]*…|\b[0-9a-f]{64}\b|ASIA[A-Z0-9]{16}|\b[BCDFGHJ-NP-TV-Z2-9]{4}-[BCDFGHJ-NP-TV-Z2-9]{4}\b"
    r"|(?<![\w-])[\w-]{40,}(\.[\w-]{40,})*")


def operations() -> dict:
    """By their ids: path, method, path item and operation."""
    items = ((path, resolve(item)) for path, item in DOCUMENT["paths"].items())
    return {
        item[method]["operationId"]: (path, method, item, item[method])
        for path, item in items for method in item if method in METHODS and not item[method].get("x-socket")
    }


OPERATIONS = operations()


def example(node: dict):
    """The first example of a parameter or body, or None."""
    named = [resolve(each)["value"] for each in node.get("examples", {}).values()]
    return node.get("example", named[0] if named else None)


def alike(printed, answered, name="") -> bool:
    """Whether two values differ only in what is another on each server."""
    if isinstance(printed, dict) and isinstance(answered, dict):
        return printed.keys() == answered.keys() and all(alike(printed[key], answered[key], key) for key in printed)
    if isinstance(printed, list) and isinstance(answered, list):
        return len(printed) == len(answered) and all(map(alike, printed, answered))
    if isinstance(printed, str) and isinstance(answered, str):
        return printed.endswith("…") or VARYING.sub("…", printed) == VARYING.sub("…", answered)
    if name == "pid":
        return type(answered) is int
    are_seconds = type(printed) is type(answered) is int and min(printed, answered) > 1_700_000_000
    return are_seconds or printed == answered


class Story:
    """A client of a fresh server, which knows what the answers so far have told it."""

    def __init__(self, server):
        self.base_url = server.base_url
        self.http = requests.Session()
        self.http.trust_env = False
        self.answers: dict[str, requests.Response] = {}
        #: Parameters and bodies by operation, from links of the answers.
        self.parameters, self.bodies = {}, {}

    def tell(self, name: str) -> requests.Response:
        request = self.request(name)
        answer = self.http.send(self.http.prepare_request(request), timeout=PATIENCE)

        def is_whole() -> bool:
            nonlocal answer
            if name not in AWAITED or AWAITED[name](answer):
                return True
            answer = self.http.send(self.http.prepare_request(request), timeout=PATIENCE)
            return False

        wait_until(is_whole, name)
        self.answers[name] = answer
        self.follow(name, request, answer)
        return answer

    def request(self, name: str) -> requests.Request:
        path, method, item, operation = OPERATIONS[name]
        query, headers = {}, {}
        for parameter in map(resolve, [*item.get("parameters", []), *operation.get("parameters", [])]):
            value = self.parameters.get(name, {}).get(parameter["name"], example(parameter))
            if parameter["name"] == "ticket":
                value = self.ticket(name)
            if parameter["in"] == "path":
                assert value is not None, f"{name}: no example for {parameter['name']}"
                path = path.replace("{" + parameter["name"] + "}", urllib.parse.quote(str(value), safe=""))
            elif parameter["in"] == "query" and value is not None:
                query[parameter["name"]] = value
            elif parameter.get("required"):
                headers[parameter["name"]] = value
        headers |= self.credential(operation)
        options = self.body(name, operation)
        request = requests.Request(method.upper(), self.base_url + path, headers=headers, params=query, **options)
        return self.signed(request) if operation.get("security") == [{"sigv4": []}] else request

    def credential(self, operation: dict) -> dict:
        schemes = {scheme for each in operation.get("security", DOCUMENT["security"]) for scheme in each}
        if "suki" in schemes:
            return {"sdp_suki_token": self.answers["loginClinician"].json()["suki_token"]}
        if "bearer" in schemes:
            return {"Authorization": f"Bearer {self.answers['login'].json()['access_token']}"}
        return {"Authorization": "Token org_dev_key"} if "token" in schemes else {}

    def body(self, name: str, operation: dict) -> dict:
        content = resolve(operation.get("requestBody", {})).get("content", {})
        if "application/json" in content and "application/octet-stream" not in content:
            body = example(content["application/json"])
            assert body is not None, f"{name}: no example of a body"
            told = self.bodies.get(name, {})
            return {"json": {key: told.get(key, value) for key, value in body.items()} if told else body}
        if "application/octet-stream" in content:
            return {"data": WAVE}
        if "multipart/form-data" in content:
            fields = self.answers["createUploadForm"].json()["uploadData"]["fields"] if name == "postForm" else {}
            return {"data": fields, "files": {"file": ("1.wav", WAVE)}}
        return {"data": example(content["text/markdown"]).encode()} if content else {}

    def signed(self, request: requests.Request) -> requests.Request:
        """The request with an AWS signature."""
        keys = self.answers["readCredentials"].json()["credentials"]
        credentials = botocore.credentials.Credentials(keys["AccessKeyId"], keys["SecretKey"], keys["SessionToken"])
        headers = {"x-amz-content-sha256": hashlib.sha256(request.data).hexdigest()}
        unsigned = botocore.awsrequest.AWSRequest(request.method, request.url, headers, request.data)
        botocore.auth.S3SigV4Auth(credentials, "s3", "ap-south-1").add_auth(unsigned)
        request.headers = dict(unsigned.headers)
        return request

    def ticket(self, name: str) -> str:
        member = TICKETS[name][1]
        for answer in reversed(self.answers.values()):
            found = re.search(rf'"{member}":"[^"]+/([^"/]+)"', answer.text)
            if found:
                return found[1]
        raise AssertionError(f"{name}: no answer has {member}")

    def follow(self, name: str, request: requests.Request, answer: requests.Response):
        """Keeps what the links of an answer say of further operations."""
        operation = OPERATIONS[name][3]
        response = resolve(operation["responses"].get(str(answer.status_code), {}))
        for link in response.get("links", {}).values():
            known = self.parameters.setdefault(link["operationId"], {})
            for parameter, expression in link.get("parameters", {}).items():
                if expression.startswith("$response.body#/"):
                    known.setdefault(parameter, self.member(answer, expression))
            if link.get("requestBody", "").startswith("$response.body"):
                self.bodies.setdefault(link["operationId"], self.member(answer, link["requestBody"]))

    @staticmethod
    def member(answer: requests.Response, expression: str):
        value = answer.json()
        for key in filter(None, expression.removeprefix("$response.body").removeprefix("#").split("/")):
            value = value[key]
        return value


@pytest.mark.parametrize("names", STORIES.values(), ids=STORIES)
def test_a_fresh_server_answers_the_examples_as_printed(served, names):
    server = served(*SHORT)
    # As fresh as a server that has just started.
    requests.post(f"{server.base_url}/__admin/reset", timeout=PATIENCE).raise_for_status()
    story = Story(server)
    for name in names:
        answer = story.tell(name)
        check(name, answer)


def check(name: str, answer: requests.Response):
    assert answer.status_code < 300, f"{name}: {answer.status_code} {answer.text[:500]}"
    response = resolve(OPERATIONS[name][3]["responses"].get(str(answer.status_code)) or {})
    assert response, f"{name}: {answer.status_code} is not documented"
    kind = answer.headers.get("content-type", "").split(";")[0]
    assert bool(kind) == ("content" in response) and (not kind or kind in response["content"]), f"{name}: {kind}"
    if kind == "application/json":
        media = response["content"][kind]
        validator("scribe.yaml", media["schema"]).validate(answer.json())
        printed = [each["value"] for each in media.get("examples", {}).values()] or [media.get("example")]
        assert any(alike(each, answer.json()) for each in printed), (
            f"{name} answers\n{json.dumps(answer.json())}\nand not\n{json.dumps(printed)}")


def test_every_operation_of_the_document_is_in_an_example_story():
    # readAuthority answers a server with TLS; test_tls_verbs.py reads it. Examples of models are short;
    # test_listen_rules.py reads all.
    assert OPERATIONS.keys() - {name for names in STORIES.values() for name in names} == {
        "readAuthority", "listListenModels", "readListenModel"}
