"""Pages of other sites: what they can do with a visitor's login, with what was uploaded, and by a name of their own."""

import base64
import contextlib
import itertools
import json
import subprocess

import pytest
import requests
from client import BUCKET
from conftest import PATIENCE, ROOT, running, wait_until
from test_browser import trusting_browser
from test_sessions import recording
from websockets.sync.client import connect

ACCOUNT, DEVICE = "/connect-auth/v1/account", "/connect-auth/v1/device"
HISTORY, SESSIONS = "/voice/api/v2/transaction/history", "/voice/v1/sessions"
JSON = {"Content-Type": "application/json"}
LOGIN = json.dumps({"client_id": "dev-client", "client_secret": "dev-secret"})
#: Of the vendor's login page, whose user is a client.
LOGIN_PAGE = "/connect-auth/v1/login"
PASSWORD = json.dumps({"username": "dev-client", "password": "dev-secret"})
SESSION = json.dumps({
    "session_mode": "dictation", "templates": [], "model": "lite", "upload_type": "chunked",
    "communication_protocol": "http",
})
#: A page of another program of this machine, which is the same site, one of the vendor's, one of the internet's, one
#: that the strict server is told of, and what only begins like one of this machine.
NEIGHBOUR, VENDOR, FOREIGN = "http://localhost:8999", "https://cog.eka.care", "https://evil.example"
LISTED, DISGUISED = "https://app.example", "http://localhost:80@evil.example"
#: What the vendor's desktop app sends as its origin, which no page can have.
APP = "app://ekascribe"


class Target:
    """Of Chromium's DevTools protocol. A tab has an empty page at `/page` of every origin, without asking anybody for
    it: of the server's own too, and of a name that leads to the server."""

    def __init__(self, socket):
        self.socket, self.numbers, self.events = socket, itertools.count(1), set()

    def send(self, method: str, **parameters) -> int:
        number = next(self.numbers)
        self.socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        return number

    def call(self, method: str, **parameters) -> dict:
        number = self.send(method, **parameters)
        while (message := json.loads(self.socket.recv(timeout=PATIENCE))).get("id") != number:
            self.events.add(message.get("method"))
            if message.get("method") == "Fetch.requestPaused":
                self.send(
                    "Fetch.fulfillRequest", requestId=message["params"]["requestId"], responseCode=200,
                    responseHeaders=[{"name": "Content-Type", "value": "text/html"}],
                    body=base64.b64encode(b"<!doctype html>").decode())
        assert "error" not in message, message
        return message["result"]

    def open(self, url: str) -> bool:
        """Whether it is shown, and not saved."""
        if self.call("Page.navigate", url=url)["isDownload"]:
            return False
        wait_until(lambda: self.run("document.readyState") == "complete", f"{url} is loaded")
        return True

    def run(self, script: str):
        """What it comes to."""
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def fetch(self, url: str, **options) -> dict:
        """With cookies, as a web app does."""
        options = json.dumps({"credentials": "include", **options})
        return self.run(f"""fetch({json.dumps(url)}, {options}).then(
            async answer => ({{ status: answer.status, type: answer.type, text: await answer.text() }}))""")

    def post(self, url: str, body: str, **options) -> dict:
        return self.fetch(url, method="POST", body=body, **{"headers": JSON, **options})

    def log_in(self, api: str):
        assert self.post(f"{api}{ACCOUNT}/login", LOGIN)["status"] == 200


@pytest.fixture(scope="module")
def browser(server, tmp_path_factory):
    """What connects to a target of a browser by its path, and that of the browser itself."""
    folder = tmp_path_factory.mktemp("browser")
    trusting = trusting_browser(server, folder)
    process = subprocess.Popen(
        ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", f"--user-data-dir={folder / 'profile'}",
         # A question to the user that not every browser asks.
         "--disable-features=LocalNetworkAccessChecks", "--remote-debugging-port=0",
         f"{trusting['flags'][0]}, MAP *.example 127.0.0.1"],
        env=trusting["environment"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )
    ready = folder / "profile/DevToolsActivePort"
    try:
        wait_until(lambda: ready.exists() and "\n" in ready.read_text(), "the browser listens")
        port, path = ready.read_text().splitlines()
        yield lambda path: connect(f"ws://127.0.0.1:{port}{path}", max_size=None), path
    finally:
        process.terminate()
        process.wait(timeout=PATIENCE)


