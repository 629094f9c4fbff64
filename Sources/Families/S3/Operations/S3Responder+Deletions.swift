import HTTPTypes
import Hummingbird
import ScribeDomain
import ScribeHTTP
import ScribeRuntime

extension S3Responder {
    /// Longest body of DeleteObjects, in bytes: 1,000 of the longest keys, half of it escaped.
    private static let deletionLimit = 2 << 20
    /// Most keys of one request.
    private static let deletedKeys = 1000

    /// Deletes an object; succeeds also without one, as S3 does.
    func deleteObject(_ address: S3ObjectAddress, _ business: BusinessID) async throws -> Response {
        try await uploads.delete(bucket: address.bucket, keys: [address.key], of: business)
        return Response(status: .noContent)
    }

    /// Deletes up to 1,000 objects, whose keys an XML document lists.
    func deleteObjects(
        _ request: Request, in bucket: String, _ caller: VerifiedS3Request, _ context: ScribeContext
    ) async throws -> Response {
        let (keys, isQuiet) = try await readDocument(
            "Delete", of: request, caller, upTo: Self.deletionLimit, mustBeProven: true, context
        ) { document in
            let keys = (document?.children(named: "Object") ?? []).map { $0["Key"] ?? "" }
            guard (1...Self.deletedKeys).contains(keys.count), !keys.contains("") else {
                throw S3Error.malformedXML
            }
            return (keys, document?["Quiet"]?.lowercased() == "true")
        }
        var removed: [String] = []
        var refused: [(key: String, S3Error)] = []
        for key in keys {
            if key.utf8.count > S3Address.keyLimit { refused.append((key, .keyTooLong)) } else { removed.append(key) }
        }
        try await uploads.delete(bucket: bucket, keys: removed, of: caller.principal.business)
        let deleted = isQuiet ? [] : removed.map { XMLElement("Deleted", [XMLElement("Key", $0)]) }
        let errors = refused.map { key, error in
            XMLElement(
                "Error", [XMLElement("Key", key), XMLElement("Code", error.code), XMLElement("Message", error.message)])
        }
        return XMLElement("DeleteResult", namespace: XMLElement.s3Namespace, deleted + errors).response(.ok)
    }
}
