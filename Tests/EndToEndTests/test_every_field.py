"""Whatever is put into any field, path or query of any operation: a documented answer, and nobody else's data.

All of it is derived from openapi/scribe.yaml, whose schemas say which bodies are right and which are wrong.
"""

import base64
import concurrent.futures
import copy
import functools
import json
import random
import re
import struct
import urllib.parse
import uuid
import wave

import jsonschema
import pytest
import requests
import yaml
from conftest import PATIENCE, ROOT, TLS, revealed, running, without_links

DOCUMENT = yaml.safe_load((ROOT / "openapi/scribe.yaml").read_text())
#: In every value that is sent wrongly. It must be in no refusal and not in the log.
CANARY = "canary-4f1d"
#: In everything that the second tenant keeps. It must be in no answer to the first.
SECRET = "second-tenant-7c21"
BIG = 734621907346219073462190
PROFILES = [{"flavour": name} for name in ("ScribeIOS", "android", "io", "web")] + [
    {}, {"User-Agent": "EkaCare-DotNet-SDK/1.0"},
]
#: What ids mean, by the names of fields and parameters.
KINDS = {
    "txn_id": "transaction", "txnid": "transaction", "session_id": "transaction", "identifier": "transaction",
    "past_sessions": "transaction", "template_id": "template", "template-id": "template", "my_templates": "template",
    "section_id": "section", "section_ids": "section", "document_id": "document", "document-id": "document",
    "documents": "document", "chunk": "chunk", "conversation_id": "conversation", "memory_id": "memory",
    "subscription_id": "subscription", "webhook_id": "webhook", "thread_id": "transaction", "threadId": "transaction",
    "encounter_id": "encounter",
}
AMBIENT = "/api/v1/ambient/session"
#: Operations whose path is a credential, with where it comes from and the member that holds it.
TICKETS = {
    "readContent": ("/voice/api/v1/documents/{document}", "presigned_url"),
    "writeContent": ("/voice/api/v1/documents/{document}", "edit_url"),
    "playAudio": ("/voice/v1/sessions/{transaction}/audio", "audio_url"),
    "playAmbientRecording": (AMBIENT + "/{ambient}/recording", "presigned_url"),
}
ODD_SEGMENTS = {
    "300 characters": "x" * 300, "NUL": "a%00b", "line break": "a%0D%0Ab", "slash": "a%2Fb", "dots": "..",
    "escaped dots": "%2e%2e", "traversal": "..%2F..%2Fsigning-key", "not UTF-8": "%ff%fe", "half an escape": "a%",
    "quote": "'%20OR%201=1--", "empty": "",
}
ODD_QUERIES = {
    "empty": "", "a word": CANARY, "negative": "-1", "zero": "0", "a fraction": "1.5", "beyond int64": str(BIG),
    "huge": "x" * 20_000, "NUL": "a%00" + CANARY, "not UTF-8": "%ff%fe", "half an escape": "%",
    "nested": "%7B%22a%22%3A%5B%5D%7D", "escaped twice": "a%2541b",
}
ODD_TEXTS = {"NUL": f"{CANARY}\0b", "control characters": f"{CANARY}\x01\x1b\x7f", "lone surrogate": f"{CANARY}\ud800"}
OTHER_TYPES = {
    "a string": CANARY, "an integer": 7, "a fraction": 1.5, "a boolean": True, "an array": [CANARY],
    "an object": {"key": CANARY},
}
#: Numbers where something ends: of Int64, of UInt64, of what a Double counts exactly, and of Double.
EDGES = [
    "-9223372036854775808", "-9223372036854775809", "9223372036854775807", "9223372036854775808", "1e300",
    "18446744073709551615", "18446744073709551616", "9007199254740993", "-9007199254740993", "-1e300",
    "1.7976931348623157e308", "5e-324", "-0.0", "0.1",
]
MISSING = object()
#: A second of it, 8 kHz mono: a tone, for silence has nothing to say.
RECORDING = (
    b"RIFF" + struct.pack("<I", 16_036) + b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, 8000, 16_000, 2, 16)
    + b"data" + struct.pack("<I", 16_000) + struct.pack("<4h", 0, 8000, 0, -8000) * 2000
)

#: The same at 16 kHz.
WAVE = (
    b"RIFF" + struct.pack("<I", 32_036) + b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, 16_000, 32_000, 2, 16)
    + b"data" + struct.pack("<I", 32_000) + struct.pack("<4h", 0, 8000, 0, -8000) * 4000
)


def resolve(node):
    while isinstance(node, dict) and "$ref" in node:
        target = DOCUMENT
        for name in node["$ref"].removeprefix("#/").split("/"):
            target = target[name]
        node = target
    return node


VALIDATORS = {}


def validator(schema: dict) -> jsonschema.Draft202012Validator:
    """One for each schema of the document, which stays where it is."""
    if id(schema) not in VALIDATORS:
        VALIDATORS[id(schema)] = jsonschema.Draft202012Validator({**schema, "components": DOCUMENT["components"]})
    return VALIDATORS[id(schema)]


def is_valid(schema, value) -> bool:
    return validator(schema).is_valid(value)


