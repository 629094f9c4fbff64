"""Pages of other sites: what they can do with a visitor's login."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests
from cross_site import (
    ACCOUNT, APP, DEVICE, DISGUISED, FOREIGN, HISTORY, JSON, LISTED, LOGIN, NEIGHBOUR, SESSION, SESSIONS, VENDOR,
    origin_header,
)

#: Of the vendor's login page, whose user is a client.
LOGIN_PAGE = "/connect-auth/v1/login"
PASSWORD = json.dumps({"username": "dev-client", "password": "dev-secret"})


@pytest.fixture(scope="module")
def token(server):
    return server.client().tokens["access_token"]


def own(server) -> str:
    return f"http://localhost:{server.port}"


def history(server) -> list:
    return server.client().session.get(f"{server.base_url}{HISTORY}").json()["data"]


def device(server) -> dict:
    return requests.post(f"{server.base_url}{DEVICE}/code", json={}).json()


def told(server, device: dict) -> dict:
    return requests.post(f"{server.base_url}{DEVICE}/token", json={"device_code": device["device_code"]}).json()


# With the cookies of a visitor who has logged in.


# Without strictness, a device is approved from the start.
@pytest.mark.parametrize("mode, action", [("server", "deny"), ("strict", "approve")])
def test_only_a_page_of_the_servers_own_origin_can_approve_a_device(request, tab, mode, action):
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


def test_a_page_of_another_port_can_read_answers_and_the_refusal_of_its_approval(tab, server):
    tab(own(server)).log_in(own(server))
    page = tab(NEIGHBOUR)
    assert page.fetch(f"{own(server)}{HISTORY}")["status"] == 200
    refused = page.post(f"{own(server)}{DEVICE}/approve", json.dumps({"user_code": device(server)["user_code"]}))
    assert refused["status"] == 403 and json.loads(refused["text"])["error"]


def test_a_page_of_the_vendor_can_call_the_api_with_cookies_alone(tab, server):
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

    def call(more):
        return requests.request(method, f"{server.base_url}{path}", data=body, headers=headers | more)

    answer = call({"Cookie": f"sess={token}"})
    assert answer.status_code == status, answer.text
    said = answer.json()
    if status == 403:
        assert (said["status"], said["error"]["code"]) == ("failed", "permission_denied")
        assert said["error"]["message"].startswith("A page of this origin may not use the cookie;")
    else:
        assert said["status"] == ("created" if method == "POST" else "success")
    # A token in a header counts for any page.
    answer = call({"Cookie": f"sess={token}", "Authorization": f"Bearer {token}"})
    assert answer.status_code == (201 if method == "POST" else 200), answer.text


@pytest.mark.parametrize("kind, status", [
    ("application/json", 201), ("Application/JSON; charset=utf-8", 201), ("text/plain", 415),
    ("application/x-www-form-urlencoded", 415), ("text/plain; application/json", 415),
])
def test_the_content_type_matters_only_for_requests_authenticated_by_a_cookie(server, token, kind, status):
    def call(headers):
        return requests.post(
            f"{server.base_url}{SESSIONS}", SESSION, headers={"Content-Type": kind, **headers}).status_code

    assert call({"Cookie": f"sess={token}", "Origin": server.base_url}) == status
    assert call({"Authorization": f"Bearer {token}", "Origin": FOREIGN}) == 201


few = pytest.mark.parametrize("origin, lenient, strictly", [
    (None, True, True), ("own", True, True), (VENDOR, True, False), (LISTED, False, True), (NEIGHBOUR, False, False),
    (FOREIGN, False, False), ("http://doc.eka.care", False, False), (APP, True, False),
])


@few
def test_only_allowed_origins_can_approve_devices_with_a_cookie(server, strict, origin, lenient, strictly):
    for one, may in ((server, lenient), (strict, strictly)):
        token = one.client().tokens["access_token"]

        def approve(headers):
            return requests.post(
                f"{one.base_url}{DEVICE}/approve", json={"user_code": device(one)["user_code"]},
                headers=headers | origin_header(one, origin)).status_code

        assert approve({"Cookie": f"sess={token}"}) == (200 if may else 403)
        assert approve({"Authorization": f"Bearer {token}"}) == 200


@few
def test_a_login_sets_cookies_only_for_allowed_origins(server, strict, origin, lenient, strictly):
    for one, may in ((server, lenient), (strict, strictly)):
        answer = requests.post(f"{one.base_url}{ACCOUNT}/login", LOGIN, headers=JSON | origin_header(one, origin))
        assert answer.status_code == 200 and answer.json()["access_token"]
        assert ("sess" in answer.cookies) == may


@pytest.mark.covers("C-114")
@few
def test_the_page_login_accepts_only_allowed_origins(server, strict, origin, lenient, strictly):
    # The page is there for its cookies: without them it is refused, where the account's login leaves them out.
    for one, may in ((server, lenient), (strict, strictly)):
        answer = requests.post(f"{one.base_url}{LOGIN_PAGE}", PASSWORD, headers=JSON | origin_header(one, origin))
        assert answer.status_code == (200 if may else 403), answer.text
        assert ("sess" in answer.cookies) == ("sess_refresh" in answer.cookies) == may


@pytest.mark.covers("C-114")
def test_the_page_login_answers_like_the_account_login_and_adds_a_status(server):
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
def test_a_refused_page_login_gets_an_error_and_no_cookies(server, more, kind, status, code):
    body = json.dumps(json.loads(PASSWORD) | more)
    answer = requests.post(f"{server.base_url}{LOGIN_PAGE}", body, headers=kind)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert not answer.cookies


@pytest.mark.covers("C-114")
def test_repeated_wrong_passwords_are_rate_limited_on_every_login_path(server):
    def guess(number: int) -> int:
        if number % 2:
            path, body = LOGIN_PAGE, {"username": "guessed", "password": f"{number}"}
        else:
            path, body = f"{ACCOUNT}/login", {"client_id": "guessed", "client_secret": f"{number}"}
        return requests.post(f"{server.base_url}{path}", json=body).status_code

    # As many failures as cost nothing (LoginThrottle), half of them of each, and then more than may wait.
    assert [guess(number) for number in range(20)] == [401] * 20
    with ThreadPoolExecutor(12) as pool:
        assert 429 in pool.map(guess, range(20, 32))


@pytest.mark.parametrize("what", ["refresh-token", "logout"])
def test_a_foreign_page_neither_renews_nor_ends_a_login(server, what):
    kept = JSON | {"Cookie": f"sess_refresh={server.client().tokens['refresh_token']}"}

    def call(what, origin):
        return requests.post(
            f"{server.base_url}{ACCOUNT}/{what}", "{}", headers=kept | {"Origin": origin}).status_code

    assert call(what, FOREIGN) == 403
    assert call("refresh-token", server.base_url) == 200
