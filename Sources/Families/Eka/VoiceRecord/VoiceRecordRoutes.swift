import Basics
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import ObjectStorage
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// Routes of version 1 of the API (eka.md 2.13): status with a FHIR bundle, and an upload without S3.
struct VoiceRecordRoutes: Sendable {
    /// Largest form, in bytes; longer recordings use signed forms.
    private static let uploadLimit = 32 << 20

    let runtime: Runtime

    static func add(to router: WorldRoutes<Self>) {
        router.get("voice-record/api/status/{txn_id}", use: status)
        router.post("voice/upload", use: upload)
        router.get("health/api/v1/fhir/retrieve", use: bundle)
    }

    /// The state of a transaction in version 1's words.
    private static func progress(of results: Transactions.Results) -> String {
        switch results.transaction.userStatus {
        case .cancelled: "deleted"
        case .initialized, .stopped: "queued"
        case .committed:
            switch results.documents.outcome {
            case .inProgress: "inprogress"
            case .success: "completed"
            case .partial: "partial_completed"
            case .failure: "error"
            }
        }
    }

    @Sendable private func status(_ request: Request, context: ScribeContext) async throws -> Response {
        let key = try context.requireTransaction()
        guard let results = try await runtime.store.transactions.results(of: key) else {
            throw ScribeError.transactionNotFound
        }
        let progress = Self.progress(of: results)
        let transcript =
            progress == "inprogress"
            ? nil : results.documents.first { $0.kind == .transcript && $0.status.isUsable }?.value
        let bundle: JSON? =
            if let transcript { try await runtime.fhir(of: results.transaction, transcript) } else { nil }
        let failure = progress == "error" ? results.documents.lazy.flatMap(\.errors).first?.message : nil
        return try await .longJSON(
            .ok,
            [
                "status": .string(progress), "txn_id": .string(key.id.rawValue),
                "data": [
                    "output": [
                        "fhir": bundle.map { .string(Data($0.bytes).base64EncodedString()) }
                    ]
                ],
                "error": failure.map(JSON.string),
            ])
    }

    /// Answers with the FHIR bundle of a transaction, whose id is the care context's identifier.
    @Sendable private func bundle(_ request: Request, context: ScribeContext) async throws -> Response {
        let business = try context.requirePrincipal().business
        guard let identifier = request.uri.queryParameters["identifier"].map(String.init), identifier.isPlain,
            !identifier.isEmpty
        else { throw ScribeError.invalidRequest(field: "identifier", problem: "is required") }
        let results = try await runtime.store.transactions.results(
            of: .init(business: business, id: TransactionID(identifier)))
        guard let results, let transcript = results.documents.first(where: { $0.kind == .transcript }),
            transcript.status.isUsable
        else { throw ScribeError.resourceNotFound("No care context of that identifier") }
        let bundle = try await runtime.fhir(of: results.transaction, transcript.value ?? "")
        return try await .longJSON(.ok, bundle)
    }

    /// Stores the files of the form, and starts a transaction with them.
    @Sendable private func upload(_ request: Request, context: ScribeContext) async throws -> Response {
        let principal = try context.requirePrincipal()
        let id = request.uri.queryParameters["txnid"].map(String.init) ?? runtime.identifiers.uuid(.transaction)
        guard TransactionID.isValidFolder(id) else {
            throw ScribeError.invalidRequest(field: "txnid", problem: "is not a transaction id")
        }
        let key = Transaction.Key(business: principal.business, id: TransactionID(id))
        if try await runtime.store.transactions.transaction(key) != nil {
            throw ScribeError.transactionAlreadyInitialized
        }
        let folder = "\(principal.client)/\(id)/\(runtime.identifiers.uuid(.upload))"
        var names: [String] = []
        do {
            try await keepFiles(of: request, in: folder, principal, &names)
            guard !names.isEmpty else { throw ScribeError.invalidRequest(field: "file", problem: "is required") }
            try await start(key.id, names, in: folder, request, principal)
        } catch {
            // Another attempt uses another folder, so these files would never be read.
            try? await runtime.uploads.delete(
                bucket: EkaFamily.batchBucket, keys: names.map { "\(folder)/\($0)" }, of: principal.business)
            throw error
        }
        return .json(.ok, .success("Audio uploaded successfully", key))
    }

    /// Stores the files of a form as they arrive.
    private func keepFiles(
        of request: Request, in folder: String, _ principal: Principal, _ names: inout [String]
    ) async throws {
        guard var form = FormReader(request, limit: Self.uploadLimit) else {
            throw ScribeError.invalidRequest(field: nil, problem: "must be multipart/form-data")
        }
        do {
            while let event = try await form.next() {
                guard case .part(let part) = event, part.fileName != nil else { continue }
                let name = Self.name(of: part, besides: names)
                try await keep(part, of: &form, as: "\(folder)/\(name)", of: principal)
                names.append(name)
            }
        } catch is FormDecoder.Malformed {
            throw ScribeError.invalidRequest(
                field: nil, problem: "must be a whole multipart/form-data form of 100 parts at most")
        }
    }

    private func start(
        _ id: TransactionID, _ names: [String], in folder: String, _ request: Request, _ principal: Principal
    ) async throws {
        let wanted = TransactionRequest(
            transfer: .nonVaded, mode: request.uri.queryParameters["mode"].map(String.init),
            audioURL: AudioLocation(bucket: EkaFamily.batchBucket, folder: folder).url, announcedFiles: names,
            flavour: request.headers.value(of: .flavour) ?? "")
        _ = try await runtime.transactions.start(id, wanted, for: principal)
    }

    /// The sender's file name. A number replaces an unusable name, and precedes a name already taken.
    private static func name(of part: FormPart, besides taken: [String]) -> String {
        let number = taken.count + 1
        guard let name = part.baseName, name.isPlain, !["", ".", ".."].contains(name), name.utf8.count <= 255 else {
            return "\(number)"
        }
        return taken.contains(name) ? "\(number)-\(name)" : name
    }

    private func keep(
        _ part: FormPart, of form: inout FormReader, as key: String, of principal: Principal
    ) async throws {
        try await runtime.uploads.receive(for: principal.business) { file in
            while let data = try await form.data() { try await file.write(data) }
            let written = try await file.finish()
            let object = StoredObject(
                bucket: EkaFamily.batchBucket, key: key, file: file.name, size: written.size,
                eTag: Hex.encode(written.md5), headers: part.contentType.map { ["content-type": $0] } ?? [:],
                createdAt: runtime.clock.now)
            try await runtime.uploads.keep(&file, as: object, for: principal)
        }
    }
}