class Operation:
    def __init__(self, path: str, method: str, item: dict):
        operation = item[method]
        self.path, self.method, self.id = path, method.upper(), operation["operationId"]
        parameters = [resolve(each) for each in [*item.get("parameters", []), *operation.get("parameters", [])]]
        self.segments = [each for each in parameters if each["in"] == "path"]
        self.queries = [each for each in parameters if each["in"] == "query"]
        self.responses = {int(status): resolve(each) for status, each in operation["responses"].items()}
        self.max_bytes = operation.get("x-max-bytes", 1 << 20)
        self.is_open = operation.get("security") == []
        self.takes_ids = "/init/" in path or path.endswith("/upload")
        body = resolve(operation.get("requestBody"))
        self.takes_body = body is not None
        self.needs_body = self.takes_body and body.get("required", False)
        content = body["content"] if body else {}
        self.schema = content.get("application/json", {}).get("schema")
        self.form = resolve(content.get("multipart/form-data", {}).get("schema"))
        self.takes_wave = self.id == "uploadAmbientAudio"
        self.takes_recording = "application/octet-stream" in content
        if self.takes_recording:
            # Where it is named instead, test_listen.py is about that.
            self.schema = None
        media = content.get("application/json", {})
        self.examples = [media["example"]] if "example" in media else []
        self.examples += [resolve(each)["value"] for each in media.get("examples", {}).values()]


OPERATIONS = [
    Operation(path, method, item) for path, item in DOCUMENT["paths"].items() for method in item
    # What is said over a socket is test_listen.py's.
    if method in ("get", "post", "put", "patch", "delete") and not item[method].get("x-socket")
]
#: Those that take an id of the caller's choice come last: what they have made is not unknown any more.
OPERATIONS.sort(key=lambda operation: operation.takes_ids)


