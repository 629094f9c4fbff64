import Crypto
import Foundation

/// AWS Signature Version 4, the server's half: what a request claims, and whether its signature bears it out.
struct SigV4: Hashable, Sendable {
    static let algorithm = "AWS4-HMAC-SHA256"

    /// Where the signature was found.
    enum Placement: Hashable, Sendable {
        case header
        /// Valid for this many seconds after the date.
        case query(expires: Int)
    }

    /// Access key, date, region and service as one signs for them.
    struct Scope: Hashable, Sendable {
        let accessKeyID: String
        let day: String
        let region: String
        let service: String

        /// In bytes: keys and regions are words.
        private static let longestCredential = 256

        /// Reads `AKID/20260510/ap-south-1/s3/aws4_request`.
        init?(_ credential: String) {
            let parts = credential.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 5, parts[4] == "aws4_request", !parts[0].isEmpty,
                credential.utf8.count <= Self.longestCredential
            else { return nil }
            (accessKeyID, day, region, service) = (parts[0], parts[1], parts[2], parts[3])
        }

        var text: String { "\(day)/\(region)/\(service)/aws4_request" }

        /// The key that a secret gives for this scope.
        func signingKey(secret: String) -> SymmetricKey {
            [day, region, service, "aws4_request"].reduce(SymmetricKey(data: Data("AWS4\(secret)".utf8))) {
                SymmetricKey(data: HMAC<SHA256>.authenticationCode(for: Data($1.utf8), using: $0))
            }
        }
    }

    let placement: Placement
    let scope: Scope
    /// As signed: `yyyyMMdd'T'HHmmss'Z'`.
    let timestamp: String
    /// Lower-case names in order.
    let signedHeaders: [String]
    let signature: [UInt8]

    /// What is signed, of a request as it arrived.
    struct Message: Sendable {
        let method: String
        /// Still percent-encoded.
        let path: String
        /// Still percent-encoded, without the question mark.
        let query: String
        /// The value of a header by its lower-case name; several with one name are joined with commas.
        let header: @Sendable (String) -> String?
    }

    /// Whether `key` made this signature over `message`.
    func isValid(for message: Message, payloadHash: String, key: SymmetricKey) -> Bool {
        guard let request = canonicalRequest(message, payloadHash: payloadHash) else { return false }
        let digest = Hex.encode(SHA256.hash(data: Data(request.utf8)))
        let text = "\(Self.algorithm)\n\(timestamp)\n\(scope.text)\n\(digest)"
        return HMAC<SHA256>.isValidAuthenticationCode(signature, authenticating: Data(text.utf8), using: key)
    }

    /// nil when a signed header is missing, or escapes are broken.
    func canonicalRequest(_ message: Message, payloadHash: String) -> String? {
        guard let path = PercentEncoding.decode(message.path),
            let query = SigV4Query(message.query)?.canonical
        else { return nil }
        var headers = ""
        for name in signedHeaders {
            guard let value = message.header(name) else { return nil }
            headers += "\(name):\(Self.singleSpaced(value))\n"
        }
        return [
            message.method, PercentEncoding.encode(path.isEmpty ? "/" : path, keepingSlashes: true), query, headers,
            signedHeaders.joined(separator: ";"), payloadHash,
        ].joined(separator: "\n")
    }

    /// By bytes: a session's token is long, and characters are slow to tell apart.
    private static func singleSpaced(_ value: String) -> String {
        value.utf8.split(separator: UInt8(ascii: " ")).map { String(Substring($0)) }.joined(separator: " ")
    }

    /// When the request was signed, nil for a time that there is not, such as the 30th of February.
    var date: Date? {
        let text = Array(timestamp.utf8)
        guard text.count == 16, timestamp.prefix(8) == scope.day, text[8] == UInt8(ascii: "T"),
            text[15] == UInt8(ascii: "Z"), (text[..<8] + text[9..<15]).allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        func number(_ range: Range<Int>) -> Int32 { text[range].reduce(0) { $0 * 10 + Int32($1 - 0x30) } }
        var time = tm()
        (time.tm_year, time.tm_mon, time.tm_mday) = (number(0..<4) - 1900, number(4..<6) - 1, number(6..<8))
        (time.tm_hour, time.tm_min, time.tm_sec) = (number(9..<11), number(11..<13), number(13..<15))
        let written = time
        // It turns what is too large into the next minute, day, or month.
        let seconds = timegm(&time)
        guard time.tm_mon == written.tm_mon, time.tm_mday == written.tm_mday, time.tm_hour == written.tm_hour,
            time.tm_min == written.tm_min, time.tm_sec == written.tm_sec, seconds >= 0
        else { return nil }
        return Date(timeIntervalSince1970: TimeInterval(seconds))
    }
}

/// The query of a signed request.
struct SigV4Query: Sendable {
    private let parameters: [(name: String, value: String)]

    /// nil for broken escapes.
    init?(_ query: String) {
        var parameters: [(String, String)] = []
        for part in query.split(separator: "&") {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = PercentEncoding.decode(pair[0]),
                let value = pair.count == 2 ? PercentEncoding.decode(pair[1]) : ""
            else { return nil }
            parameters.append((name, value))
        }
        self.parameters = parameters
    }

    var names: [String] { parameters.map(\.name) }

    subscript(name: String) -> String? { parameters.first { $0.name == name }?.value }

    /// Sorted, for the AWS SDK for iOS does not (eka-v2.md 10.6), and without the signature itself.
    var canonical: String {
        parameters.filter { $0.name != "X-Amz-Signature" }
            .map {
                (
                    PercentEncoding.encode($0.name, keepingSlashes: false),
                    PercentEncoding.encode($0.value, keepingSlashes: false)
                )
            }
            .sorted { $0 < $1 }
            .map { "\($0)=\($1)" }
            .joined(separator: "&")
    }
}

/// Lower-case hex.
enum Hex {
    static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        for byte in bytes {
            text.append(digit(byte >> 4))
            text.append(digit(byte & 15))
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }

    static func decode(_ text: some StringProtocol) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        for position in stride(from: 0, to: digits.count, by: 2) {
            guard let high = value(digits[position]), let low = value(digits[position + 1]) else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    /// Of a digit, in lower or upper case.
    static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
