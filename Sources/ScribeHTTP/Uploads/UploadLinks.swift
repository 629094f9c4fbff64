package import Basics
import Foundation
import HTTPTypes
package import Hummingbird
package import ScribeDomain
import ScribeRuntime

/// Upload link of a protocol session's audio: a URL or a signed form (medscribe.md 2.1.1).
package struct UploadLink: Sendable {
    package let json: JSON
    /// Value of `storage_provider`: only a form has one.
    package let provider: String?

    static func address(_ address: String) -> UploadLink { UploadLink(json: .string(address), provider: nil) }

    /// A signed form for uploads to a folder of a bucket.
    /// - Parameters:
    ///   - url: The address of the bucket.
    ///   - fields: The fields of the form, its signature among them.
    ///   - folder: The key prefix with a slash at its end.
    package static func form(url: String, fields: [String: String], folder: String, transaction: String) -> UploadLink {
        let json: JSON = [
            "uploadData": ["url": .string(url), "fields": .value(.object(fields.mapValues { .string($0) }))],
            "folderPath": .string(folder), "txn_id": .string(transaction),
        ]
        return UploadLink(json: json, provider: "aws")
    }
}

/// Paths at which one family takes the audio of recordings. Other families link to them too.
package struct UploadPaths: Sendable {
    /// Flavours whose apps expect the link as a string, where other flavours expect a form (medscribe.md 2.1.1).
    let flavoursWithoutForm: [String]
    /// The path for files, by the transaction's id in a form for URLs.
    let files: @Sendable (_ transaction: String) -> String
    /// The path for a WebSocket, by its ticket.
    let stream: @Sendable (_ ticket: String) -> String

    package init(
        flavoursWithoutForm: [String], files: @escaping @Sendable (_ transaction: String) -> String,
        stream: @escaping @Sendable (_ ticket: String) -> String
    ) {
        self.flavoursWithoutForm = flavoursWithoutForm
        self.files = files
        self.stream = stream
    }
}

/// Issues upload links, a new one for each request.
package struct UploadLinks: Sendable {
    package static let streamPurpose = "stream"
    /// Time for which the link of a stream is valid, in seconds. Its session ends it before.
    private static let streamLifetime: TimeInterval = 24 * 60 * 60

    private let paths: UploadPaths
    private let credentials: UploadCredentials
    private let tickets: Tickets
    private let origin: LinkOrigin
    private let policies: RecordingPolicies
    private let clock: WorldClock

    package init(_ world: World, _ paths: UploadPaths, origin: LinkOrigin) {
        self.paths = paths
        credentials = world.credentials
        tickets = world.tickets
        policies = world.runtime.policies
        clock = world.runtime.clock
        self.origin = origin
    }

    /// The upload link of a transaction.
    /// - Throws: Errors of signing.
    package func link(
        to transaction: Transaction, for principal: Principal, _ request: Request, _ context: ScribeContext
    ) async throws -> UploadLink {
        let id = transaction.id.rawValue
        let escaped = PercentEncoding.encode(id, keepingSlashes: false)
        let uploadType = policies[transaction.request.kind].uploadType(of: transaction.request)
        if uploadType == .stream {
            let ticket = try tickets.issue(
                Self.streamPurpose, for: id, to: principal, lifetime: Self.streamLifetime)
            return .address(origin.socketBase(of: request, context) + paths.stream(ticket))
        }
        let base = origin.base(of: request, context)
        guard wantsForm(request, uploadType), let location = transaction.request.audioLocation else {
            return .address(base + paths.files(escaped))
        }
        let folder = "\(location.folder)/"
        let form = try await UploadForm(
            bucket: location.bucket, folder: folder, metadata: [:], for: principal, credentials: credentials,
            at: clock.wall.now)
        return .form(
            url: origin.bucketURL(location.bucket, for: request, context), fields: form.fields, folder: folder,
            transaction: id)
    }

    private func wantsForm(_ request: Request, _ uploadType: UploadType) -> Bool {
        let isSecondVersion = request.query["version"]?.lowercased() == "v2"
        if uploadType == .single { return isSecondVersion }
        let flavour = request.headers.value(of: .flavour)?.lowercased() ?? ""
        return isSecondVersion || !flavour.isEmpty && !paths.flavoursWithoutForm.contains(flavour)
    }
}