class Tenant:
    """Somebody who has one of everything."""

    def __init__(self, server, client: str, secret: str, mark: str, folder):
        self.base_url = server.base_url
        sdk = server.client(client, secret)
        self.tokens = sdk.tokens
        self.session = requests.Session()
        self.session.trust_env = False
        self.session.headers.update({"Authorization": f"Bearer {sdk.tokens['access_token']}", "User-Agent": "test"})
        self.mark = mark
        adapter = requests.adapters.HTTPAdapter(pool_maxsize=32)
        self.session.mount("http://", adapter)
        #: Of the same business, by another door.
        self.partner = "demo-partner-2" if client.endswith("-2") else "demo-partner"
        self.partner_token = self.fresh_partner_token()
        clinician = {"partner_id": self.partner, "partner_token": self.partner_token}
        registration = {**clinician, "provider_name": mark, "provider_org_id": "demo-org"}
        assert self.session.post(f"{self.base_url}/api/v1/auth/register", json=registration).status_code == 201
        login = self.session.post(f"{self.base_url}/api/v1/auth/login", json=clinician)
        self.session.headers["sdp_suki_token"] = login.json()["suki_token"]
        self.ids = {"transaction": f"i-{uuid.uuid4()}", "chunk": f"{len(mark)}.wav"}
        self.ids["section"] = self.make("section")
        self.ids["template"] = self.make("template")
        with wave.open(str(folder / self.ids["chunk"]), "wb") as audio:
            audio.setparams((1, 2, 8000, 0, "NONE", ""))
            audio.writeframes(random.Random(mark).randbytes(16_000))
        transaction = sdk.transaction(self.ids["transaction"])
        patient = {"username": mark, "oid": "p-1", "age": 45}
        started = transaction.init([self.ids["template"]], patient_details=patient, additional_data={"a": mark})
        assert started.status_code == 201, started.text
        transaction.upload(sdk.s3(), folder / self.ids["chunk"])
        assert transaction.commit().status_code == 200
        results = transaction.poll()
        while results.status_code == 202:
            results = transaction.poll()
        assert results.status_code == 200, results.text
        #: The result, which is edited where documents of the tenant's own are not.
        self.note = results.json()["data"]["output"][0]["document_id"]
        self.ids["document"] = self.make("document")
        #: That nobody else names: an encounter is whoever's who begins one.
        self.encounter = self.ids["encounter"] = f"visit-{uuid.uuid4()}"
        self.make("visit")
        self.ids["encounter"] = f"visit-{uuid.uuid4()}"
        self.ids["ambient"] = self.make("visit")
        self.ids["conversation"] = self.make("conversation")
        self.ids["memory"] = self.make("memory")
        #: Registrations that stay; of others there is room for a hundred.
        self.kept = set()
        self.ids["subscription"] = self.make("subscription")
        self.ids["webhook"] = self.make("webhook")
        self.call("PATCH", f"/voice/api/v3/status/{transaction.id}", [{"document-id": self.note, "data": mark}])
        self.call("PATCH", f"/voice/api/v1/sessions/{transaction.id}/context", {"context": {"past_sessions": [mark]}})
        self.call("PUT", "/voice/api/v2/config", {"data": {"my_templates": [self.ids["template"]], "note": mark}})
        rating = {"min_rating": 0, "max_rating": 1, "rating": 1}
        feedback = {"entity": "content", "ratingFeedback": rating, "qualitative_comments": mark}
        self.call("POST", f"/voice/api/v1/transaction/{transaction.id}/feedback", feedback)
        #: Ids that only this tenant has, for operations that give them to the caller too.
        self.twins = {operation.id: self.make("transaction") for operation in OPERATIONS if operation.takes_ids}

    @staticmethod
    def fresh_partner_token() -> str:
        parts = ({"alg": "RS256", "kid": "partner"}, {"sub": f"dr-{uuid.uuid4()}", "exp": 4102444800})
        encoded = (base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in parts)
        return ".".join([*encoded, "c2ln"])

    def id_of(self, kind: str | None, operation: Operation) -> str:
        if kind == "transaction" and operation.path.startswith(AMBIENT):
            return self.ids["ambient"]
        if kind == "encounter":
            return self.encounter
        return self.twins[operation.id] if operation.takes_ids else self.ids.get(kind, "unknown")

    def call(self, method: str, path: str, body) -> dict:
        answer = self.session.request(method, self.base_url + path, json=body)
        assert answer.ok, f"{method} {path}: {answer.text}"
        return answer.json()

    def make(self, kind: str) -> str:
        """A further thing of that kind."""
        if kind == "transaction":
            body = {"transfer": "vaded", "s3_url": "s3://b/f", "patient_details": {"username": self.mark}}
            return self.call("POST", f"/voice/api/v2/transaction/init/i-{uuid.uuid4()}", body)["txn_id"]
        if kind == "session":
            body = {"upload_type": "chunked", "patient_details": {"name": self.mark}}
            return self.call("POST", "/voice/v1/sessions", body)["session_id"]
        if kind == "ambient":
            patient = {"patient": {"name": self.mark}, "visit": {"reason_for_visit": self.mark}}
            body = {"encounter_id": self.ids["encounter"], **patient}
            return self.call("POST", f"{AMBIENT}/create", body)["ambient_session_id"]
        if kind == "visit":
            session = self.make("ambient")
            headers = {"X-Start-Time": "2026-05-10T09:12:33Z"}
            self.session.post(f"{self.base_url}{AMBIENT}/{session}/audio", data=WAVE, headers=headers).raise_for_status()
            self.call("POST", f"{AMBIENT}/{session}/end", None)
            while self.call("GET", f"{AMBIENT}/{session}/status", None)["status"] == "running":
                pass
            return session
        if kind == "section":
            body = {"title": self.mark, "desc": self.mark, "format": "P", "example": self.mark}
            return self.call("POST", "/voice/api/v1/template/section", body)["section_id"]
        if kind == "template":
            body = {"title": self.mark, "desc": self.mark, "section_ids": [self.ids["section"]]}
            return self.call("POST", "/voice/api/v1/template", body)["template_id"]
        if kind == "conversation":
            made = self.call("POST", "/v1/transcribe/text", {"text": f"I am {self.mark}"})["conversation_id"]
            # Unless another request has ended it, which had words in it as well.
            self.session.post(f"{self.base_url}/v1/conversations")
            return made
        if kind == "subscription":
            body = {"endpoint": f"http://127.0.0.1:8080/{uuid.uuid4()}?{self.mark}", "signing_key": self.mark}
            made = self.call("POST", "/notification/v1/connect/webhook/subscriptions", body)["id"]
            self.kept.add(made)
            return made
        if kind == "webhook":
            body = {"url": f"http://127.0.0.1:8080/?{self.mark}", "events": ["session.failed"], "secret": self.mark}
            made = self.call("POST", "/voice/v1/webhooks", body)["webhook_id"]
            self.kept.add(made)
            return made
        if kind == "memory":
            return self.call("POST", "/v3/memories", {"content": self.mark})["id"]
        body = {"session_id": self.ids["transaction"], "document_name": self.mark, "markdown_data": self.mark}
        return self.call("POST", "/voice/api/v1/documents", body)["data"]["document_id"]

    @staticmethod
    def unknown(kind: str | None, operation: Operation) -> str:
        """What names nothing, and could."""
        if operation.path.startswith(AMBIENT):
            return str(uuid.uuid4())
        return "123456789" if kind in ("subscription", "webhook") else f"i-{uuid.uuid4()}"

    def ticket(self, operation: str) -> str:
        path, member = TICKETS[operation]
        answer = self.session.get(self.base_url + path.format(**self.ids)).json()
        answer = answer["recordings"][0] if "recordings" in answer else answer.get("data", answer)
        return answer[member].rsplit("/", 1)[1]

    def forget_webhooks(self):
        """Makes room for further ones."""
        for path, items, name in [
            ("/notification/v1/connect/webhook/subscriptions", "data", "id"), ("/voice/v1/webhooks", "webhooks", "webhook_id"),
        ]:
            for item in self.session.get(self.base_url + path).json()[items]:
                if item[name] not in self.kept:
                    self.session.delete(f"{self.base_url}{path}/{item[name]}")

    def snapshot(self) -> dict:
        """Everything that can be read by this tenant."""
        seen = {}
        for operation in OPERATIONS:
            # Credentials are new each time.
            if operation.method == "GET" and not operation.is_open and operation.id not in (
                "credentials", "s3Token", "ambientRecording",
            ):
                answer = Exchange(self, operation).send(query={"dlp": "true"} if operation.id == "status" else {})
                if operation.id not in TICKETS:
                    seen[operation.id] = (answer.status_code, without_links(answer.json()))
        return seen


