import Basics
import HTTPTypes
import Journal
import NIOCore
import ScribeDomain
import ScribeHTTP

/// Exchanges as commands for a shell.
extension ConsoleFamily {
    /// Fields of curl itself, and cookies: the journal masks their values.
    private static let ownFields: Set = [
        "host", "content-length", "transfer-encoding", "connection", "accept-encoding", "user-agent", "accept",
        "cookie",
        "expect",
    ]
    /// Fields of an AWS signature, which curl makes anew.
    private static let signatureFields: Set = [
        "authorization", "x-amz-date", "x-amz-content-sha256", "x-amz-security-token", "amz-sdk-invocation-id",
        "amz-sdk-request",
    ]

    /// The request as a command for a shell, to this server. Secrets that were masked have to be filled in.
    func curl(_ shown: ShownExchange, _ pageRequest: PageRequest) -> String {
        let base = origin.base(of: pageRequest.request, pageRequest.context)
        let method = shown.request.method.rawValue
        let path = (shown.path ?? "") + (shown.query.map { "?\($0)" } ?? "")
        let url = Self.quoted("\(base)\(shown.exchange.prefix)\(path)")
        let isWord = method.utf8.allSatisfy { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 }
        let verb = method == "HEAD" ? "-I" : "-X \(isWord ? method : Self.quoted(method))"
        var parts = ["curl -g --path-as-is \(verb) \(url)"]
        var login = ""
        let region = Self.signedRegion(of: shown)
        if let region {
            parts.append("--aws-sigv4 \(Self.quoted("aws:amz:\(region):s3"))")
            parts.append("--user \"$AWS_ACCESS_KEY_ID:$AWS_SECRET_ACCESS_KEY\"")
            parts.append("-H \"x-amz-security-token: $AWS_SESSION_TOKEN\"")
            login =
                "# the three AWS_ variables: credentials as \(base)\(shown.exchange.prefix)/credentials gives them\n"
        }
        for field in shown.requestFields where !Self.ownFields.contains(field.name.canonicalName) {
            if region != nil, Self.signatureFields.contains(field.name.canonicalName) { continue }
            let (name, text) = (field.name.rawName, SecretMask.value(of: field))
            if field.name == .authorization {
                let isKey = text.hasPrefix("Token ")
                parts.append("-H \"Authorization: \(isKey ? "Token" : "Bearer") $TOKEN\"")
                login = isKey ? "# TOKEN: an API key of the client\n" : self.login(of: shown, base)
            } else {
                parts.append("-H \(Self.quoted(text.isEmpty ? "\(name);" : "\(name): \(text)"))")
            }
        }
        if shown.exchange.kind == .socket {
            let address = base.replacing("http", with: "ws", maxReplacements: 1)
            let url = Self.quoted("\(address)\(shown.exchange.prefix)\(path)")
            let fields = parts.dropFirst().filter {
                !$0.lowercased().contains("sec-websocket-") && !$0.contains("pgrade")
            }
            return ([login + "websocat \(url)"] + fields).joined(separator: " \\\n  ")
        }
        let body = shown.requestBody
        if let body, let text = body.shownText {
            // Not `-d`, which reads a file after an at sign.
            parts.append("--data-raw \(Self.quoted(text))")
            if body.isTruncated || text.contains(" characters of base64)") {
                parts.append("# the journal has only a part of the body")
            }
        } else if body != nil {
            parts.append("--data-binary @FILE   # the journal has no body that is no text")
        } else if ["POST", "PUT", "PATCH"].contains(method) {
            parts.append("# without the body, if it had one: the server did not read it")
        }
        let command = parts.joined(separator: " \\\n  ")
        let note = command.contains(SecretMask.mark) ? "# \(SecretMask.mark) stands for what the journal masks\n" : ""
        return login + note + command
    }

    /// Region of a request's AWS signature; nil for a request without one.
    private static func signedRegion(of shown: ShownExchange) -> String? {
        let words = shown.request.headerFields[.authorization]?.split(separator: "Credential=").last?.split(
            separator: "/")
        guard shown.request.headerFields[.authorization]?.hasPrefix("AWS4-HMAC-SHA256") == true, let words,
            words.count > 3
        else { return nil }
        return String(words[2])
    }

    /// The command that gets an access token of the request's client. Only the demo's secret is known.
    private func login(of shown: ShownExchange, _ base: String) -> String {
        guard let client = shown.exchange.principal?.client else { return "# TOKEN: an access token of a client\n" }
        let isDemo = client == settings.demo && shown.exchange.prefix.isEmpty
        let place = base + shown.exchange.prefix
        return Self.login(of: client.rawValue, isDemo ? settings.demoSecret : nil, at: place) + "\n"
    }

    /// The command that gets an access token of a client.
    /// - Parameter secret: nil for one that is not known.
    static func login(of client: String?, _ secret: String?, at base: String) -> String {
        let body = JSON.object([
            ("client_id", .string(client ?? "…")), ("client_secret", .string(secret ?? "…")),
        ])
        let words = quoted(String(decoding: body.bytes, as: UTF8.self))
        return "TOKEN=$(curl -s \(quoted("\(base)/connect-auth/v1/account/login")) --data-raw \(words) \\\n"
            + #"  | sed 's/.*"access_token": *"\([^"]*\)".*/\1/')"#
    }

    /// An attempt at a delivery as a command that posts the same bytes to its receiver; nil for one without an address.
    ///
    /// The message of an event has no secret but its signature, which fits this body only: it is shown, so that the
    /// receiver accepts the command. What a callback sends is the client's, and stays masked.
    static func curl(_ delivery: Exchange) -> String? {
        let request = delivery.request
        guard let scheme = request.scheme, let authority = request.authority, let path = request.path else {
            return nil
        }
        let isEvent = delivery.delivery?.event != nil
        let url = "\(scheme)://\(authority)\(SecretMask.text(path))"
        var parts = ["curl -g --path-as-is -X \(quoted(request.method.rawValue)) \(quoted(url))"]
        for field in request.headerFields {
            let text = isEvent ? field.value : SecretMask.value(of: field)
            parts.append("-H \(quoted("\(field.name.rawName): \(text)"))")
        }
        if let body = delivery.requestBody, body.size > 0 {
            if let bytes = body.text, !body.isTruncated {
                let text = String(buffer: bytes)
                parts.append("--data-raw \(quoted(isEvent ? text : SecretMask.text(text)))")
            } else {
                parts.append("--data-binary @FILE   # the journal has only a part of the body")
            }
        }
        if delivery.delivery?.isSignedWrongly == true { parts.append("# signed with another key, by a fault rule") }
        return parts.joined(separator: " \\\n  ")
    }

    /// Text as one word of a shell, scalar by scalar: a character that joins its neighbour hides no quote.
    static func quoted(_ text: String) -> String {
        var quoted = String.UnicodeScalarView("'".unicodeScalars)
        for scalar in text.unicodeScalars {
            if scalar == "'" {
                quoted.append(contentsOf: #"'\''"#.unicodeScalars)
            } else if scalar.value != 0 {
                quoted.append(scalar)
            }
        }
        quoted.append("'")
        return String(quoted)
    }
}
