"""A client of Suki's ambient-session API, shaped like the iOS SDK.

Written only from the SDK's public page and the wire contract, never from the server.
"""

import base64
import hashlib
import hmac
import json
import re
import ssl
import time
import uuid
from dataclasses import dataclass, field as member
from datetime import UTC, datetime, timedelta
from socket import SHUT_RDWR
from typing import NamedTuple
from urllib.parse import quote, urlsplit

import requests
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

TOKEN_HEADER = "sdp_suki_token"
PROTOCOL = "SukiAmbientAuth"
END_MARKER = "RU9G"
#: In seconds: how long anything may take that is sure to happen, on however busy a machine. It ends what hangs.
PATIENCE = 120
FRAME_BYTES = 3200
TERMINAL = frozenset({"completed", "skipped", "failed", "aborted"})
STATUSES = TERMINAL | {"created", "ready", "running"}

LOINC = {
    "39238-1": "Anticipatory Guidance",
    "42348-3": "Advanced Directives",
    "48765-2": "Allergies",
    "51848-0": "Assessment",
    "51847-2": "Assessment and Plan",
    "10154-3": "Chief Complaint",
    "61144-2": "Diet",
    "55128-3": "Disposition",
    "46239-0": "Discussion Notes",
    "10157-6": "Family History",
    "47420-5": "Functional Status",
    "8648-8": "Hospital Course",
    "10164-2": "History of Present Illness",
    "11369-6": "Immunizations",
    "61150-9": "Interval History",
    "10160-0": "Medications",
    "10190-7": "Mental Status Exam",
    "11348-0": "Past Medical History",
    "11358-9": "Past Psychiatric History",
    "10167-5": "Past Surgical History",
    "69730-0": "Patient Instructions",
    "29545-1": "Physical Exam",
    "18776-5": "Plan",
    "11450-4": "Problem List",
    "47519-4": "Procedure",
    "56822-0": "Response to Therapy",
    "30954-2": "Results",
    "78486-8": "Risk Assessment",
    "10187-3": "Review of Systems",
    "29299-5": "Reason for Visit",
    "29762-2": "Social History",
    "75325-1": "Symptoms and Stressors",
    "61146-7": "Therapy Goals",
    "8716-3": "Vitals",
    "11334-0": "Development History",
}
"""Section codes and their titles, as section 9 of the contract lists them."""

ULID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}", re.IGNORECASE)
LANGUAGE = re.compile(r"[a-z]{2}|yue|cmn")
RFC3339 = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


# Results


@dataclass(frozen=True)
class Suggestion:
    title: str
    loinc_code: str
    content: str
    source_transcripts: list[str]


@dataclass(frozen=True, order=True)
class Offset:
    hours: int
    minutes: int
    seconds: int
    nanos: int

    @property
    def total(self):
        """Nanoseconds from the start of the audio."""
        return ((self.hours * 60 + self.minutes) * 60 + self.seconds) * 10**9 + self.nanos


@dataclass(frozen=True)
class Transcript:
    transcript_id: str
    recording_id: str
    transcript: str
    lang_id: str
    start_time: str
    end_time: str
    start_offset: Offset
    end_offset: Offset


class Code(NamedTuple):
    type: str
    code: str
    description: str


@dataclass(frozen=True)
class Diagnosis:
    diagnosis_note: str
    codes: list[Code]
    laterality_indicator: int
    post_coord_lex_flag: int


@dataclass(frozen=True)
class Recording:
    recording_id: str
    presigned_url: str
    expires_at: int
    sequence_number: int
    is_streamable: bool


# Checks


def field(item, name, kind):
    """The member `name`, present, not null and of exactly this JSON type: true is no integer."""
    assert type(item) is dict, f"{item!r} is not an object, so has no {name}"
    value = item.get(name)
    assert type(value) is kind, f"{name} is {value!r}, not {kind.__name__}, in {item!r}"
    return value


def filled(item, name):
    value = field(item, name, str)
    assert value, f"{name} is empty in {item!r}"
    return value


def check(response, expected):
    expected = (expected,) if isinstance(expected, int) else tuple(expected)
    asked = f"{response.request.method} {urlsplit(response.url).path}"
    assert response.status_code in expected, (
        f"{asked} answered {response.status_code}, not {expected}: {response.text[:2000]}"
    )
    return response


