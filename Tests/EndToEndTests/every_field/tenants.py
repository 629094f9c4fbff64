"""Tenants that own one of everything, and their requests."""

import base64
import json
import random
import urllib.parse
import uuid
import wave

import requests
from emulator import PATIENCE, without_links
from every_field.operations import AMBIENT, KINDS, OPERATIONS, TICKETS, Operation
from every_field.values import MISSING, RECORDING, WAVE, encoded, form


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
            self.session.post(
                f"{self.base_url}{AMBIENT}/{session}/audio", data=WAVE, headers=headers).raise_for_status()
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
            ("/notification/v1/connect/webhook/subscriptions", "data", "id"),
            ("/voice/v1/webhooks", "webhooks", "webhook_id"),
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
                "readCredentials", "readS3Token", "listAmbientRecordings",
            ):
                answer = Exchange(self, operation).send(query={"dlp": "true"} if operation.id == "readStatus" else {})
                if operation.id not in TICKETS:
                    body = without_links(answer.json())
                    # The second at which the link of this very answer ends.
                    if operation.id == "readCombinedAudio":
                        body.pop("expires_at")
                    seen[operation.id] = (answer.status_code, body)
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
            if name == "session_id" and self.operation.id == "createSession" or name == "ambient_session_id":
                return str(uuid.uuid4())
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
