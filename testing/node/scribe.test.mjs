// "${SCRIBE_BINARY:-scribe-emulator}" exec -- node --test testing/node/
import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

const root = (process.env.SCRIBE_BASE_URL ?? "http://127.0.0.1:8087").split("/ns/")[0];
const operator = process.env.SCRIBE_ADMIN_TOKEN && { Authorization: `Bearer ${process.env.SCRIBE_ADMIN_TOKEN}` };
let scribe;

async function control(method, path, body) {
    const namespace = scribe && { "X-Scribe-Namespace": scribe.name };
    const headers = { "Content-Type": "application/json", ...operator, ...namespace };
    const answer = await fetch(`${root}/__admin/${path}`, { method, headers, body: body && JSON.stringify(body) });
    const json = answer.status === 204 ? null : await answer.json();
    if (!answer.ok) throw new assert.AssertionError({ message: json.diff ?? json.detail });
    return json;
}

beforeEach(async () => { scribe = await control("POST", "namespaces", {}); });
afterEach(async () => {
    if (scribe) await control("DELETE", `namespaces/${scribe.name}`);
    scribe = undefined;
});

// What follows is the client under test.
async function post(path, body, token) {
    const headers = { "Content-Type": "application/json", ...(token && { Authorization: `Bearer ${token}` }) };
    return fetch(root + scribe.path + path, { method: "POST", headers, body: JSON.stringify(body) });
}

async function begin(id) {
    const login = { client_id: scribe.client_id, client_secret: scribe.client_secret };
    const { access_token: token } = await (await post("/connect-auth/v1/account/login", login)).json();
    const visit = { mode: "consultation", transfer: "vaded", s3_url: `s3://bucket/260101/${id}` };
    let answer;
    do answer = await post(`/voice/api/v2/transaction/init/${id}`, visit, token); while (answer.status === 503);
    return answer.status;
}

test("an init that fails once is tried again", async () => {
    await control("POST", "faults/next", { operation: "initTransaction", status: 503 });
    assert.equal(await begin("visit-1"), 201);
    await control("POST", "requests/verify", { operation: "initTransaction", transaction: "visit-1", times: 2 });
});

test("what was not sent is shown with the nearest request", async () => {
    await begin("visit-2");
    await assert.rejects(
        control("POST", "requests/verify", { operation: "initTransaction", body: { mode: "dictation" } }),
        /-body=\{"mode":"dictation"\}\n\+body=mode: "consultation"/);
});