@pytest.fixture
def tab(browser):
    """Opens the page of an origin. All that a test opens belong to one visitor, of whom no other test knows."""
    connected, path = browser
    with contextlib.ExitStack() as sockets:
        chromium = Target(sockets.enter_context(connected(path)))
        visitor = chromium.call("Target.createBrowserContext", disposeOnDetach=True)["browserContextId"]
        chromium.call("Browser.setDownloadBehavior", behavior="deny", browserContextId=visitor)

        def tab(origin: str) -> Target:
            made = chromium.call("Target.createTarget", url="about:blank", browserContextId=visitor)
            page = Target(sockets.enter_context(connected(f"/devtools/page/{made['targetId']}")))
            page.call("Page.enable")
            page.call("Fetch.enable", patterns=[{"urlPattern": "*/page"}])
            assert page.open(f"{origin}/page")
            return page

        yield tab


@pytest.fixture(scope="module")
def strict(tmp_path_factory):
    flags = ("--auth", "strict", "--clients", ROOT / "seed/clients.yaml", "--cors-origins", LISTED)
    with running(tmp_path_factory.mktemp("strict"), "--ephemeral", *flags) as server:
        yield server


@pytest.fixture(scope="module")
def token(server):
    return server.client().tokens["access_token"]


@pytest.fixture(scope="module")
def s3(server):
    return server.client().s3()


def own(server) -> str:
    return f"http://localhost:{server.port}"


def origin_header(server, origin: str | None) -> dict:
    return {"Origin": server.base_url if origin == "own" else origin} if origin else {}


def history(server) -> list:
    return server.client().session.get(f"{server.base_url}{HISTORY}").json()["data"]


def device(server) -> dict:
    return requests.post(f"{server.base_url}{DEVICE}/code", json={}).json()


def told(server, device: dict) -> dict:
    return requests.post(f"{server.base_url}{DEVICE}/token", json={"device_code": device["device_code"]}).json()


# With the cookies of a visitor who has logged in.


# Without strictness, a device is approved from the start.
@pytest.mark.parametrize("mode, action", [("server", "deny"), ("strict", "approve")])
def test_a_page_of_another_port_decides_on_no_device_and_one_of_the_servers_own_does(request, tab, mode, action):
    server = request.getfixturevalue(mode)
    waiting, api = device(server), own(server)
    decision = json.dumps({"user_code": waiting["user_code"], "action": action})
    page = tab(api)
    page.log_in(api)
    sent = tab(NEIGHBOUR).post(f"{api}{DEVICE}/approve", decision, mode="no-cors", headers={})
    assert sent["type"] == "opaque"
    answer = told(server, waiting)
    assert "access_token" in answer if mode == "server" else "authorization_pending" in str(answer), answer
    decision = json.dumps({"user_code": device(server)["user_code"]})
    assert page.post(f"{api}{DEVICE}/approve", decision)["status"] == 200


def test_a_page_of_another_port_reads_what_there_is_and_why_it_may_not_decide(tab, server):
    tab(own(server)).log_in(own(server))
    page = tab(NEIGHBOUR)
    assert page.fetch(f"{own(server)}{HISTORY}")["status"] == 200
    refused = page.post(f"{own(server)}{DEVICE}/approve", json.dumps({"user_code": device(server)["user_code"]}))
    assert refused["status"] == 403 and json.loads(refused["text"])["error"]


def test_a_page_of_the_vendor_works_by_its_cookies_alone(tab, server):
    page, api = tab(VENDOR), "https://api.eka.care"
    assert page.fetch(f"{api}{HISTORY}")["status"] == 401
    page.log_in(api)
    assert page.post(f"{api}{SESSIONS}", SESSION)["status"] == 201
    decision = json.dumps({"user_code": device(server)["user_code"]})
    assert page.post(f"{api}{DEVICE}/approve", decision)["status"] == 200
    assert page.post(f"{api}{ACCOUNT}/refresh-token", "{}")["status"] == 200
    assert page.fetch(f"{api}{HISTORY}")["status"] == 200


def test_a_page_that_declares_its_json_as_text_is_refused(tab, server):
    page, api, before = tab(VENDOR), "https://api.eka.care", history(server)
    page.log_in(api)
    refused = page.post(f"{api}{SESSIONS}", SESSION, headers={})
    assert refused["status"] == 415 and json.loads(refused["text"])["error"]
    assert history(server) == before


def test_a_foreign_page_creates_nothing(tab, server):
    api, before = own(server), history(server)
    tab(api).log_in(api)
    page = tab("http://evil.example")
    assert page.post(f"{api}{SESSIONS}", SESSION, mode="no-cors", headers={})["type"] == "opaque"
    assert history(server) == before


