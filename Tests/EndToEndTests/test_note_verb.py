"""`scribe-emulator note`: a note without a server."""

import json
import re
import subprocess

from emulator import BINARY

VISIT = """\
Doctor: What brings you in?
Patient: I have had a dry cough for three days. I am allergic to penicillin – since चौथी.
Doctor: Take ibuprofen 400 mg twice a day for five days. Come back in two weeks.
"""


def note(*flags, transcript=VISIT, environment=None):
    return subprocess.run(
        [BINARY, "note", *flags], input=transcript.encode(), capture_output=True, env=environment, check=False)


def test_a_note_is_written_from_standard_input():
    text = note().stdout.decode()
    assert text.startswith("# ") and "dry cough for three days" in text and "ibuprofen 400 mg twice a day" in text
    record = json.loads(note("--template", "eka_emr_template").stdout)
    assert record["prescription"] and json.loads(note("--template", "soap").stdout)[0]["title"] == "Subjective"
    assert json.loads(note("--format", "json").stdout)[0].keys() == {"title", "value"}


def test_one_section_can_be_printed_and_a_section_without_content_prints_nothing():
    titles = re.findall(r"^## (.+)$", note().stdout.decode(), re.MULTILINE)
    first = note("--section", titles[0].upper()).stdout.decode()
    assert "#" not in first and "dry cough" in first and "ibuprofen" not in first
    assert note(environment={"SECTION": titles[0]}).stdout.decode() == first
    assert note("--section", titles[0], transcript="Good morning.\n").stdout == b""
    assert "ibuprofen" in note(environment={"SECTION": "MEDICATIONS"}).stdout.decode()
    assert "allergic to penicillin" in note("--section", "ALLERGY").stdout.decode()
    wrong = note("--section", "Horoscope")
    assert wrong.returncode != 0 and titles[0] in wrong.stderr.decode()
    assert note("--template", "nobody").returncode != 0 and note("--format", "pdf").returncode != 0


def test_each_statement_is_explained_by_the_words_that_it_comes_from():
    text = note("--explain").stdout.decode()
    spans = re.findall(r"^    (\d+)–(\d+) \(([a-z -]+)\): (.*)$", text, re.MULTILINE)
    assert len(spans) >= 4 and "allergy" in [rule for _, _, rule, _ in spans]
    for start, end, _, words in spans:
        assert VISIT.encode()[int(start):int(end)].decode() == words
    assert text.count("\n- ") == len(spans)


def test_a_dictated_note_has_what_was_dictated_and_none_of_the_commands():
    text = "impression unstable angina full stop plan aspirin 300 mg stat comma admit under cardiology"
    lines = note("--mode", "dictation", transcript=text).stdout.decode().splitlines()
    assert "- unstable angina" in lines and "- aspirin 300 mg stat" in lines and "full stop" not in "".join(lines)
    assert note("--mode", "song").returncode != 0


def test_explained_sections_are_json_too():
    sections = json.loads(note("--explain", "--format", "json").stdout)
    statements = [statement for section in sections for statement in section["statements"]]
    assert len(statements) >= 4 and all(section["title"] for section in sections)
    medication = next(statement for statement in statements if statement["kind"] == "medication")
    assert medication["rule"] in ("medicine", "prescription")
    assert b"ibuprofen" in VISIT.encode()[medication["start"]:medication["end"]]


def test_a_long_text_is_refused_and_an_empty_or_invalid_one_is_no_error():
    assert note(transcript="x" * (513 << 10)).returncode != 0
    assert note(transcript="").returncode == 0
    broken = subprocess.run([BINARY, "note"], input=b"\xff\xfe I have a cough", capture_output=True, check=False)
    assert broken.returncode == 0 and b"cough" in broken.stdout