def check_empty(response, or_object=False):
    allowed = (b"", b"{}") if or_object else (b"",)
    assert response.content.strip() in allowed, f"a body where none is due: {response.text[:2000]}"


def error_of(response):
    """The stable id that starts an error's message, after checking the whole error body."""
    body = response.json()
    code, message = field(body, "code", int), filled(body, "message")
    assert code == response.status_code, f"code {code} in an answer {response.status_code}"
    return message.split(":")[0].strip()


def error_id(body):
    """As `error_of`, but of any bytes: empty where they are not an error body."""
    try:
        return str(json.loads(body or b"")["message"]).split(":")[0].strip()
    except (ValueError, KeyError, TypeError):
        return ""


# Times and tokens


def nanoseconds(moment):
    """Unix nanoseconds of an int (the same), a datetime (UTC when naive) or an RFC3339 text."""
    if isinstance(moment, int):
        return moment
    if isinstance(moment, datetime):
        aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return (aware - EPOCH) // timedelta(microseconds=1) * 1000
    match = RFC3339.fullmatch(moment)
    assert match, f"{moment!r} is not RFC3339"
    second, fraction, zone = match.groups()
    whole = datetime.fromisoformat(second + ("+00:00" if zone == "Z" else zone))
    return (whole - EPOCH) // timedelta(seconds=1) * 10**9 + int((fraction or "").ljust(9, "0"))


def rfc3339(moment):
    seconds, nanos = divmod(nanoseconds(moment), 10**9)
    return f"{(EPOCH + timedelta(seconds=seconds)).strftime('%Y-%m-%dT%H:%M:%S')}.{nanos:09d}Z"


def base64_url(raw):
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def make_partner_token(partner_id, subject, **claims):
    """Decodable but not signed by anyone: lenient mode looks no further."""
    header = {"alg": "RS256", "typ": "JWT", "kid": "partner"}
    payload = {
        "exp": int(time.time()) + 3600,
        "iss": f"https://{partner_id}.example",
        "aud": "suki",
        "sub": subject,
        **claims,
    }
    parts = [base64_url(json.dumps(part).encode()) for part in (header, payload)]
    return ".".join([*parts, base64_url(hashlib.sha256(b"nobody's signature").digest() * 8)])


