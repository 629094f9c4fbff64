"""Judge of answers: collects what is wrong with them."""

import functools
import re
import zlib

import requests
from emulator import revealed
from every_field.operations import Operation, validator
from every_field.values import BIG, CANARY

#: In everything that the second tenant keeps. It must be in no answer to the first.
SECRET = "second-tenant-7c21"


def family(path: str) -> str:
    families = {
        "/connect-auth/v1/device": "eka", "/connect-auth/v1/login": "eka", "/connect-auth": "account",
        "/v1/auth/grant": "listen", "/v1/file-upload": "file upload", "/v1/listen": "listen",
        "/v1/models": "listen", "/v1/auth/token": "listen",
        "/voice/api/v1/template": "templates", "/notification": "connect", "/voice/v1/session/": "eka",
        "/api/v1/medai": "templates", "/voice/v1/": "alliance",
        "/api/v1/auth": "suki", "/api/v1/ambient": "suki", "/api/v1/user": "suki", "/api/v1/info": "suki",
        "/v1/conversations": "omi", "/v1/transcribe": "omi", "/v3/": "omi",
    }
    return next((name for prefix, name in families.items() if path.startswith(prefix)), "eka")


def message_of(answer: requests.Response) -> str:
    body = answer.json()
    error = next(body[key] for key in ("err_msg", "detail", "error", "message") if key in body)
    if isinstance(error, list):
        return "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error)
    return error if isinstance(error, str) else error["message"]


def reads_text(operation: Operation, request: requests.PreparedRequest) -> bool:
    """Whether Android's SDK asks for what it reads no object of."""
    return operation.id in ("stopTransaction", "commitTransaction") and (
        request.headers.get("flavour") in ("android", "scribe-android") or "okhttp" in request.headers["User-Agent"])


class Judge:
    """Looks at answers and keeps what is wrong with them."""

    def __init__(self, operation: Operation, takes_all: bool):
        self.operation = operation
        #: Whether each field gets all values.
        self.takes_all = takes_all
        self.problems: list[str] = []

    def chosen(self, values: dict, title: str, most: int) -> dict:
        """All values, or `most` of them: others for another field, and the same in each run."""
        names = list(values)
        start = 0 if self.takes_all else zlib.crc32(f"{self.operation.id} {title}".encode())
        count = len(names) if self.takes_all else most
        return {name: values[name] for name in (names[(start + step) % len(names)] for step in range(count))}

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
        # Which template is none is told, if it looks like an id.
        told = f"does not exist: '{CANARY}'"
        if CANARY in answer.text.replace(told, "") or str(BIG)[:9] in answer.text:
            note("repeats what was sent")
        if not answer.headers.get("content-type", "").startswith("application/json"):
            return note("is no JSON")
        body = answer.json()
        kind, error = family(self.operation.path), body.get("error")
        is_detailed = isinstance(error, dict) and all(isinstance(error.get(key), str) for key in ("code", "message"))
        if kind == "listen":
            fits = all(isinstance(body.get(key), str) for key in ("err_code", "err_msg", "request_id"))
        elif kind == "omi":
            fits = isinstance(body.get("detail"), list if answer.status_code == 422 else str)
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
