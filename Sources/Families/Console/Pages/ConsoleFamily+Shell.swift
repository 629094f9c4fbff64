import Basics
import HTTPTypes
import Journal
import NIOCore
import ScribeHTTP

/// Exchanges as commands for a shell.
extension ConsoleFamily {
    /// The request as a command for a shell, to this server. Secrets that were masked have to be filled in.
    func curl(_ entry: RecordingJournal.Entry, _ value: JSONValue, _ pageRequest: PageRequest) -> String {
        let own: Set = [
            "host", "content-length", "transfer-encoding", "connection", "accept-encoding", "user-agent", "accept",
        ]
        let base = origin.base(of: pageRequest.request, pageRequest.context)
        let url = Self.quoted("\(base)\(value["prefix"]?.stringValue ?? "")\(entry.path)")
        let isWord = entry.method.utf8.allSatisfy { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 }
        let method = entry.method == "HEAD" ? "-I" : "-X \(isWord ? entry.method : Self.quoted(entry.method))"
        var parts = ["curl -g --path-as-is \(method) \(url)"]
        for field in value["request"]?["headers"]?.arrayValue ?? [] {
            guard let name = field["name"]?.stringValue, let text = field["value"]?.stringValue,
                !own.contains(name.lowercased())
            else { continue }
            if name.lowercased() == "authorization" {
                parts.append("-H \"Authorization: \(text.hasPrefix("Token ") ? "Token" : "Bearer") $TOKEN\"")
            } else {
                parts.append("-H \(Self.quoted(text.isEmpty ? "\(name);" : "\(name): \(text)"))")
            }
        }
        let body = value["request"]?["body"]
        if let text = body?["text"]?.stringValue {
            // Not `-d`, which reads a file after an at sign.
            parts.append("--data-raw \(Self.quoted(text))")
            if body?["truncated"] != nil || text.contains(" characters of base64)") {
                parts.append("# the journal has only a part of the body")
            }
        } else if body?["size"] != nil {
            parts.append("--data-binary @FILE   # the journal has no body that is no text")
        } else if ["POST", "PUT", "PATCH"].contains(entry.method) {
            parts.append("# without the body, if it had one: the server did not read it")
        }
        return parts.joined(separator: " \\\n  ")
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
