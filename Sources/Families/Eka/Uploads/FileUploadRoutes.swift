import Basics
import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import ScribeDomain
import ScribeHTTP

/// `POST /v1/file-upload`: issues a presigned form for uploads of whole files (eka.md 2.12).
struct FileUploadRoutes: Sendable {
    let credentials: UploadCredentials
    /// Whether fields that only the documentation requires must be present.
    let isStrict: Bool
    let origin: LinkOrigin
    let identifiers: WorldIdentifiers
    let clock: WorldClock

    static func add(to router: WorldRoutes<Self>) {
        router.post("v1/file-upload", use: presign)
    }

    /// Decodes the caller's metadata: its ASCII texts are stored with the files.
    private struct Body: Decodable {
        var metadata: [String: String] = [:]

        init() {}

        init(from decoder: any Decoder) throws {
            guard case .object(let members) = try JSONValue(from: decoder) else {
                throw DecodingError.typeMismatch(
                    [String: JSONValue].self, .init(codingPath: [], debugDescription: "no object"))
            }
            for name in ["mode", "uhid", "hfid"] {
                if let text = members[name]?.stringValue, text.isPlain, text.allSatisfy(\.isASCII) {
                    metadata[name] = text
                }
            }
        }
    }

    @Sendable private func presign(_ request: Request, context: ScribeContext) async throws -> Response {
        let principal = try context.requirePrincipal()
        let query = request.uri.queryParameters
        let transaction = try transaction(query["txn_id"].map(String.init))
        let action = query["action"].map(String.init) ?? ""
        if isStrict, action != "ekascribe-v2" {
            throw ScribeError.invalidRequest(field: "action", problem: "must be ekascribe-v2 (--strict-docs)")
        }
        let body = try await request.decodeOptionalJSON(as: Body.self, in: context) ?? Body()
        let timestamp = SigningScope.timestamp(of: clock.now)
        let folder =
            "\(principal.client)/\(transaction)/\(timestamp.prefix(8))_\(timestamp.dropFirst(9).prefix(6))/"
        var metadata = body.metadata
        if Manifest.startsTransaction(action: action) { metadata["action"] = action }
        let form = try await UploadForm(
            bucket: EkaFamily.batchBucket, folder: folder, metadata: metadata, for: principal,
            credentials: credentials, at: clock.wall.now)
        let link = UploadLink.form(
            url: origin.bucketURL(EkaFamily.batchBucket, for: request, context), fields: form.fields,
            folder: folder, transaction: transaction)
        return try await .longJSON(.ok, link.json)
    }

    /// The transaction id: the caller's, or a new one, since the .NET SDK sends none (C-61).
    private func transaction(_ wanted: String?) throws -> String {
        guard let wanted, !wanted.isEmpty else {
            if isStrict {
                throw ScribeError.invalidRequest(field: "txn_id", problem: "is required (--strict-docs)")
            }
            return identifiers.uuid(.transaction)
        }
        guard TransactionID.isValidFolder(wanted) else {
            throw ScribeError.invalidRequest(field: "txn_id", problem: "is not a transaction id")
        }
        return wanted
    }
}