@pytest.mark.covers("C-115")
@pytest.mark.parametrize("method, origin, site, status", [
    ("POST", None, None, 201), ("POST", "own", None, 201), ("POST", VENDOR, None, 201), ("POST", NEIGHBOUR, None, 201),
    ("POST", APP, None, 201), ("POST", "app://other", None, 403), ("POST", f"{APP}.evil.example", None, 403),
    ("POST", FOREIGN, None, 403), ("POST", "null", None, 403), ("POST", DISGUISED, None, 403),
    ("POST", None, "cross-site", 403), ("POST", None, "same-site", 403), ("POST", None, "same-origin", 201),
    ("GET", FOREIGN, None, 403), ("GET", None, "same-site", 200), ("GET", None, "cross-site", 200),
])
def test_a_cookie_counts_for_pages_that_may_use_the_server(server, token, method, origin, site, status):
    path, body = (SESSIONS, SESSION) if method == "POST" else (HISTORY, None)
    headers = JSON | origin_header(server, origin) | ({"Sec-Fetch-Site": site} if site else {})
    call = lambda more: requests.request(method, f"{server.base_url}{path}", data=body, headers=headers | more)
    answer = call({"Cookie": f"sess={token}"})
    assert answer.status_code == status, answer.text
    assert answer.ok or answer.json()["error"]
    assert call({"Cookie": f"sess={token}", "Authorization": f"Bearer {token}"}).ok


@pytest.mark.parametrize("kind, status", [
    ("application/json", 201), ("Application/JSON; charset=utf-8", 201), ("text/plain", 415),
    ("application/x-www-form-urlencoded", 415), ("text/plain; application/json", 415),
])
def test_what_a_body_is_declared_as_counts_where_a_cookie_decides(server, token, kind, status):
    call = lambda headers: requests.post(
        f"{server.base_url}{SESSIONS}", SESSION, headers={"Content-Type": kind, **headers}).status_code
    assert call({"Cookie": f"sess={token}", "Origin": server.base_url}) == status
    assert call({"Authorization": f"Bearer {token}", "Origin": FOREIGN}) == 201


few = pytest.mark.parametrize("origin, lenient, strictly", [
    (None, True, True), ("own", True, True), (VENDOR, True, False), (LISTED, False, True), (NEIGHBOUR, False, False),
    (FOREIGN, False, False), ("http://doc.eka.care", False, False), (APP, True, False),
])


@few
def test_few_pages_approve_devices(server, strict, origin, lenient, strictly):
    for one, may in ((server, lenient), (strict, strictly)):
        token = one.client().tokens["access_token"]
        approve = lambda headers: requests.post(
            f"{one.base_url}{DEVICE}/approve", json={"user_code": device(one)["user_code"]},
            headers=headers | origin_header(one, origin)).status_code
        assert approve({"Cookie": f"sess={token}"}) == (200 if may else 403)
        assert approve({"Authorization": f"Bearer {token}"}) == 200


@few
def test_a_login_sets_cookies_for_few_pages(server, strict, origin, lenient, strictly):
    for one, may in ((server, lenient), (strict, strictly)):
        answer = requests.post(f"{one.base_url}{ACCOUNT}/login", LOGIN, headers=JSON | origin_header(one, origin))
        assert answer.status_code == 200 and answer.json()["access_token"]
        assert ("sess" in answer.cookies) == may


@pytest.mark.covers("C-114")
@few
def test_the_login_page_is_for_few_pages(server, strict, origin, lenient, strictly):
    # The page is there for its cookies: without them it is refused, where the account's login leaves them out.
    for one, may in ((server, lenient), (strict, strictly)):
        answer = requests.post(f"{one.base_url}{LOGIN_PAGE}", PASSWORD, headers=JSON | origin_header(one, origin))
        assert answer.status_code == (200 if may else 403), answer.text
        assert ("sess" in answer.cookies) == ("sess_refresh" in answer.cookies) == may


@pytest.mark.covers("C-114")
def test_the_login_page_answers_as_the_account_does_and_says_that_it_worked(server):
    answer = requests.post(f"{server.base_url}{LOGIN_PAGE}", PASSWORD, headers=JSON)
    account = requests.post(f"{server.base_url}{ACCOUNT}/login", LOGIN, headers=JSON).json()
    body = answer.json()
    assert answer.status_code == 200 and body.pop("status") == "success" and body.keys() == account.keys()
    assert {name: answer.cookies[name] for name in ("sess", "sess_refresh")} == {
        "sess": body["access_token"], "sess_refresh": body["refresh_token"]}
    # Both cookies are logins: one reads, and the other renews it.
    read = requests.get(f"{server.base_url}{HISTORY}", headers={"Cookie": f"sess={answer.cookies['sess']}"})
    renewed = requests.post(
        f"{server.base_url}{ACCOUNT}/refresh-token", "{}",
        headers=JSON | {"Cookie": f"sess_refresh={answer.cookies['sess_refresh']}"})
    assert (read.status_code, renewed.status_code) == (200, 200)