class Exchange:
    """A request that is right, with this or that changed."""

    def __init__(self, tenant: Tenant, operation: Operation):
        self.tenant, self.operation = tenant, operation
        self.ids = dict(tenant.ids)
        self.ticket = tenant.ticket(operation.id) if operation.id in TICKETS else None
        if operation.path.startswith("/voice/api/v3/status/"):
            self.ids["document"] = tenant.note
        path, last = operation.path, KINDS.get(operation.segments[-1]["name"]) if operation.segments else None
        if operation.id == "processConversation":
            tenant.call("POST", "/v1/transcribe/text", {"text": "something to end"})
        if operation.id in ("subscribe", "registerWebhook"):
            tenant.forget_webhooks()
        if operation.id in ("endSession", "patchSession", "uploadSessionAudio", "uploadSessionFile"):
            self.ids["transaction"] = tenant.make("session")
        if operation.path.startswith(AMBIENT):
            is_open = operation.method != "GET" and not path.endswith("/feedback")
            made = "ambient" if is_open else "visit" if path.endswith("/feedback") else None
            self.ids["transaction"] = tenant.make(made) if made else tenant.ids["ambient"]
        elif operation.takes_ids:
            self.ids["transaction"] = f"i-{uuid.uuid4()}"
        elif operation.method == "DELETE" or (
            operation.method != "GET" and (path.startswith("/voice/api/v2/transaction/") or path.endswith("/feedback"))
        ):
            self.ids[last] = tenant.make(last)

    def body(self, example):
        """An example with ids that are there."""

        def known(value, name):
            if isinstance(value, dict):
                return {key: known(each, key) for key, each in value.items()}
            if isinstance(value, list):
                return [known(each, name) for each in value]
            if name == "refresh_token":
                return self.tenant.tokens["refresh_token"]
            if name == "partner_token":
                is_new = self.operation.id == "registerClinician"
                return self.tenant.fresh_partner_token() if is_new else self.tenant.partner_token
            if name == "partner_id":
                return self.tenant.partner
            if name in ("device_code", "user_code"):
                return self.tenant.call("POST", "/connect-auth/v1/device/code", {})[name]
            if name == "endpoint":
                return f"http://127.0.0.1:8080/{uuid.uuid4()}"
            return self.ids[KINDS[name]] if name in KINDS and isinstance(value, str) else value

        return known(example, "")

    def good_body(self):
        return self.body(self.operation.examples[0]) if self.operation.examples else None

    def send(self, body=MISSING, segments=None, query=None, raw_query=None, headers=None) -> requests.Response:
        """Sends bytes, JSON or, without any, the example; path and query as they are, with no escape changed."""
        operation = self.operation
        path = operation.path
        if body is MISSING and operation.schema:
            body = self.good_body()
        if "/convert-to-template" in path and isinstance(body, dict) and body.get("transcript"):
            # A transcript is taken in the place of a recording only.
            self.ids["transaction"] = self.tenant.make("transaction")
        for parameter in operation.segments:
            name = parameter["name"]
            value = (segments or {}).get(name, urllib.parse.quote(
                self.ids.get(KINDS.get(name), self.ticket or str(parameter.get("example", "x"))), safe=""))
            path = path.replace("{" + name + "}", value)
        words = {
            each["name"]: self.ids[KINDS[each["name"]]] if each["name"] in KINDS else each.get("example", "x")
            for each in operation.queries if each.get("required")
        }
        pairs = [f"{name}={value}" for name, value in {**words, **(query or {})}.items() if value is not MISSING]
        text = raw_query if raw_query is not None else "&".join(pairs)
        headers = dict(headers or {})
        if body is MISSING and operation.form:
            body, headers["Content-Type"] = form(operation.form)
        if operation.takes_wave:
            headers.setdefault("X-Start-Time", "2026-05-10T09:12:33Z")
        if operation.id == "grantToken":
            # Only who has a key may lend from it.
            headers.setdefault("Authorization", "Token org_dev_key")
        if body is MISSING and operation.takes_recording:
            body = WAVE if operation.takes_wave else RECORDING
        data = None if body in (MISSING, None) and not operation.schema else encoded(body)
        request = requests.Request(operation.method, self.tenant.base_url, headers=headers, data=data)
        prepared = self.tenant.session.prepare_request(request)
        if operation.is_open:
            del prepared.headers["Authorization"]
        prepared.url = self.tenant.base_url + path + (f"?{text}" if text else "")
        return self.tenant.session.send(prepared, allow_redirects=False, timeout=PATIENCE)


class Raw:
    """JSON that `json` would not write."""

    def __init__(self, text: str):
        self.text = text


def encoded(body) -> bytes:
    raws = []

    def mark(raw):
        raws.append(raw.text)
        return f"@@{len(raws) - 1}@@"

    if isinstance(body, bytes):
        return body
    text = json.dumps(body, default=mark)
    for index, raw in enumerate(raws):
        text = text.replace(f'"@@{index}@@"', raw)
    return text.encode()


def form(schema: dict, texts=None, left_out=()) -> tuple[bytes, str]:
    parts = []
    for name, each in schema.get("properties", {}).items():
        each = resolve(each)
        is_file = each.get("format") == "binary" or "contentMediaType" in each or "contentEncoding" in each
        if name in left_out:
            continue
        value = (texts or {}).get(name, "allergies and advice")
        head = f'Content-Disposition: form-data; name="{name}"' + ('; filename="1.wav"' if is_file else "")
        parts.append(f"--b\r\n{head}\r\n\r\n{value}\r\n")
    return ("".join(parts) + "--b--\r\n").encode(errors="surrogatepass"), "multipart/form-data; boundary=b"


