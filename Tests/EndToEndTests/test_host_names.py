"""Host names and origins: a page that makes its own name resolve to the server reads nothing."""

import base64
import socket

import pytest
import requests
from client import BUCKET
from cross_site import APP, DISGUISED, HISTORY, NEIGHBOUR, VENDOR
from emulator import PLAIN


@pytest.fixture(scope="module")
def token(server):
    return server.client().tokens["access_token"]


@pytest.mark.parametrize("site, marked, status", [
    (None, False, 200), (None, True, 200), ("none", False, 403), ("same-origin", False, 403),
    ("same-origin", True, 200), ("same-site", True, 403), ("cross-site", True, 403),
])
def test_the_operator_api_refuses_browser_requests_without_the_admin_header(server, site, marked, status):
    headers = ({"Sec-Fetch-Site": site} if site else {}) | ({"X-Scribe-Admin": "1"} if marked else {})
    assert requests.get(f"{server.base_url}/__admin/info", headers=headers).status_code == status


def asked_as(host: str, server, token: str, is_encrypted=False) -> requests.Response:
    url = f"https://127.0.0.1:{server.tls_port}" if is_encrypted else server.base_url
    return requests.get(
        f"{url}{HISTORY}", headers={"Host": host, "Authorization": f"Bearer {token}"},
        verify=server.authority if is_encrypted else None)


@pytest.mark.covers("C-116")
@pytest.mark.parametrize("host", [
    "127.0.0.1", "10.0.2.2:8087", "[::1]:8087", "localhost", "a.localhost", "scribe:8087", "mac.local", "nas.lan",
    "host.docker.internal", "scribe.test", "nas.home.arpa", "API.eka.care", "cog.staging.eka.care:8443",
    "anything.eka.care", "a.new.eka.care:8087", "sdp.suki.ai",
    f"{BUCKET}.s3.ap-south-1.amazonaws.com", "any-bucket.s3.amazonaws.com", "s3.ap-south-1.amazonaws.com",
])
def test_a_host_name_that_no_web_page_can_have_is_served(server, token, host):
    assert 421 not in (asked_as(host, server, token, is_encrypted).status_code for is_encrypted in (False, True))


@pytest.mark.parametrize("host", [
    "evil.example", "evil.example:8087", "127.0.0.1.evil.example", "[::1].evil.example", "localhost.evil.example",
    "api.eka.care.evil.example", "bucket.s3.evil.example", "bucket.s3.amazonaws.com.evil.example", "evileka.care",
])
def test_a_host_name_that_a_web_page_can_have_is_served_only_if_tokens_are_checked(server, strict, token, host):
    for is_encrypted in (False, True):
        answer = asked_as(host, server, token, is_encrypted)
        assert answer.status_code == 421
        assert "allowed-hosts" in answer.text and len(answer.text.splitlines()) == 1
    assert asked_as(host, strict, strict.client().tokens["access_token"]).status_code != 421


def test_a_host_name_in_the_settings_is_served(served):
    server = served(*PLAIN)
    token = server.client().tokens["access_token"]
    hosts = ("evil.example", "other.example", "localhost")
    assert [asked_as(host, server, token).status_code for host in hosts] == [200, 421, 200]


def test_a_page_that_rebinds_its_dns_name_to_this_server_reads_nothing(tab, server):
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


def test_the_default_host_is_reached_at_both_addresses_of_loopback(server):
    assert requests.get(f"{server.base_url}/livez").status_code == 200
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no ::1")
    assert requests.get(f"http://[::1]:{server.port}/livez").status_code == 200
    assert requests.get(f"https://localhost:{server.tls_port}/livez", verify=server.authority).status_code == 200
    with socket.create_connection(("::1", server.tls_port)):
        pass