@pytest.mark.covers("C-114")
@pytest.mark.parametrize("more, kind, status, code", [
    ({"password": "wrong"}, JSON, 401, "invalid_credentials"), ({"password": ""}, JSON, 401, "invalid_credentials"),
    ({"username": "nobody"}, JSON, 401, "invalid_credentials"),
    # A secret of another client, and a name that no client can have.
    ({"username": "dev-client-2"}, JSON, 401, "invalid_credentials"),
    ({"username": "dev\0client"}, JSON, 401, "invalid_credentials"),
    ({"password": None}, JSON, 400, "validation_error"),
    ({}, {"Content-Type": "text/plain"}, 415, "unsupported_media_type"),
    ({}, {"Content-Type": "application/x-www-form-urlencoded"}, 415, "unsupported_media_type"),
])
def test_the_login_page_is_told_what_is_wrong_and_gets_no_cookies(server, more, kind, status, code):
    body = json.dumps(json.loads(PASSWORD) | more)
    answer = requests.post(f"{server.base_url}{LOGIN_PAGE}", body, headers=kind)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert not answer.cookies


@pytest.mark.covers("C-114")
def test_who_guesses_passwords_is_slowed_down_whichever_login_is_asked(server):
    def guess(number: int) -> int:
        if number % 2:
            path, body = LOGIN_PAGE, {"username": "guessed", "password": f"{number}"}
        else:
            path, body = f"{ACCOUNT}/login", {"client_id": "guessed", "client_secret": f"{number}"}
        return requests.post(f"{server.base_url}{path}", json=body).status_code

    # As many failures as cost nothing (LoginThrottle), half of them of each, and one more of either.
    assert [guess(number) for number in range(20)] == [401] * 20
    assert [guess(number) for number in range(20, 22)] == [429] * 2


@pytest.mark.parametrize("what", ["refresh-token", "logout"])
def test_a_foreign_page_neither_renews_nor_ends_a_login(server, what):
    kept = JSON | {"Cookie": f"sess_refresh={server.client().tokens['refresh_token']}"}
    call = lambda what, origin: requests.post(
        f"{server.base_url}{ACCOUNT}/{what}", "{}", headers=kept | {"Origin": origin}).status_code
    assert call(what, FOREIGN) == 403
    assert call("refresh-token", server.base_url) == 200


# What was uploaded.

#: It says so where it runs: in its title, and in that of the page around it.
ACTIVE = b"<title>still</title>shown<script>document.title = 'ran'; parent.document.title = 'ran'</script>"
INLINE = {"ResponseContentDisposition": "inline"}
KEY = {"Bucket": BUCKET, "Key": "260510/cross-site/object"}


def presigned(s3, content=ACTIVE, kind: str | None = "text/html", **more) -> str:
    s3.put_object(**KEY, Body=content, **({"ContentType": kind} if kind else {}))
    return s3.generate_presigned_url("get_object", KEY | more)


def test_an_uploaded_page_is_saved_and_not_shown(tab, s3):
    assert not tab(NEIGHBOUR).open(presigned(s3))


def test_an_uploaded_page_is_shown_where_its_link_says_so_and_runs_nothing(tab, s3):
    page = tab(NEIGHBOUR)
    assert page.open(presigned(s3, **INLINE))
    assert page.run("[document.body.innerText, document.title]") == ["shown", "still"]


@pytest.mark.parametrize("more, is_shown", [({}, False), (INLINE, True)])
def test_an_uploaded_page_runs_nothing_in_a_frame(tab, s3, server, more, is_shown):
    page = tab(server.base_url)
    page.run(f"""isLoaded = false, frame = document.createElement("iframe")
        frame.onload = () => isLoaded = true
        frame.src = {json.dumps(presigned(s3, **more))}
        document.body.append(frame)""")
    wait_until(lambda: page.run("isLoaded") or "Page.downloadWillBegin" in page.events, "the frame is done")
    assert page.run("[document.title, isLoaded]") == ["", is_shown]