def alternatives(schema):
    """A schema and those that it is made of."""
    schema = resolve(schema)
    yield schema
    for word in ("allOf", "anyOf", "oneOf"):
        for each in schema.get(word, []):
            yield from alternatives(each)


def fields(schema, value, path=()):
    """The paths of all fields that can be reached in a body."""
    schemas = list(alternatives(schema))
    if isinstance(value, dict):
        names = {name: None for each in schemas for name in each.get("properties", {})}
        names.update({name: None for name in value})
        for name in names:
            yield (*path, name)
            for each in schemas:
                below = each.get("properties", {}).get(name, each.get("additionalProperties"))
                if isinstance(below, dict) and name in value:
                    yield from fields(below, value[name], (*path, name))
    elif isinstance(value, list) and value:
        yield (*path, 0)
        for each in schemas:
            if isinstance(each.get("items"), dict):
                yield from fields(each["items"], value[0], (*path, 0))


def at(body, path):
    for key in path:
        if isinstance(body, dict) and key not in body:
            return MISSING
        body = body[key]
    return body


def is_required(schema, body) -> bool:
    """Whether what the body lacks is required in any case, and not as one of several."""
    return all(error.validator == "required" for error in validator(schema).iter_errors(body))


def changed(body, path, value):
    body = copy.deepcopy(body)
    parent = at(body, path[:-1])
    if value is not MISSING:
        parent[path[-1]] = value
    elif isinstance(parent, dict):
        parent.pop(path[-1], None)
    else:
        parent.clear()
    return body


def with_lists(schema, example):
    """The example with each of the lists that it leaves out or empty."""
    for path in fields(schema, example):
        if at(example, path) in (MISSING, []) and not is_valid(schema, changed(example, path, "x")):
            body = changed(example, path, ["x"])
            if is_valid(schema, body):
                yield body


def name_of(path) -> str:
    return next((key for key in reversed(path) if isinstance(key, str)), "")


def family(path: str) -> str:
    families = {
        "/connect-auth/v1/device": "eka", "/connect-auth/v1/login": "eka", "/connect-auth": "account", "/v1/auth/grant": "listen",
        "/v1/file-upload": "file upload", "/v1/listen": "listen",
        "/voice/api/v1/template": "templates", "/notification": "connect", "/voice/v1/session/": "eka", "/api/v1/medai": "templates", "/voice/v1/": "alliance",
        "/api/v1/auth": "suki", "/api/v1/ambient": "suki", "/api/v1/user": "suki", "/api/v1/info": "suki",
        "/v1/conversations": "edge", "/v1/transcribe": "edge", "/v3/": "edge",
    }
    return next((name for prefix, name in families.items() if path.startswith(prefix)), "eka")


def message_of(answer: requests.Response) -> str:
    body = answer.json()
    error = next(body[key] for key in ("err_msg", "detail", "error", "message") if key in body)
    return error if isinstance(error, str) else error["message"]


def reads_text(operation: Operation, request: requests.PreparedRequest) -> bool:
    """Whether Android's SDK asks for what it reads no object of."""
    return operation.id in ("stopTransaction", "commitTransaction") and (
        request.headers.get("flavour") in ("android", "scribe-android") or "okhttp" in request.headers["User-Agent"])


