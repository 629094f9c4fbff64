import Basics
import Crypto
import Foundation
import ScribeHTTP

/// Verifies AWS Signature Version 4 of a request, on the server's side.
struct SigV4: Hashable, Sendable {
    static let algorithm = SigningScope.algorithm

    /// Place of the signature in the request.
    enum Placement: Hashable, Sendable {
        case header
        /// A presigned URL, valid for `expires` seconds after the signature's date.
        case query(expires: Int)
    }

    let placement: Placement
    let scope: SigningScope
    /// Time of the signature, as signed: `yyyyMMdd'T'HHmmss'Z'`.
    let timestamp: String
    /// Time of the signature; nil for an impossible date, such as 30 February.
    let date: Date?
    /// Signed headers: lower-case names, sorted.
    let signedHeaders: [String]
    let signature: [UInt8]

    init(
        placement: Placement, scope: SigningScope, timestamp: String, signedHeaders: [String], signature: [UInt8]
    ) {
        (self.placement, self.scope, self.timestamp) = (placement, scope, timestamp)
        (self.signedHeaders, self.signature) = (signedHeaders, signature)
        date = Self.date(of: timestamp, on: scope.day)
    }

    /// Whether a header is signed.
    /// - Parameter name: in lower case.
    func signs(_ name: String) -> Bool {
        // The names are sorted, and a client may list many.
        var (low, high) = (0, signedHeaders.count)
        while low < high {
            let middle = (low + high) / 2
            if signedHeaders[middle] < name { low = middle + 1 } else { high = middle }
        }
        return low < signedHeaders.count && signedHeaders[low] == name
    }

    /// The signed parts of a request, as received.
    struct Message: Sendable {
        let method: String
        /// Path, still percent-encoded.
        let path: String
        /// Query, still percent-encoded, without the question mark.
        let query: String
        /// Value of a header by its lower-case name; repeated headers are joined with commas.
        let header: @Sendable (String) -> String?
    }

    /// The strings that the server signed, for comparison with the client's. They contain header values.
    struct Signed: Hashable, Sendable {
        let stringToSign: String
        let canonicalRequest: String
    }

    /// Whether `key` made this signature over `message`.
    func isValid(for message: Message, payloadHash: String, key: SymmetricKey) -> Bool {
        guard let request = canonicalRequest(message, payloadHash: payloadHash) else { return false }
        return HMAC<SHA256>.isValidAuthenticationCode(
            signature, authenticating: Data(stringToSign(request).utf8), using: key)
    }

    /// The strings that the server signs; nil if they cannot be built, or could expose a credential to a page.
    ///
    /// Links may sign `cookie` or `authorization`, and a browser that follows such a link would send its cookies.
    func signed(_ message: Message, payloadHash: String) -> Signed? {
        guard !signedHeaders.contains("cookie"), !signedHeaders.contains("authorization"),
            let request = canonicalRequest(message, payloadHash: payloadHash)
        else { return nil }
        return Signed(
            stringToSign: stringToSign(request), canonicalRequest: String(decoding: request, as: UTF8.self))
    }

    private func stringToSign(_ canonicalRequest: [UInt8]) -> String {
        var hash = SHA256()
        canonicalRequest.withUnsafeBytes { hash.update(bufferPointer: $0) }
        return "\(Self.algorithm)\n\(timestamp)\n\(scope.text)\n\(Hex.encode(hash.finalize()))"
    }

    /// The canonical request's bytes; nil for a missing signed header or broken escapes.
    func canonicalRequest(_ message: Message, payloadHash: String) -> [UInt8]? {
        guard let path = PercentEncoding.decode(message.path),
            let query = SigV4Query(message.query)?.canonical
        else { return nil }
        var request: [UInt8] = []
        request.reserveCapacity(1024)
        func write(_ text: String, _ end: Unicode.Scalar) {
            request += text.utf8
            request.append(UInt8(ascii: end))
        }
        write(message.method, "\n")
        write(PercentEncoding.encode(path.isEmpty ? "/" : path, keepingSlashes: true), "\n")
        write(query, "\n")
        for name in signedHeaders {
            guard let value = message.header(name) else { return nil }
            write(name, ":")
            write(Self.singleSpaced(value), "\n")
        }
        request.append(UInt8(ascii: "\n"))
        for name in signedHeaders { write(name, ";") }
        request[request.endIndex - 1] = UInt8(ascii: "\n")
        request += payloadHash.utf8
        return request
    }

    private static func singleSpaced(_ value: String) -> String {
        value.contains(ascii: " ") ? value.split(ascii: " ").joined(separator: " ") : value
    }

    private static func date(of timestamp: String, on day: String) -> Date? {
        let text = Array(timestamp.utf8)
        guard text.count == 16, text[..<8].elementsEqual(day.utf8), text[8] == UInt8(ascii: "T"),
            text[15] == UInt8(ascii: "Z"), text[..<8].allSatisfy(\.isDigit), text[9..<15].allSatisfy(\.isDigit)
        else { return nil }
        func number(_ range: Range<Int>) -> Int32 { Int32(text[range].number ?? 0) }
        var time = tm()
        (time.tm_year, time.tm_mon, time.tm_mday) = (number(0..<4) - 1900, number(4..<6) - 1, number(6..<8))
        (time.tm_hour, time.tm_min, time.tm_sec) = (number(9..<11), number(11..<13), number(13..<15))
        let written = time
        // `timegm` carries an overflow into the next minute, day or month.
        let seconds = timegm(&time)
        guard time.tm_mon == written.tm_mon, time.tm_mday == written.tm_mday, time.tm_hour == written.tm_hour,
            time.tm_min == written.tm_min, time.tm_sec == written.tm_sec, seconds >= 0
        else { return nil }
        return Date(timeIntervalSince1970: TimeInterval(seconds))
    }
}

/// Parses the query of a signed request.
struct SigV4Query: Sendable {
    private let parameters: [(name: String, value: String)]

    /// Parses a query; nil for broken escapes.
    init?(_ query: String) {
        var parameters: [(String, String)] = []
        for part in query.split(ascii: "&") {
            let pair = part.split(ascii: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = PercentEncoding.decode(pair[0]),
                let value = pair.count == 2 ? PercentEncoding.decode(pair[1]) : ""
            else { return nil }
            parameters.append((name, value))
        }
        self.parameters = parameters
    }

    var names: [String] { parameters.map(\.name) }

    subscript(name: String) -> String? { parameters.first { $0.name == name }?.value }

    /// The canonical query: without the signature, and sorted, since the AWS SDK for iOS does not sort it (eka.md
    /// 10.6).
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