@pytest.mark.parametrize("more, disposition", [({}, "attachment"), (INLINE, "inline")])
def test_a_link_says_what_a_browser_may_make_of_an_object(s3, more, disposition):
    headers = requests.get(presigned(s3, **more)).headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Content-Disposition"].split(";")[0] == disposition
    name_and_values = [part.split() for part in headers["Content-Security-Policy"].split(";")]
    policy = {name: values for name, *values in name_and_values}
    assert "allow-scripts" not in policy["sandbox"]
    assert (policy["default-src"], policy["media-src"], policy["img-src"]) == (["'none'"], ["'self'"], ["'self'"])


def test_what_is_signed_by_header_is_for_no_browser(s3):
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


@pytest.mark.parametrize("site, marked, status", [
    (None, False, 200), (None, True, 200), ("none", False, 403), ("same-origin", False, 403),
    ("same-origin", True, 200), ("same-site", True, 403), ("cross-site", True, 403),
])
def test_what_a_browser_opens_gets_through_the_operators_door_only_on_purpose(server, site, marked, status):
    headers = ({"Sec-Fetch-Site": site} if site else {}) | ({"X-Scribe-Admin": "1"} if marked else {})
    assert requests.get(f"{server.base_url}/__admin/info", headers=headers).status_code == status


# Names that lead here.


def asked_as(host: str, server, token: str, is_encrypted=False) -> requests.Response:
    url = f"https://127.0.0.1:{server.tls_port}" if is_encrypted else server.base_url
    return requests.get(
        f"{url}{HISTORY}", headers={"Host": host, "Authorization": f"Bearer {token}"},
        verify=server.authority if is_encrypted else None)


@pytest.mark.covers("C-116")
@pytest.mark.parametrize("host", [
    "127.0.0.1", "10.0.2.2:8087", "[::1]:8087", "localhost", "a.localhost", "scribe:8087", "mac.local", "nas.lan",
    "host.docker.internal", "scribe.test", "nas.home.arpa", "API.eka.care", "cog.staging.eka.care:8443", "anything.eka.care", "a.new.eka.care:8087", "sdp.suki.ai",
    f"{BUCKET}.s3.ap-south-1.amazonaws.com", "any-bucket.s3.amazonaws.com", "s3.ap-south-1.amazonaws.com",
])
def test_a_name_that_no_page_can_have_is_served(server, token, host):
    assert 421 not in (asked_as(host, server, token, is_encrypted).status_code for is_encrypted in (False, True))


@pytest.mark.parametrize("host", [
    "evil.example", "evil.example:8087", "127.0.0.1.evil.example", "[::1].evil.example", "localhost.evil.example",
    "api.eka.care.evil.example", "bucket.s3.evil.example", "bucket.s3.amazonaws.com.evil.example", "evileka.care",
])
def test_a_name_that_a_page_could_have_is_not_served_unless_tokens_are_checked(server, strict, token, host):
    for is_encrypted in (False, True):
        answer = asked_as(host, server, token, is_encrypted)
        assert answer.status_code == 421
        assert "allowed-hosts" in answer.text and len(answer.text.splitlines()) == 1
    assert asked_as(host, strict, strict.client().tokens["access_token"]).status_code != 421


def test_a_name_is_served_that_a_setting_names(tmp_path):
    with running(tmp_path, "--ephemeral", "--allowed-hosts", "evil.example") as server:
        token = server.client().tokens["access_token"]
        hosts = ("evil.example", "other.example", "localhost")
        assert [asked_as(host, server, token).status_code for host in hosts] == [200, 421, 200]


def test_a_page_whose_name_was_made_to_lead_here_reads_nothing(tab, server):
    # Anybody can write such a token, which is taken for the demo's.
    forged = ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in (b'{"alg":"none"}', b"{}", b"x"))
    answer = tab(f"http://rebound.example:{server.port}").fetch(HISTORY, headers={"auth": forged})
    assert answer["status"] == 421 and "allowed-hosts" in answer["text"]


@pytest.mark.parametrize("origin, is_allowed", [
    (NEIGHBOUR, True), (VENDOR, True), (DISGUISED, False), ("https://evil.example/.eka.care", False),
    ("http://[::1].evil.example", False), (APP, True), (f"{APP}.evil.example", False), ("app://other", False),
])
def test_an_origin_is_read_to_its_end(server, origin, is_allowed):
    headers = {"Origin": origin, "Access-Control-Request-Method": "GET"}
    answer = requests.options(f"{server.base_url}{HISTORY}", headers=headers)
    assert ("Access-Control-Allow-Origin" in answer.headers) == is_allowed
