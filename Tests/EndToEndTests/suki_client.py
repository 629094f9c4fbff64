"""Client of Suki's ambient-session API, shaped like the iOS SDK.

Written only from the SDK's public page and the wire contract, never from the server.
"""

import ssl
import threading
import time
import uuid
from urllib.parse import quote

import requests
from suki_checks import PATIENCE, check, check_empty, error_id, error_of, field, filled, make_partner_token
from suki_results import diagnoses, recording, suggestions, transcripts
from suki_stream import Stream
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

TOKEN_HEADER = "sdp_suki_token"
PROTOCOL = "SukiAmbientAuth"
TERMINAL = frozenset({"completed", "skipped", "failed", "aborted"})
STATUSES = TERMINAL | {"created", "ready", "running"}


class SukiClient:
    def __init__(
        self,
        base_url,
        partner_id="demo-partner",
        subject="test-clinician",
        partner_token=None,
        provider_name="Test Clinician",
        provider_org_id="demo-org",
        provider_specialty=None,
        verify=True,
        timeout=PATIENCE,
    ):
        """`partner_token` is a text or, like the SDK's token provider, a function asked at every login.

        `verify` is True, False or the path of a CA file.
        """
        self.base_url = base_url.rstrip("/")
        self.partner_id = partner_id
        self.subject = subject
        self.partner_token = partner_token
        self.provider_name = provider_name
        self.provider_org_id = provider_org_id
        self.provider_specialty = provider_specialty
        self.verify = verify
        self.timeout = timeout
        self.sdp_suki_token = None
        self.http = requests.Session()
        # The machine's proxies and .netrc would change what reaches the server.
        self.http.trust_env = False
        self.http.verify = verify

    # Authentication

    def initialize(self):
        response = self._login()
        if response.status_code == 401 and error_of(response) == "provider_not_registered":
            # Another client may have registered the same clinician meanwhile.
            self.register(expected=(201, 409))
            response = self._login()
        token = filled(check(response, 200).json(), "suki_token")
        assert token.count(".") == 2, "suki_token is not a JWT"
        self.sdp_suki_token = token
        return token

    def register(self, expected=(201,)):
        body = self._partner()
        body |= {"provider_name": self.provider_name, "provider_org_id": self.provider_org_id}
        if self.provider_specialty is not None:
            body["provider_specialty"] = self.provider_specialty
        response = check(self._send("POST", "/api/v1/auth/register", json=body), expected)
        if response.status_code == 201:
            check_empty(response)
        return response

    def call(self, method, path, expected=(200,), **options):
        """The answer to an authenticated request; `expected` is a status or several."""
        given = dict(options.pop("headers", None) or {})
        # Requests whose 401 is the point keep it, and so do those with a token of their own.
        final = 401 in (expected if not isinstance(expected, int) else (expected,)) or TOKEN_HEADER in given
        response = self._send(method, path, headers={TOKEN_HEADER: self.sdp_suki_token, **given}, **options)
        if response.status_code == 401 and not final and error_id(response.content) == "invalid_sdp_token":
            self.initialize()
            response = self._send(method, path, headers={TOKEN_HEADER: self.sdp_suki_token, **given}, **options)
        return check(response, expected)

    # Sessions

    def create_session(self, session_id=None, encounter_id=None, **more):
        body = creation(session_id, encounter_id, more)
        answer = self.call("POST", "/api/v1/ambient/session/create", expected=201, json=body).json()
        created = filled(answer, "ambient_session_id")
        assert set(answer) == {"ambient_session_id"}, f"more than the id: {answer!r}"
        try:
            same = str(uuid.UUID(created)) == created.lower()
        except ValueError:
            same = False
        assert same, f"{created!r} is not a UUID"
        assert session_id is None or created.lower() == session_id.lower(), f"{created!r} is not {session_id!r}"
        return created

    def set_session_context(self, id, context):
        answer = self.call("PATCH", session_path(id, "context"), json=context).json()
        return field(answer, "context", dict)

    def replace_context(self, id, context):
        check_empty(self.call("POST", session_path(id, "context"), json=context))

    def start(self, id, start_time=None, headers=True):
        """Refusals raise `InvalidStatus`, but a token refused as expired is renewed once."""
        try:
            connection = self._open(id, headers)
        except InvalidStatus as refusal:
            response = refusal.response
            if response.status_code != 401 or error_id(response.body) != "invalid_sdp_token":
                raise
            self.initialize()
            connection = self._open(id, headers)
        chosen = connection.response.headers.get_all("Sec-WebSocket-Protocol")
        if chosen != ([] if headers else [PROTOCOL]):
            connection.close()
            # A server that echoes the token must not get it into the log as well.
            raise AssertionError(f"the server selected {len(chosen)} protocols, not just what was due")
        return Stream(connection, start_time)

    def end(self, id, expected=(200,)):
        response = self.call("POST", session_path(id, "end"), expected=expected)
        if response.status_code == 200:
            check_empty(response, or_object=True)
        return response

    def cancel(self, id, expected=(200,)):
        response = self.call("POST", session_path(id, "cancel"), expected=expected)
        if response.status_code == 200:
            check_empty(response, or_object=True)
        return response

    def status(self, id):
        answer = self.call("GET", session_path(id, "status")).json()
        value = field(answer, "status", str)
        assert value in STATUSES, f"{value!r} is no status"
        assert set(answer) == {"status"}, f"more than the status: {answer!r}"
        return value

    def wait(self, id, timeout=PATIENCE):
        """The terminal status."""
        deadline = time.monotonic() + timeout
        pause = threading.Event()
        while (value := self.status(id)) not in TERMINAL:
            assert time.monotonic() < deadline, f"session {id} still {value} after {timeout} s"
            pause.wait(0.05)
        return value

    # Results

    def content(self, id, cumulative=False):
        options = {"params": {"cumulative": "true"}} if cumulative else {}
        return suggestions(self.call("GET", session_path(id, "content"), **options).json())

    def transcript(self, id):
        return transcripts(self.call("GET", session_path(id, "transcript")).json())

    def structured_data(self, id):
        return diagnoses(self.call("GET", session_path(id, "structured-data")).json())

    def encounter_content(self, encounter_id):
        return suggestions(self.call("GET", encounter_path(encounter_id, "content")).json())

    def encounter_structured_data(self, encounter_id):
        return diagnoses(self.call("GET", encounter_path(encounter_id, "structured-data")).json())

    def recordings(self, id, download=False):
        options = {"params": {"download": "true"}} if download else {}
        answer = self.call("GET", session_path(id, "recording"), **options).json()
        streamable = field(answer, "is_streamable", bool)
        found = [recording(item, streamable) for item in field(answer, "recordings", list)]
        numbers = [item.sequence_number for item in found]
        assert numbers == list(range(1, len(found) + 1)), f"sequence numbers {numbers}"
        assert len({item.recording_id for item in found}) == len(found), f"a recording_id twice: {found}"
        return found

    def fetch(self, recording, byte_range=None):
        """The recording's answer from its presigned URL, without any token; `byte_range` like "0-43"."""
        headers = {"Range": f"bytes={byte_range}"} if byte_range else {}
        response = self.http.get(recording.presigned_url, headers=headers, timeout=self.timeout)
        return check(response, 206 if byte_range else 200)

    def submit_feedback(self, id, rating, minimum=1, maximum=5, comments=None):
        body = {"ratingFeedback": {"min_rating": minimum, "max_rating": maximum, "rating": rating}}
        if comments is not None:
            body["qualitative_comments"] = comments
        answer = self.call("POST", session_path(id, "content/feedback"), json=body).json()
        return filled(answer, "feedback_id")

    def preferences(self, verbosity=None, section_format=None):
        """Sends what is given; `section_format` is {loinc: style}. Returns the stored (verbosity, section_format)."""
        wanted = {}
        if verbosity is not None:
            wanted["verbosity"] = verbosity
        if section_format is not None:
            wanted["section_format"] = [{"loinc": code, "style": style} for code, style in section_format.items()]
        answer = self.call("PATCH", "/api/v1/user/preferences", json={"personalization_preference": wanted}).json()
        stored = field(answer, "preference", dict)
        # The contract's "wraps the same" can be read with and without this level.
        if "personalization_preference" in stored:
            stored = field(stored, "personalization_preference", dict)
        level = field(stored, "verbosity", str)
        assert level in ("CONCISE", "BALANCED", "DETAILED"), f"verbosity {level!r}"
        styles = {}
        for item in field(stored, "section_format", list):
            style = field(item, "style", str)
            assert style in ("NARRATIVE", "BULLETED"), f"style {style!r}"
            styles[filled(item, "loinc")] = style
        return level, styles

    # Parts

    def _partner(self):
        token = self.partner_token
        if token is None:
            token = make_partner_token(self.partner_id, self.subject)
        return {"partner_id": self.partner_id, "partner_token": token() if callable(token) else token}

    def _login(self):
        return self._send("POST", "/api/v1/auth/login", json=self._partner())

    def _send(self, method, path, **options):
        options.setdefault("timeout", self.timeout)
        return self.http.request(method, self.base_url + path, **options)

    def _open(self, id, headers):
        scheme, rest = self.base_url.split("://", 1)
        options = {}
        if scheme == "https":
            context = ssl.create_default_context(cafile=self.verify if isinstance(self.verify, str) else None)
            if self.verify is False:
                context.check_hostname = False
                context.verify_mode = ssl.CERT_NONE
            options["ssl"] = context
        if headers:
            options["additional_headers"] = {TOKEN_HEADER: self.sdp_suki_token or "", "ambient_session_id": id}
        else:
            options["subprotocols"] = [PROTOCOL, id, self.sdp_suki_token or "none"]
        # No pings: they could keep a stream alive that the server should drop as idle.
        return connect(
            f"{'wss' if scheme == 'https' else 'ws'}://{rest}/ws/stream",
            compression=None,
            proxy=None,
            open_timeout=self.timeout,
            ping_interval=None,
            close_timeout=10,
            legacy=True,
            **options,
        )


def creation(session_id, encounter_id, more):
    given = {"ambient_session_id": session_id, "encounter_id": encounter_id, **more}
    return {name: value for name, value in given.items() if value is not None}


def session_path(id, rest):
    return f"/api/v1/ambient/session/{quote(str(id), safe='')}/{rest}"


def encounter_path(id, rest):
    return f"/api/v1/ambient/encounter/{quote(str(id), safe='')}/{rest}"