def verify_webhook(secret, headers, raw_body):
    """Whether X-API-Key is hex(HMAC-SHA-256(secret, generated-at + ":" + raw body))."""
    pairs = headers.items() if hasattr(headers, "items") else headers
    named = {name.lower(): value.strip() for name, value in pairs}
    generated_at, signature = named.get("generated-at", ""), named.get("x-api-key", "")
    if not re.fullmatch(r"[0-9]+", generated_at) or not signature:
        return False
    key = secret.encode() if isinstance(secret, str) else secret
    body = raw_body.encode() if isinstance(raw_body, str) else raw_body
    due = hmac.new(key, generated_at.encode() + b":" + body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(due.encode(), signature.lower().encode("utf-8", "replace"))


# Streaming


class StreamError(AssertionError):
    def __init__(self, message, code):
        super().__init__(message)
        self.code = code


class Stream:
    """One socket of a session, which starts with a segment."""

    def __init__(self, connection, start_time=None):
        self.connection = connection
        self.messages = []
        self.start_segment(start_time)

    @property
    def close_code(self):
        return self.connection.close_code

    @property
    def close_reason(self):
        return self.connection.close_reason

    def send(self, frame):
        """Any frame, also a wrong one: text as it is, bytes as a binary frame."""
        self.connection.send(frame)

    def message(self, kind, **members):
        self.send(json.dumps({"type": kind, **members}))

    def event(self, name):
        self.message("EVENT", event=name)

    def start_segment(self, start_time=None):
        moment = rfc3339(time.time_ns() if start_time is None else start_time)
        self.message("START_TIME", data=base64.b64encode(moment.encode()).decode())

    def audio(self, pcm_bytes, pace=0.0):
        """LINEAR16 mono at 16 kHz in frames of 100 ms; `pace` 0.1 is real time."""
        assert len(pcm_bytes) % 2 == 0, "half a sample"
        for start in range(0, len(pcm_bytes), FRAME_BYTES):
            chunk = pcm_bytes[start : start + FRAME_BYTES]
            self.message("AUDIO", data=base64.b64encode(chunk).decode())
            if pace:
                time.sleep(pace)

    def pause(self):
        self.event("PAUSE")

    def resume(self):
        self.event("RESUME")

    def keep_alive(self):
        self.event("KEEP_ALIVE")

    def cancel(self):
        self.event("CANCEL")
        self._settle()

    def abort(self):
        self.event("ABORT")
        self._settle()

    def finish(self):
        self.message("AUDIO", data=END_MARKER)
        self._settle()

    def wait_closed(self, timeout=PATIENCE):
        """The code of the server's close, with whatever it said before kept in `messages`."""
        deadline = time.monotonic() + timeout
        try:
            while True:
                self._keep(self.connection.recv(timeout=deadline - time.monotonic()))
        except ConnectionClosed:
            return self.close_code

    def close(self):
        """A close handshake without the end marker."""
        self.connection.close()

    def drop(self):
        """Ends TCP without a close frame, after what was sent: a reset could destroy frames on their way."""
        try:
            self.connection.socket.shutdown(SHUT_RDWR)
        except OSError:
            pass
        self.connection.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _keep(self, frame):
        assert isinstance(frame, str), f"a binary frame from the server: {frame[:100]!r}"
        body = json.loads(frame)
        field(body, "code", int)
        filled(body, "message")
        self.messages.append(body)

    def _settle(self):
        # Who closes first is not published. This server does, once all is stored, and a client that closed before would
        # see how busy the machine is.
        self.wait_closed(PATIENCE)
        if self.messages or self.close_code != 1000:
            raise StreamError(f"closed {self.close_code} {self.close_reason!r} {self.messages}", self.close_code)


# The client


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
        pause = 0.05
        while (value := self.status(id)) not in TERMINAL:
            assert time.monotonic() < deadline, f"session {id} still {value} after {timeout} s"
            time.sleep(pause)
            pause = min(pause * 1.5, 0.5)
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


def suggestions(answer):
    found = []
    for item in field(answer, "summary", list):
        title, loinc_code = field(item, "title", str), field(item, "loinc_code", str)
        assert loinc_code in LOINC, f"unknown section {loinc_code!r}"
        assert title.upper() == LOINC[loinc_code].upper(), f"{loinc_code} is titled {title!r}"
        sources = field(item, "source_transcripts", list) if "source_transcripts" in item else []
        assert all(type(source) is str for source in sources), f"source_transcripts {sources!r}"
        found.append(Suggestion(title, loinc_code, field(item, "content", str), sources))
    return found


def offset(item, name):
    value = field(item, name, dict)
    parts = Offset(*(field(value, part, int) for part in ("hours", "minutes", "seconds", "nanos")))
    bounds = (10**6, 60, 60, 10**9)
    inside = zip((parts.hours, parts.minutes, parts.seconds, parts.nanos), bounds)
    assert all(0 <= part < bound for part, bound in inside), f"{name} is {value!r}"
    return parts


def transcripts(answer):
    assert type(answer) is dict, f"{answer!r} is not an object"
    found = []
    # The SDK's model has the array optional.
    items = field(answer, "final_transcript", list) if answer.get("final_transcript") is not None else []
    for item in items:
        row = Transcript(
            **{name: field(item, name, str) for name in ("transcript_id", "recording_id", "transcript", "lang_id")},
            **{name: field(item, name, str) for name in ("start_time", "end_time")},
            **{name: offset(item, name) for name in ("start_offset", "end_offset")},
        )
        for name in ("transcript_id", "recording_id"):
            assert ULID.fullmatch(getattr(row, name)), f"{name} is {getattr(row, name)!r}, not a ULID"
        assert LANGUAGE.fullmatch(row.lang_id), f"lang_id is {row.lang_id!r}"
        assert nanoseconds(row.start_time) <= nanoseconds(row.end_time), f"ends before it starts: {row}"
        assert row.start_offset <= row.end_offset, f"ends before it starts: {row}"
        found.append(row)
    assert len({row.transcript_id for row in found}) == len(found), "a transcript_id twice"
    # Audio sent faster than it was spoken may overlap: then only one of the two orders can hold throughout.
    assert by_time(found) or by_offset(found), f"out of order: {[(row.start_time, row.start_offset) for row in found]}"
    for one in {row.recording_id for row in found}:
        rows = [row for row in found if row.recording_id == one]
        assert by_time(rows) and by_offset(rows), f"recording {one} out of order: {rows}"
    return found


def by_time(rows):
    starts = [nanoseconds(row.start_time) for row in rows]
    return starts == sorted(starts)


def by_offset(rows):
    starts = [row.start_offset for row in rows]
    return starts == sorted(starts)


def diagnoses(answer):
    values = field(field(field(answer, "structured_data", dict), "diagnoses", dict), "values", list)
    found = []
    for item in values:
        codes = [
            Code(filled(code, "type"), filled(code, "code"), field(code, "description", str))
            for code in field(item, "codes", list)
        ]
        assert codes, f"no codes in {item!r}"
        note = field(item, "diagnosis_note", str)
        numbers = (field(item, name, int) for name in ("laterality_indicator", "post_coord_lex_flag"))
        found.append(Diagnosis(note, codes, *numbers))
    return found


def recording(item, streamable):
    id, url = field(item, "recording_id", str), field(item, "presigned_url", str)
    expires_at = field(item, "expires_at", int)
    assert ULID.fullmatch(id), f"recording_id is {id!r}, not a ULID"
    parts = urlsplit(url)
    assert parts.scheme in ("http", "https") and parts.netloc, f"presigned_url is {url!r}"
    assert 10**9 < expires_at < 10**11, f"expires_at is {expires_at}, not Unix seconds"
    return Recording(id, url, expires_at, field(item, "sequence_number", int), streamable)


# Offline mode


def refused_as_ended(error):
    """Whether the handshake (412) or the socket (1008) refused a session that has ended."""
    if isinstance(error, InvalidStatus):
        return error.response.status_code == 412
    if isinstance(error, ConnectionClosed):
        return error.rcvd is not None and error.rcvd.code == 1008
    return error.code == 1008


@dataclass
class OfflineSession:
    session_id: str
    encounter_id: str
    context: dict | None = None
    segments: list[tuple] = member(default_factory=list)
    more: dict = member(default_factory=dict)
    queued_at: int = member(default_factory=time.time_ns)

    @property
    def recorded_at(self):
        return min((nanoseconds(moment) for moment, _ in self.segments), default=self.queued_at)


class Offline:
    """Sessions recorded and ended without a network, until they are uploaded."""

    def __init__(self):
        self.queue = []

    def record(self, segments, context=None, session_id=None, encounter_id=None, **more):
        """Queues a whole session, with segments [(start_time, pcm)]; returns its id."""
        id = session_id or str(uuid.uuid4())
        # Without a fixed encounter a repeated create would not be the same one.
        self.queue.append(OfflineSession(id, encounter_id or id, context, list(segments), more))
        return id

    def upload(self, client, keep=False):
        """Uploads the sessions, oldest first; returns their ids.

        A failure leaves its session and the later ones queued, and another upload repeats it whole.
        `keep` leaves all of them queued, as a device that lost the last answers would.
        """
        uploaded = []
        for session in sorted(self.queue, key=lambda session: session.recorded_at):
            self._upload(client, session)
            uploaded.append(session.session_id)
            if not keep:
                self.queue.remove(session)
        return uploaded

    @staticmethod
    def _upload(client, session):
        id = session.session_id
        body = creation(id, session.encounter_id, session.more)
        client.call("POST", "/api/v1/ambient/session/create", expected=(200, 201, 409), json=body)
        status = client.status(id)
        if status in TERMINAL:
            return
        # A status other than created means an earlier try got further, perhaps past its end.
        repeated = status != "created"
        tolerated = (200, 412) if repeated else (200,)
        if session.context is not None:
            client.call("PATCH", session_path(id, "context"), expected=tolerated, json=session.context)
        for start_time, pcm in session.segments:
            try:
                stream = client.start(id, start_time)
                stream.audio(pcm)
                stream.finish()
            except (InvalidStatus, ConnectionClosed, StreamError) as error:
                if not (repeated and refused_as_ended(error)):
                    raise
                break
        client.end(id, expected=tolerated)