class Judge:
    """Looks at answers and keeps what is wrong with them."""

    def __init__(self, operation: Operation):
        self.operation = operation
        self.problems: list[str] = []

    def note(self, case: str, answer: requests.Response, problem: str):
        request = answer.request
        body = (request.body or b"")[:160].decode(errors="replace") if isinstance(request.body, bytes) else ""
        target = request.url.split("/", 3)[3][:140]
        self.problems.append(
            f"{case}: {problem}\n    {request.method} /{target} {body}\n    -> {answer.status_code} {answer.text[:300]}"
        )

    def check(self, case: str, answer: requests.Response, expected="any", names="", also=()) -> requests.Response:
        """`expected`: good (a documented success), bad (4xx) or any (whatever is documented)."""
        status = answer.status_code
        note = functools.partial(self.note, case, answer)
        if status >= 500:
            note("a failure of the server")
        if status not in self.operation.responses and status not in also:
            note("is not documented")
        if expected == "good" and not 200 <= status < 300:
            note("is to succeed")
        if expected == "bad" and not 400 <= status < 500:
            note("is to be refused")
        if SECRET in revealed(answer.text):
            note("tells what the second tenant keeps")
        if status >= 400:
            self.refusal(note, answer, names)
        media = self.operation.responses.get(status, {}).get("content", {}).get("application/json")
        if media and "schema" in media:
            for error in validator(media["schema"]).iter_errors(answer.json()):
                note(f"does not fit its schema: {error.json_path} {error.message[:150]}")
        return answer

    def refusal(self, note, answer: requests.Response, names: str):
        if CANARY in answer.text or str(BIG)[:9] in answer.text:
            note("repeats what was sent")
        if not answer.headers.get("content-type", "").startswith("application/json"):
            return note("is no JSON")
        body = answer.json()
        kind, error = family(self.operation.path), body.get("error")
        is_detailed = isinstance(error, dict) and all(isinstance(error.get(key), str) for key in ("code", "message"))
        if kind == "listen":
            fits = all(isinstance(body.get(key), str) for key in ("err_code", "err_msg", "request_id"))
        elif kind == "edge":
            fits = isinstance(body.get("detail"), str)
        elif kind == "connect":
            fits = is_detailed and error["code"].isupper()
        elif kind == "suki":
            fits = body.get("code") == answer.status_code and re.match("[a-z_]+(: |$)", body.get("message", ""))
        elif kind == "alliance":
            fits = is_detailed and body["status"] == "failed"
        elif answer.status_code == 401 and not self.operation.is_open:
            fits = error == "Unauthorized"
        elif kind == "account":
            fits = isinstance(body.get("code"), int) and isinstance(error, str)
        elif kind == "file upload" and not is_detailed:
            fits = isinstance(body.get("code"), str) and isinstance(error, str)
        elif reads_text(self.operation, answer.request):
            fits = isinstance(error, str) and error and body.get("status") == "failed"
        elif kind == "templates":
            fits = is_detailed and not isinstance(body.get("message"), str)
        else:
            fits = is_detailed and body.get("status") == "failed" and isinstance(error.get("display_message"), str)
            fits = fits and not isinstance(body.get("message"), str)
        if not fits:
            note("is not in its family's envelope")
        elif names and answer.status_code in (400, 422) and names not in message_of(answer):
            note(f"does not name {names}")


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A server, two tenants, and what the second could read before anything happened."""
    folder = tmp_path_factory.mktemp("fields")
    flags = (
        "--ephemeral", "--long-poll", "50ms", "--object-wait", "50ms", "--log-level", "debug", "--suki-shortest", "0s",
    )
    with running(folder, *flags, *TLS) as server:
        first = Tenant(server, "dev-client", "dev-secret", "first", folder)
        second = Tenant(server, "dev-client-2", "dev-secret-2", SECRET, folder)
        yield server, first, second, second.snapshot()


def parameters(judge, first: Tenant, second: Tenant):
    """Paths and queries."""
    operation = judge.operation
    cases = []
    for parameter in operation.segments:
        name, schema = parameter["name"], parameter["schema"]
        kind = KINDS.get(name)
        theirs = second.id_of(kind, operation)
        for case, text in {"unknown": Tenant.unknown(kind, operation), "foreign": theirs, **ODD_SEGMENTS}.items():
            meant = urllib.parse.unquote(text, errors="surrogateescape")
            cases.append((case, {"segments": {name: text}}, f"path {name} {case}", is_valid(schema, meant), kind))
    for parameter in operation.queries:
        name, schema = parameter["name"], parameter["schema"]
        kind = KINDS.get(name)
        theirs = second.id_of(kind, operation)
        for case, text in {"unknown": f"i-{uuid.uuid4()}", "foreign": theirs, **ODD_QUERIES}.items():
            # Ids are in the log, and may be.
            text = text.replace(CANARY, "a-word") if kind else text
            types = schema.get("type", "string")
            shape = r"-?[0-9]+" if "integer" in types else r"-?[0-9]+(\.[0-9]+)?" if "number" in types else r"(?!)"
            meant = json.loads(text) if re.fullmatch(shape, text) else urllib.parse.unquote(text)
            cases.append((case, {"query": {name: text}}, f"query {name} {case}", is_valid(schema, meant), kind))
        value = first.ids.get(kind, "1")
        for case, raw in [("repeated", f"{name}={value}&{name}=2"), ("bare", name), ("list", f"{name}[]={value}")]:
            cases.append((case, {"raw_query": raw}, f"query {name} {case}", True, None))
        for example in [parameter["example"]] if "example" in parameter else []:
            meant = f"{example}\0x"
            fits = is_valid(schema, meant)
            cases.append(("NUL", {"query": {name: f"{example}%00x"}}, f"query {name} ends in NUL", fits, None))
        if parameter.get("required"):
            cases.append(("missing", {"query": {name: MISSING}}, f"query {name} missing", False, None))
    if not cases:
        return

    def run(case):
        name, arguments, title, fits, kind = case
        return Exchange(first, operation).send(**arguments)

    # Some wait for what may still come.
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(run, cases))
    unknown = {}
    for (name, arguments, title, fits, kind), answer in zip(cases, answers):
        if name == "empty" and answer.ok and title.startswith("path"):
            # The path of another operation.
            continue
        also = range(200, 500) if name == "empty" else (400, 404, 405, 413, 431)
        judge.check(title, answer, "any" if fits or name == "empty" else "bad", also=also)
        if answer.ok and "\\u0000" in answer.text:
            judge.note(title, answer, "takes NUL for a part of a name")
        if name == "escaped twice" and kind == "transaction" and answer.ok and "txn_id" in answer.json():
            if answer.json()["txn_id"] != "a%41b":
                judge.note(title, answer, "is to be unescaped once")
        subject = title.rsplit(" ", 1)[0]
        sent = next(iter(arguments.get("segments", arguments.get("query", {"": ""})).values()))
        told = ""
        if answer.status_code >= 400 and name in ("unknown", "foreign"):
            body = {key: value for key, value in answer.json().items() if key != "txn_id"}
            told = json.dumps(body, sort_keys=True).replace(sent, "ID")
        if name == "unknown":
            unknown[subject] = (answer.status_code, told)
        # A conversion to a template that nobody here has makes a note of that name, which may then be asked for.
        is_converted = judge.operation.id == "sessionStatus" and kind == "template"
        if name == "foreign" and kind and not is_converted and (answer.status_code, told) != unknown[subject]:
            judge.note(title, answer, f"differs from an unknown one, {unknown[subject]}")


def bodies(judge, first: Tenant, second: Tenant):
    """Each field of each example, and the body as a whole."""
    operation = judge.operation
    done = set()
    for example in [*operation.examples, *with_lists(operation.schema, operation.examples[0])]:
        assert is_valid(operation.schema, example), "the example is wrong"
        good = Exchange(first, operation).body(example)
        judge.check("as it should be", Exchange(first, operation).send(good), "good")
        for path in dict.fromkeys(fields(operation.schema, example)):
            if (path, at(example, path) is MISSING) not in done:
                done.add((path, at(example, path) is MISSING))
                field(judge, example, path, first, second)
    whole(judge, first)


def field(judge, example, path, first: Tenant, second: Tenant):
    operation, title = judge.operation, ".".join(map(str, path))

    def send(case, value, as_judged=MISSING, expected=None, names="") -> requests.Response:
        exchange = Exchange(first, operation)
        good = exchange.body(example)
        stand_in = value if as_judged is MISSING else as_judged
        fits = is_valid(operation.schema, changed(good, path, stand_in))
        expected = expected or ("any" if fits else "bad")
        is_absent = value is MISSING or value is None
        if fits or is_absent and not is_required(operation.schema, changed(good, path, MISSING)):
            names = ""
        answer = exchange.send(changed(good, path, value))
        return judge.check(f"{title} {case}", answer, expected, names)

    name = name_of(path)
    is_item = isinstance(path[-1], int)
    missing_fits = is_valid(operation.schema, changed(example, path, MISSING))
    null_fits = is_valid(operation.schema, changed(example, path, None))
    missing = send("missing", MISSING, expected="good" if missing_fits else "bad", names=name)
    # Null means absent, where the schema allows it.
    null = send("null", None, expected="good" if null_fits and not is_item else None, names=name)
    if missing_fits and null_fits and not is_item and null.status_code != missing.status_code:
        judge.note(f"{title} null", null, f"differs from a missing one, {missing.status_code}")
    for case, value in OTHER_TYPES.items():
        send(f"is {case}", value, names=name)
    if is_valid(operation.schema, changed(example, path, "a")) or isinstance(at(example, path), str):
        for case, value in ODD_TEXTS.items():
            send(case, value)
    if isinstance(at(example, path), (int, float)):
        for case, value in [("beyond int64", BIG), ("negative", -BIG), ("beyond doubles", Raw("1e400"))]:
            send(case, value, BIG)
        for edge in EDGES:
            send(f"is {edge}", Raw(edge), expected="any")
        send("not a number", Raw("NaN"), expected="bad")
    else:
        edge = EDGES[sum(title.encode()) % len(EDGES)]
        send(f"is {edge}", Raw(edge), expected="any")
    # Whoever names a session names it anew.
    is_known = name in KINDS and operation.id != "createSession"
    if is_known and (isinstance(at(example, path), str) or at(example, path) is MISSING):
        theirs = second.twins[operation.id] if operation.takes_ids else second.ids[KINDS[name]]
        unknown, foreign = send("unknown", f"i-{uuid.uuid4()}"), send("foreign", theirs)
        if unknown.status_code != foreign.status_code:
            judge.note(f"{title} foreign", foreign, f"differs from an unknown one, {unknown.status_code}")
        if unknown.status_code >= 400 and message_of(unknown) != message_of(foreign):
            judge.note(f"{title} foreign", foreign, f"is told otherwise than an unknown one, {message_of(unknown)}")


def whole(judge, first: Tenant):
    operation = judge.operation
    example = operation.examples[0]

    def send(case, body, expected="bad"):
        return judge.check(f"body {case}", Exchange(first, operation).send(body), expected)

    def sized(path, value):
        return changed(Exchange(first, operation).body(example), path, value)

    all_fields = list(dict.fromkeys(fields(operation.schema, example)))
    text = next((path for path in all_fields if isinstance(at(example, path), str)), all_fields[0])
    large = send("that is too large", sized(text, CANARY * (2 * operation.max_bytes // len(CANARY))))
    if large.status_code != 413:
        judge.note("body that is too large", large, "is to be 413")
    send("with 100 KB in a field", sized(text, CANARY * 9_000), "any")
    for path in all_fields:
        if isinstance(at(example, path), list) and at(example, path):
            item = at(Exchange(first, operation).body(example), path)[0]
            count = min(20_000, 900_000 // (len(json.dumps(item)) + 2))
            send(f"with a long {path}", sized(path, [item] * count), "any")
            break
    anything = {"a": {"b": 1}}
    free = next((path for path in all_fields if is_valid(operation.schema, changed(example, path, anything))), text)
    for depth in (90, 5000):
        send(f"{depth} deep", sized(free, Raw('{"a":' * depth + "1" + "}" * depth)), "any")
    send("400 lists deep", sized(free, Raw("[" * 400 + "]" * 400)), "any")
    if free != text:
        for case, value in [("integer", BIG), ("double", Raw("1e400")), *ODD_TEXTS.items()]:
            send(f"with an odd {case} within", sized(free, {"key": value}), "any")
            if isinstance(value, str):
                send(f"with an odd {case} as a key", sized(free, {value.replace(CANARY, "key"): CANARY}), "any")
    for edge in EDGES:
        send(f"with {edge} within", sized(free, {"key": Raw(edge)}), "any")
    send("that is empty", b"", "bad" if operation.needs_body else "good")
    # Null means absent.
    send("that is null", b"null", "bad" if operation.needs_body else "any")
    for value in (7, 1.5, True, CANARY, [], {}, [CANARY], [None]):
        send(f"that is {value}", json.dumps(value).encode(), "good" if is_valid(operation.schema, value) and value else
             "any" if is_valid(operation.schema, value) else "bad")
    good = encoded(Exchange(first, operation).body(example) or {"key": "x"})
    for case, body in {
        "cut off": good[:-2], "with more behind it": good + b"}", "not UTF-8": good.replace(b'"', b'"\xff\xfe', 1),
        "with a bare NUL": good.replace(b'"', b'"\0', 1), "that is no JSON": CANARY.encode(), "zipped": b"\x1f\x8b\x08",
    }.items():
        send(case, body)


def forms(judge, first: Tenant):
    """A form's fields have no types; they can be missing, long, and full of odd bytes."""
    schema = judge.operation.form
    for name in schema.get("properties", {}):
        cases = {"missing": ({}, [name]), "empty": ({name: ""}, []), "100 KB": ({name: CANARY * 9_000}, [])}
        cases |= {case: ({name: text}, []) for case, text in ODD_TEXTS.items()}
        for case, (texts, left_out) in cases.items():
            body, media = form(schema, texts, left_out)
            answer = Exchange(first, judge.operation).send(body, headers={"Content-Type": media})
            is_lacking = case == "missing" and name in schema.get("required", [])
            judge.check(f"form {name} {case}", answer, "bad" if is_lacking else "any")
    body, media = form(schema)
    for case, data, kind in [
        ("cut off", body[:-9], media), ("without a boundary", body, "multipart/form-data"), ("empty", b"", media),
        ("of another boundary", body, "multipart/form-data; boundary=c"),
        ("with a path as its name", body.replace(b"1.wav", b"../../1.wav"), media),
        ("with a NUL in its name", body.replace(b"1.wav", b"1\0.wav"), media),
    ]:
        expected = "bad" if case in ("cut off", "without a boundary", "of another boundary") else "any"
        answer = Exchange(first, judge.operation).send(data, headers={"Content-Type": kind})
        judge.check(f"form {case}", answer, expected)


