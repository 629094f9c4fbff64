# What a client of the transaction API does: new_transaction ID [FIXTURE] leaves an open one with a chunk.
# shellcheck shell=bash

base=http://127.0.0.1:8087
python3 - <<'PYTHON'
import wave
with wave.open("chunk.wav", "wb") as file:
    file.setparams((1, 2, 16_000, 0, "NONE", ""))
    file.writeframes(b"\x00\x20\x00\xe0" * 80_000)
PYTHON

new_transaction() {
    local token keys secrets
    token=$(curl -s $base/connect-auth/v1/account/login \
        -d '{"client_id": "dev-client", "client_secret": "dev-secret"}' | jq -r .access_token)
    curl -s -X DELETE "$base/__admin/transactions/$1"
    curl -s "$base/voice/api/v2/transaction/init/$1" -H "Authorization: Bearer $token" \
        -d "{\"mode\": \"consultation\", \"transfer\": \"vaded\", \"s3_url\": \"s3://m-prod-voice-record/261129/$1\",
            \"additional_data\": {\"fixture\": \"${2-}\"}}"
    keys=$(curl -s $base/credentials -H "Authorization: Bearer $token")
    secrets=$(jq -r '.credentials | "\(.AccessKeyId):\(.SecretKey)"' <<<"$keys")
    curl -s --aws-sigv4 aws:amz:ap-south-1:s3 --user "$secrets" -T chunk.wav \
        -H "x-amz-security-token: $(jq -r .credentials.SessionToken <<<"$keys")" \
        -H 'x-amz-content-sha256: UNSIGNED-PAYLOAD' \
        "$base/m-prod-voice-record/261129/$1/1.wav"
}
