import Basics
import Foundation
import HTTPTypes
import Testing

@testable import Journal

/// Credentials in the texts that the journal shows.
struct SecretMaskTests {
    @Test(
        "the journal masks a credential by its name, in every format",
        arguments: [
            (#"{"client_secret":"hush","name":"Ada"}"#, #"{"client_secret":"***","name":"Ada"}"#),
            (#"{"access_token" : "hush", "expires_in": 5}"#, #"{"access_token" : "***", "expires_in": 5}"#),
            (#"{"api_keys":["a"],"x-api-key":"hush"}"#, #"{"api_keys":["a"],"x-api-key":"***"}"#),
            (#"{"signing_key":"hush","sharing_key":"hush"}"#, #"{"signing_key":"***","sharing_key":"***"}"#),
            (#"{"refreshToken":null,"token":7}"#, #"{"refreshToken":null,"token":"***"}"#),
            (#"{"tokens":{"idToken":"hush"}}"#, #"{"tokens":{"idToken":"***"}}"#),
            (#"{"secret":["hush","hush"],"a":1}"#, #"{"secret":["***","***"],"a":1}"#),
            (#"{"client_secre\u0074":"hush","n":1}"#, #"{"client_secre\u0074":"***","n":1}"#),
            (#"{"i":"{\"\\u0074oken\":\"hush\"}"}"#, #"{"i":"{\"\\u0074oken\":\"***\"}"}"#),
            (#"{"secret":{"value":"hush","n":[7]},"a":1}"#, #"{"secret":{"***":"***","***":["***"]},"a":1}"#),
            ("<Token><![CDATA[hush]]></Token><Key>a</Key>", "<Token><![CDATA[***]]></Token><Key>a</Key>"),
            (#"{"token":"a\"hush","b":1}"#, #"{"token":"***","b":1}"#),
            (#"{"inner":"{\"token\":\"hush\",\"n\":1}"}"#, #"{"inner":"{\"token\":\"***\",\"n\":1}"}"#),
            (#"{"token":"hush without an end"#, #"{"token":"***"#),
            ("grant=x&client_secret=hush&name=Ada", "grant=x&client_secret=***&name=Ada"),
            ("<SessionToken>hush</SessionToken><Key>a</Key>", "<SessionToken>***</SessionToken><Key>a</Key>"),
            ("/a?X-Amz-Signature=hush&X-Amz-Date=1", "/a?X-Amz-Signature=***&X-Amz-Date=1"),
            (#"{"url":"http://a/b?token=hush&x=1"}"#, #"{"url":"http://a/b?token=***&x=1"}"#),
            (
                "name=\"x-amz-signature\"\r\n\r\nhush\r\n--b\r\nname=\"key\"\r\n\r\nk\r\n",
                "name=\"x-amz-signature\"\r\n\r\n***\r\n--b\r\nname=\"key\"\r\n\r\nk\r\n"
            ),
            ("Authorization: Bearer hush\r\nAccept: a", "Authorization: ***\r\nAccept: a"),
            (#"{"token":"abc\\","mode":"c"}"#, #"{"token":"***","mode":"c"}"#),
            (#"{"note":"my password: hush","mode":"c"}"#, #"{"note":"my password: ***","mode":"c"}"#),
            (#"{"user_code":"HUSH-1"}"#, #"{"user_code":"***"}"#),
            ("token=a,hush;more'&x=1", "token=***&x=1"), ("token[]=hush&x=1", "token[]=***&x=1"),
            ("next=http%3A%2F%2Fx%2F%3Ftoken%3Dhush", "next=http%3A%2F%2Fx%2F%3Ftoken%3D***"),
            (#"{"url":"http://me:hush@host/a"}"#, #"{"url":"http://***@host/a"}"#),
            ("callback=https%3A%2F%2Fme%3Ahush%40host%2Fa&x=1", "callback=https%3A%2F%2F***%40host%2Fa&x=1"),
            ("callback=http:%2f%2fme:hush%40host", "callback=http:%2f%2fme:hush%40host"),
            ("callback=http%3a%2f%2fhost%2fa%40b", "callback=http%3a%2f%2fhost%2fa%40b"),
            ("extra=callback_secret%3Ahush&extra=visit%3A7", "extra=callback_secret%3A***&extra=visit%3A7"),
            (#"{"total_tokens":5,"token_type":"bearer"}"#, #"{"total_tokens":5,"token_type":"bearer"}"#),
        ])
    func names(text: String, shown: String) {
        #expect(SecretMask.text(text) == shown)
    }

    @Test(
        "the journal masks signed tokens and namespace credentials by their form",
        arguments: [
            ("/voice/v1/audio/eyJhbGciOiJIUzI1NiJ9.c2lnbmF0dXJl/x", "/voice/v1/audio/***/x"),
            ("I say eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc_-1 here", "I say *** here"),
            ("ns_one_eyJwdXJwb3NlIjoiYSJ9.abc", "***"),
            ("ns_one_5f0c9a", "***"),
            ("the word eyJ alone", "the word eyJ alone"),
        ])
    func forms(text: String, shown: String) {
        #expect(SecretMask.text(text) == shown)
    }

    @Test(
        "the journal masks a secret of this server wherever it stands",
        arguments: [
            ("I say SECRET here", "I say *** here"), (#"{"note":"two\nSECRET lines"}"#, #"{"note":"two\n*** lines"}"#),
            ("/files/SECRET/x?q=a+SECRET", "/files/***/x?q=a+***"), (#"{"SECRET":1}"#, #"{"***":1}"#),
            ("<Key>pre-SECRET</Key>", "<Key>pre-***</Key>"), ("abcSECRETdef", "abc***def"),
        ])
    func issued(text: String, shown: String) {
        let secret = IssuedSecret.text((1...16).map { UInt8($0 * 13) })
        #expect(SecretMask.text(text.replacing("SECRET", with: secret)) == shown)
        // Any other word of this form is shown, such as a commit's hash.
        let other = secret.dropLast() + (secret.last == "0" ? "1" : "0")
        let plain = text.replacing("SECRET", with: other)
        #expect(SecretMask.text(plain) == plain)
    }

    @Test("the journal shows audio or a picture in base64 as its length")
    func base64() {
        let sound = String(repeating: "AbC+/9", count: 200)
        #expect(SecretMask.text(#"{"a":"\#(sound)","n":1}"#) == #"{"a":"(1200 characters of base64)","n":1}"#)
        // Apple's encoder escapes slashes; mail wraps lines; the last part of a picture is short.
        let escaped = sound.replacing("/", with: #"\/"#)
        #expect(SecretMask.text(#"{"a":"\#(escaped)","n":1}"#) == #"{"a":"(1400 characters of base64)","n":1}"#)
        let line = String(repeating: "AbCd", count: 19)
        for end in ["\r\n", "\n", #"\r\n"#] {
            let wrapped = Array(repeating: line, count: 9).joined(separator: end)
            #expect(!SecretMask.text(#"{"a":"\#(wrapped)"}"#).contains("AbCd"), "\(end)")
        }
        #expect(SecretMask.text(#"{"data":"\#(line)"}"#) == #"{"data":"(76 characters of base64)"}"#)
        #expect(SecretMask.text(#"{"data":"some words"}"#) == #"{"data":"some words"}"#)
    }

    @Test("the journal shows a note in base64 as it was sent, unless it has a credential", arguments: [1, 40])
    func note(repeats: Int) {
        let note = String(repeating: "## Plan\n\n- Paracetamol für ein Jahr\n", count: repeats)
        let sent = Data(note.utf8).base64EncodedString()
        #expect(SecretMask.text(#"{"data":"\#(sent)"}"#) == #"{"data":"\#(sent)"}"#)
        let secret = Data("\(note) token=hush".utf8).base64EncodedString()
        #expect(SecretMask.text(#"{"data":"\#(secret)"}"#).contains("characters of base64"))
    }

    @Test("the journal masks credentials in headers and keeps their scheme")
    func headers() {
        func shown(_ name: String, _ value: String) -> String? {
            HTTPField.Name(name).map { SecretMask.value(of: HTTPField(name: $0, value: value)) }
        }
        #expect(shown("Authorization", "Bearer hush") == "Bearer ***")
        #expect(shown("Authorization", "hush") == "***")
        #expect(shown("Cookie", "sess=hush; a=b") == "***")
        #expect(shown("Set-Cookie", "sess=hush") == "***")
        #expect(shown("auth", "hush") == "***")
        #expect(shown("X-API-Key", "hush") == "***")
        #expect(shown("X-Device-Key", "hush") == "***")
        #expect(shown("Idempotency-Key", "one") == "one")
        #expect(shown("x-amz-security-token", "hush") == "***")
        #expect(shown("X-Eka-Signature", "t=1,v1=hush") == "***")
        #expect(shown("Sec-WebSocket-Protocol", "token, hush") == "token, ***")
        #expect(shown("Sec-WebSocket-Protocol", "hush") == "***")
        #expect(shown("Authorization", "hush words") == "***")
        #expect(shown("X-Hub-Signature-256", "sha256=hush") == "***")
        #expect(shown("Location", "/a?ticket=hush") == "/a?ticket=***")
        #expect(shown("User-Agent", "curl/8") == "curl/8")
    }

    @Test(
        "masking takes time in proportion to the text, and leaves a text without credentials unchanged",
        arguments: [
            "\\", "\"", "token", "token\\", "token:[\\", "token\"", "secret=", "eyJ", "[", "{", "<token>", " ", "é",
            "ns_",
            "token: ", "token[", "://", "data\":\"", "a/", "\\u00", "\\u0074", "token:{", "token>x<![CDATA[", "token\n",
            "token%3D",
        ])
    func hostile(piece: String) {
        // A quadratic scan of so much would take minutes.
        let text = String(repeating: piece, count: 1_000_000 / piece.utf8.count)
        #expect(SecretMask.text("token:[\"" + text).utf8.count <= 3 * text.utf8.count + 100)
        _ = SecretMask.text(text)
        let plain = "The patient said: \"it hurts\", twice = 2 & more <b>"
        #expect(SecretMask.text(plain) == plain)
    }
}