def profiles(judge, first: Tenant):
    """Every client gets the same refusals."""
    operation = judge.operation
    for headers in PROFILES:
        judge.check(f"as it should be {headers}", Exchange(first, operation).send(headers=headers), "good")
        if operation.examples:
            path = next(iter(fields(operation.schema, operation.examples[0])))
            for case, value in [("an integer", 7), ("an object", {"key": CANARY}), ("NUL", ODD_TEXTS["NUL"])]:
                exchange = Exchange(first, operation)
                body = changed(exchange.good_body(), path, value)
                expected = "any" if is_valid(operation.schema, body) else "bad"
                judge.check(f"{path} is {case} {headers}", exchange.send(body, headers=headers), expected)
        if operation.segments:
            name = operation.segments[0]["name"]
            answer = Exchange(first, operation).send(segments={name: "a%00b"}, headers=headers)
            judge.check(f"path {name} NUL {headers}", answer, "bad", also=(400, 404))


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.id)
def test_every_field(world, operation):
    server, first, second, _ = world
    judge = Judge(operation)
    assert not operation.schema or operation.examples, "a body without an example"
    profiles(judge, first)
    parameters(judge, first, second)
    if operation.schema:
        bodies(judge, first, second)
    if operation.form:
        forms(judge, first)
    assert server.process.poll() is None
    judge.check("as it should be, in the end", Exchange(first, operation).send(), "good")
    if judge.problems:
        pytest.fail(f"{len(judge.problems)} problems\n" + "\n".join(judge.problems[:40]), pytrace=False)


