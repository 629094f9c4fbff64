"""Pages that are uploaded as objects: a browser shows them only on request, and runs no script of theirs."""

import base64
import json

import pytest
import requests
from client import BUCKET
from cross_site import NEIGHBOUR
from emulator import wait_until
from session_client import recording


@pytest.fixture(scope="module")
def s3(server):
    return server.client().s3()


#: It says so where it runs: in its title, and in that of the page around it.
ACTIVE = b"<title>still</title>shown<script>document.title = 'ran'; parent.document.title = 'ran'</script>"
INLINE = {"ResponseContentDisposition": "inline"}
KEY = {"Bucket": BUCKET, "Key": "260510/cross-site/object"}


def presigned(s3, content=ACTIVE, kind: str | None = "text/html", **more) -> str:
    s3.put_object(**KEY, Body=content, **({"ContentType": kind} if kind else {}))
    return s3.generate_presigned_url("get_object", KEY | more)


def test_an_uploaded_page_is_saved_and_not_shown(tab, s3):
    assert not tab(NEIGHBOUR).open(presigned(s3))


def test_an_uploaded_page_that_its_link_shows_inline_runs_no_script(tab, s3):
    page = tab(NEIGHBOUR)
    assert page.open(presigned(s3, **INLINE))
    assert page.run("[document.body.innerText, document.title]") == ["shown", "still"]


@pytest.mark.parametrize("more, is_shown", [({}, False), (INLINE, True)])
def test_an_uploaded_page_runs_no_script_in_a_frame(tab, s3, server, more, is_shown):
    page = tab(server.base_url)
    page.run(f"""isLoaded = false, frame = document.createElement("iframe")
        frame.onload = () => isLoaded = true
        frame.src = {json.dumps(presigned(s3, **more))}
        document.body.append(frame)""")
    wait_until(lambda: page.run("isLoaded") or "Page.downloadWillBegin" in page.events, "the frame is done")
    assert page.run("[document.title, isLoaded]") == ["", is_shown]


@pytest.mark.parametrize("more, disposition", [({}, "attachment"), (INLINE, "inline")])
def test_a_presigned_link_has_headers_that_limit_the_browser(s3, more, disposition):
    headers = requests.get(presigned(s3, **more)).headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Content-Disposition"].split(";")[0] == disposition
    name_and_values = [part.split() for part in headers["Content-Security-Policy"].split(";")]
    policy = {name: values for name, *values in name_and_values}
    assert "allow-scripts" not in policy["sandbox"]
    assert (policy["default-src"], policy["media-src"], policy["img-src"]) == (["'none'"], ["'self'"], ["'self'"])


def test_answers_to_header_signed_requests_have_no_browser_headers(s3):
    presigned(s3)
    headers = s3.get_object(**KEY)["ResponseMetadata"]["HTTPHeaders"]
    assert not {"content-security-policy", "content-disposition"} & set(headers)
    assert headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("kind", ["audio/wav", None])
def test_a_page_plays_a_recording_by_its_link(tab, s3, kind):
    assert tab(NEIGHBOUR).run(f"""new Promise((resolve, reject) => {{
        const audio = new Audio({json.dumps(presigned(s3, recording(2), kind))})
        audio.onloadeddata = () => resolve(audio.duration)
        audio.onerror = () => reject(audio.error.message)
    }})""") == 2


def test_a_recording_plays_in_a_tab_of_its_own(tab, s3):
    page = tab(NEIGHBOUR)
    assert page.open(presigned(s3, recording(2), "audio/wav"))
    assert page.run("document.querySelector('video').duration") == 2


def test_a_page_reads_a_note_by_its_link(tab, server):
    client = server.client()
    assert client.transaction("i-cross-site").init().ok
    documents = f"{server.base_url}/voice/api/v1/documents"
    note = {"session_id": "i-cross-site", "document_type": "notes", "markdown_data": "# Remarks"}
    made = client.session.post(documents, json=note).json()["data"]["document_id"]
    read = tab(NEIGHBOUR).fetch(client.session.get(f"{documents}/{made}").json()["data"]["presigned_url"])
    assert (read["status"], base64.b64decode(read["text"])) == (200, b"# Remarks")
