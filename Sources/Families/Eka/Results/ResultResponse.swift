import Basics
import Foundation
import HTTPTypes
import ScribeDomain
import ScribeHTTP

/// Encodes the answer to a poll in the shape that all SDKs decode (eka.md section 5).
struct ResultResponse {
    let status: HTTPResponse.Status
    let json: JSON

    init(
        _ transaction: Transaction, _ documents: [ResultDocument], _ query: ResultQuery, _ profile: ClientProfile
    ) {
        var listed: [ResultDocument]? = documents
        var word: String?
        var error: JSON?
        switch documents.outcome {
        case .inProgress where !query.isImmediate:
            status = .accepted
            // Usually no list at all: an older iOS SDK takes an empty list for the end (C-44).
            listed = profile.hasListsWhilePending ? [] : nil
        case .inProgress: (status, word) = (.ok, "in-progress")
        case .success: (status, word) = (.ok, "success")
        case .partial: (status, word) = (query.isImmediate ? .ok : .partialContent, "partial_success")
        case .failure:
            (status, word) = (query.isImmediate ? .ok : .init(code: profile.allFailedStatus), "failed")
            if status.code >= 500 { error = Self.error(of: documents) }
        }
        let data: JSON = [
            "created_at": .string(transaction.createdAt.apiTime),
            "additional_data": .value(transaction.request.additionalData ?? .object([:])),
        ]
        let lists = listed.map { Self.lists(of: $0, transaction, profile) } ?? [:]
        json = ["data": data.adding(lists), "status": word.map(JSON.string), "error": error]
    }

    /// The error of a failed transaction: the web SDKs pass nothing else to their app.
    private static func error(of documents: [ResultDocument]) -> JSON {
        let message = JSON.string(documents.lazy.flatMap(\.errors).first?.message ?? "No output is available")
        return ["code": "output_not_available", "msg": message, "message": message, "display_message": message]
    }

    /// The lists of results. A note is in `output`, which some SDKs read (C-31), and in its kind's list, which others
    /// read (C-32).
    private static func lists(
        of documents: [ResultDocument], _ transaction: Transaction, _ profile: ClientProfile
    ) -> JSON {
        let items = documents.map { (kind: $0.shownKind, json: $0.json(in: transaction.id, for: profile)) }
        func list(_ kinds: Set<ResultDocument.Kind>) -> JSON {
            .array(items.filter { kinds.contains($0.kind) }.map(\.json))
        }
        // Notes and contexts appear only if the client asked for one by its id.
        let written: Set<ResultDocument.Kind> = [.custom, .notes, .context]
        return [
            "output": list(written.union([.integration])),
            "template_results": [
                "custom": list(written), "integration": list([.integration]), "transcript": list([.transcript]),
            ],
            "audio_matrix": transaction.audioMatrix,
        ]
    }
}

extension Transaction {
    /// `audio_matrix`: the quality of the audio from 0 to 1, in thousandths.
    ///
    /// Before the measurement it is an empty object, never a string (C-53).
    var audioMatrix: JSON { ["quality": audioQuality.map { .number($0.inThousandths) }] }
}

extension ResultDocument {
    /// Encodes the document as SDKs decode it (eka.md 5.1).
    fileprivate func json(in transaction: TransactionID, for profile: ClientProfile) -> JSON {
        let content = status.isFinal ? value : nil
        return [
            "template_id": .string(templateID.rawValue),
            "document_id": .string(id.rawValue),
            "document_type": .string(shownKind.rawValue),
            "type": .string(format.rawValue),
            "name": .string(name),
            "status": .string(statusWord(for: profile)),
            // Standard base64, padded, in one line (C-55); null without a value, never an object (C-43).
            "value": content.map { JSON.string(Data($0.utf8).base64EncodedString()) }.orNull,
            "lang": language.map(JSON.string),
            "document_path": id.path(in: transaction),
            "errors": .array(errors) { $0.json("error", for: profile) },
            "warnings": .array(warnings) { $0.json("warning", for: profile) },
        ]
    }

    private func statusWord(for profile: ClientProfile) -> String {
        switch status {
        case .failure: profile.failureWord
        case .partialSuccess where !profile.knowsPartialSuccess: Status.success.rawValue
        case .inProgress, .success, .partialSuccess: status.rawValue
        }
    }
}

extension Diagnostic {
    fileprivate func json(_ type: String, for profile: ClientProfile) -> JSON {
        profile.tellsDiagnosticsAsText
            ? .string(message)
            : ["type": .string(type), "code": .string(code.rawValue), "msg": .string(message)]
    }
}