@pytest.mark.parametrize("path", ["/v1/file-upload", "/voice/api/v2/config", "/voice/api/v2/transaction/init/i-deep"])
def test_depth_costs_no_more_than_length(world, path):
    """100 KB of nested lists take about as long as 100 KB of flat ones."""
    _, first, _, _ = world

    def seconds(value: str) -> float:
        body = f'{{"transfer":"vaded","s3_url":"s3://b/f","data":{{"a":{value}}},"patient_details":{{"a":{value}}}}}'
        answer = first.session.request("PUT" if "config" in path else "POST", first.base_url + path, data=body)
        assert answer.status_code < 500
        return answer.elapsed.total_seconds()

    flat = seconds("[" + ",".join(["[]"] * 16_000) + "]")
    nested = seconds("[" + ",".join(["[" * 90 + "]" * 90] * 270) + "]")
    assert nested < 5 * flat + 0.5


def test_the_second_tenant_is_untouched(world):
    _, _, second, before = world
    after = second.snapshot()
    assert sum(SECRET in str(body) for _, body in before.values()) > 1
    assert {key: value for key, value in after.items() if value != before[key]} == {}


def test_the_log_tells_nothing(world):
    server, first, second, _ = world
    # Beside what init asks for and the configuration does not offer: names of modes, models and languages.
    log = "\n".join(line for line in server.log.splitlines() if "init asks for" not in line)
    for word in (CANARY, SECRET, *first.tokens.values(), *second.tokens.values()):
        assert not isinstance(word, str) or len(word) < 10 or word not in log
    assert "unexpected error" not in server.log, [line for line in server.log.splitlines() if "unexpected" in line][:5]
