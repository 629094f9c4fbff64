"""Results of Suki's API, parsed and checked: sections, transcripts, diagnoses and recordings.

Written only from the SDK's public page and the wire contract, never from the server.
"""

import re
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import urlsplit

from suki_checks import field, filled, nanoseconds

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
