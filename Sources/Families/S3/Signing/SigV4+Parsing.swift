import Basics
import ScribeHTTP

extension SigV4 {
    /// Parses the signature of a request from its `Authorization` header or, without one, from its query.
    ///
    /// - Returns: nil for an unsigned request.
    /// - Throws: ``S3Error`` for a malformed signature.
    static func read(from message: Message) throws(S3Error) -> SigV4? {
        if let authorization = message.header("authorization"), SigningScope.isSignature(authorization) {
            return try read(authorization: authorization, timestamp: message.header("x-amz-date"))
        }
        guard let query = SigV4Query(message.query) else { throw .invalidURI }
        return try read(query: query)
    }

    private static func read(authorization: String, timestamp: String?) throws(S3Error) -> SigV4 {
        guard authorization.hasPrefix("\(algorithm) ") else {
            throw .invalidRequest("Please use \(algorithm).")
        }
        var (credential, list, digits): (String?, String?, String?)
        for part in Substring(authorization.utf8.dropFirst(algorithm.utf8.count + 1)).split(ascii: ",") {
            // Most clients write a space after each comma.
            let part = part.utf8.first == UInt8(ascii: " ") ? part.dropFirst() : part
            let pair = part.split(ascii: "=", maxSplits: 1)
            guard pair.count == 2 else { continue }
            switch withoutSpaces(pair[0]) {
            case "Credential": credential = withoutSpaces(pair[1])
            case "SignedHeaders": list = withoutSpaces(pair[1])
            case "Signature": digits = withoutSpaces(pair[1])
            default: continue
            }
        }
        guard let scope = credential.flatMap(SigningScope.init), let headers = list.flatMap(names),
            let signature = digits.flatMap({ Hex.decode($0) })
        else { throw .authorizationHeaderMalformed("The authorization header is malformed.") }
        guard let timestamp else {
            throw .accessDenied("AWS authentication requires a valid Date or x-amz-date header")
        }
        return try SigV4(
            placement: .header, scope: scope, timestamp: timestamp, signedHeaders: headers, signature: signature
        ).checked { .authorizationHeaderMalformed($0) }
    }

    private static func withoutSpaces(_ text: Substring) -> String {
        text.contains(ascii: " ") ? text.split(ascii: " ").joined() : String(text)
    }

    private static func read(query: SigV4Query) throws(S3Error) -> SigV4? {
        guard query.names.contains(where: SigningScope.isSignatureParameter) else { return nil }
        guard query["X-Amz-Algorithm"] == algorithm else {
            throw .authorizationQueryParametersError("X-Amz-Algorithm only supports \(algorithm)")
        }
        guard let scope = query["X-Amz-Credential"].flatMap(SigningScope.init), let timestamp = query["X-Amz-Date"],
            let headers = query["X-Amz-SignedHeaders"].flatMap(names),
            let signature = query["X-Amz-Signature"].flatMap({ Hex.decode($0) }),
            let expires = query["X-Amz-Expires"].flatMap(Int.init)
        else {
            throw .authorizationQueryParametersError(
                "Query-string authentication requires the X-Amz-Algorithm, X-Amz-Credential, X-Amz-Signature, "
                    + "X-Amz-Date, X-Amz-SignedHeaders, and X-Amz-Expires parameters."
            )
        }
        guard (0...604_800).contains(expires) else {
            throw .authorizationQueryParametersError("X-Amz-Expires must be between 0 and 604800 seconds")
        }
        return try SigV4(
            placement: .query(expires: expires), scope: scope, timestamp: timestamp, signedHeaders: headers,
            signature: signature
        ).checked { .authorizationQueryParametersError($0) }
    }

    /// Longest list of signed headers, in bytes; some twenty times the usual length.
    private static let longestHeaderList = 2048

    /// Parses the list of signed headers.
    /// - Returns: nil unless the names are sorted and unique. Each header is looked up and copied, so a repeated name
    ///   would cost its value each time.
    private static func names(_ list: String) -> [String]? {
        guard list.utf8.count <= longestHeaderList else { return nil }
        let names = list.lowercased().split(ascii: ";", omittingEmptySubsequences: false).map(String.init)
        let isSorted = zip(names, names.dropFirst()).allSatisfy(<)
        return isSorted && names.first?.isEmpty == false ? names : nil
    }

    private func checked(_ error: (String) -> S3Error) throws(S3Error) -> SigV4 {
        guard scope.service == "s3" else { throw error("The credential's service must be s3.") }
        guard date != nil else { throw error("The date is not valid, or not that of the credential.") }
        guard signedHeaders.contains("host") else { throw .accessDenied("The Host header must be signed.") }
        return self
    }
}
