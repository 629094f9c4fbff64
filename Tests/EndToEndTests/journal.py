"""The journal of a namespace, as tests read it."""

import base64
import json
import re
import threading
import urllib.parse

import requests
from emulator import PATIENCE, wait_until
from namespaces import control

PROBLEM = "application/problem+json"
#: Names of members and fields whose values are credentials.
SECRET_NAMES = re.compile(
    r"(token|secret|signature|password|api_?key|secretkey|secretaccesskey|device_code|auth|authorization|cookie)$",
    re.IGNORECASE)


class Journal:
    """Calls of `/__admin/requests` about one namespace."""

    def __init__(self, server, name: str = "default"):
        self.server, self.query = server, {"namespace": name}

    def call(self, method: str, path="", **options) -> requests.Response:
        params = {**self.query, **options.pop("params", {})}
        return control(self.server, method, f"requests{path}", params=params, **options)

    def all(self, **match) -> list[dict]:
        answer = self.call("GET", params={"limit": 1000, **match})
        assert answer.status_code == 200, answer.text
        return answer.json()["requests"]

    def details(self, **match) -> list[dict]:
        """All matching exchanges, with their bodies."""
        return [self.read(each["id"]) for each in self.all(**match)]

    def read(self, id: int) -> dict:
        answer = self.call("GET", f"/{id}")
        assert answer.status_code == 200, answer.text
        return answer.json()

    def verify(self, **match) -> requests.Response:
        return self.call("POST", "/verify", json=match)

    def wait(self, **match) -> requests.Response:
        return self.call("POST", "/wait", json={"timeout": f"{PATIENCE}s", **match})

    def archive(self) -> dict:
        return self.call("GET", "/export").json()["log"]

    def views(self) -> dict[str, str]:
        """The whole journal in each form that it is shown in."""
        numbers = [each["id"] for each in self.all()]
        texts = {
            "list": self.call("GET", params={"limit": 1000}).text, "unmatched": self.call("GET", "/unmatched").text,
            "export": self.call("GET", "/export").text,
            "verify": self.verify(status=999, method="GET", body="*").text,
            "details": "\n".join(json.dumps(self.read(number)) for number in numbers),
            "stream": self.streamed(numbers[-1]),
        }
        for each in self.all(kind="socket"):
            texts[f"recording {each['id']}"] = self.call("GET", f"/{each['id']}/recording").text
        return texts

    def streamed(self, last: int) -> str:
        """Events from the first exchange to another one."""
        text = ""
        with self.call("GET", "/stream", params={"all": "true"}, stream=True) as answer:
            for piece in answer.iter_content(None):
                text += piece.decode()
                if f'data: {{"id":{last},' in text and text.endswith("\n\n"):
                    return text
        raise AssertionError(text)


def secrets_of(exchanges) -> dict[str, set[str]]:
    """Credentials in what clients sent and got, by the names they had there."""
    found: dict[str, set[str]] = {}

    def add(name, value):
        if isinstance(value, str) and len(value) >= 8 and SECRET_NAMES.search(name):
            # The scheme of a field is no secret, and of an AWS header only the signature is one.
            part = value.rpartition("Signature=" if value.startswith("AWS4") else " ")[2]
            if len(part) >= 16:
                found.setdefault(name.lower(), set()).add(part)

    def walk(value, name=""):
        if isinstance(value, dict):
            for key, inner in value.items():
                walk(inner, key)
        elif isinstance(value, list):
            for inner in value:
                walk(inner, name)
        else:
            add(name, value)
            if isinstance(value, str) and "://" in value:
                query(value)

    def query(url: str):
        parts = urllib.parse.urlsplit(url)
        for name, value in urllib.parse.parse_qsl(parts.query):
            add(name, value)
        # Tickets are base64 of JSON, a dot, and a signature.
        for word in parts.path.split("/"):
            if "eyJ" in word and "." in word:
                found.setdefault("ticket", set()).add(word)

    for url, sent, body, received, content in exchanges:
        query(url)
        for fields in (sent, received):
            for name, value in fields.items():
                add(name, value.decode("latin-1") if isinstance(value, bytes) else value)
        for data in (body, content):
            text = data if isinstance(data, str) else data.decode("latin-1") if isinstance(data, bytes) else ""
            try:
                walk(json.loads(text))
            except ValueError:
                for name, value in urllib.parse.parse_qsl(text[:10_000]):
                    add(name, value)
                for name, value in re.findall(r"<(\w+)>([^<]+)</\1>", text):
                    add(name, value)
    return found


def leaks(texts: dict[str, str], found: dict[str, set[str]]) -> list[tuple[str, str]]:
    """Views that have a credential, as it is or in base64."""
    shown = []
    for view, text in texts.items():
        for name, values in found.items():
            for value in values:
                forms = {
                    value, urllib.parse.quote(value, safe=""), base64.b64encode(value.encode()).decode().rstrip("=")}
                if any(form in text for form in forms):
                    shown.append((view, f"{name}: {value}"))
    return shown


class Events(threading.Thread):
    """Reads an event stream in the background."""

    def __init__(self, server, name: str, **query):
        super().__init__(daemon=True)
        self.events, self.ended = [], threading.Event()
        self.answer = Journal(server, name).call("GET", "/stream", params=query, stream=True)
        assert self.answer.status_code == 200, self.answer.text
        self.lines = self.answer.iter_lines()
        assert next(self.lines) == b": the journal"
        self.start()

    def run(self):
        name = ""
        try:
            for line in self.lines:
                if line.startswith(b"event: "):
                    name = line[7:].decode()
                elif line.startswith(b"data: "):
                    self.events.append((name, json.loads(line[6:])))
        except requests.RequestException:
            pass
        self.ended.set()


class Wait(threading.Thread):
    """Waits in the background for an exchange that never comes, for longer than a test may take."""

    def __init__(self, server, name: str):
        super().__init__(daemon=True)
        self.journal, self.status = Journal(server, name), None
        held = server.metric("scribe_memory_held_bytes")
        self.start()
        # The server counts all but the first 4 KB of a body until its request is answered.
        wait_until(lambda: server.metric("scribe_memory_held_bytes") >= held + 90_000, "the request waits")

    def run(self):
        body = json.dumps({"status": 599, "timeout": "600s"}).ljust(104_096)
        self.status = self.journal.call("POST", "/wait", data=body).status_code
