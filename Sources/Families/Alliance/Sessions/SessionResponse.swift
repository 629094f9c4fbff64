import Basics
import Foundation
import ScribeDomain
import ScribeHTTP
import ScribeRuntime

/// Encodes a protocol session as its client reads it (medscribe.md 2.2).
///
/// Unknown optional members are left out: the web SDK rejects null (row 47).
struct SessionResponse {
    let found: ProtocolSessions.Contents
    let state: SessionState
    let link: UploadLink
    /// End of the session's lifetime.
    let expiry: Date

    var json: JSON {
        let (transaction, request) = (found.transaction, found.transaction.request)
        let answer: JSON = [
            "session_id": .string(transaction.id.rawValue), "status": .string(state.word),
            "created_at": .string(transaction.createdAt.apiTime), "expires_at": .string(expiry.apiTime),
            "audio_files_received": .integer(found.files.count), "audio_files": .array(found.files, JSON.string),
            "additional_data": .value(additionalData), "patient_details": request.patientDetails.map(JSON.value),
            "transcript": found.transcript.map(JSON.string).orNull,
        ]
        if state == .expired {
            return answer.adding([
                "expired_at": .string(expiry.apiTime),
                "message": "The session was never ended, and its time is over",
                // An empty list: an object fails validation in both SDKs, which hides the message (row 46).
                "templates": [],
            ])
        }
        let linked = answer.adding([
            "upload_url": link.json, "storage_provider": link.provider.map(JSON.string),
        ])
        guard state.isFinal else { return linked }
        // A cancelled session never gets notes.
        let notes = state == .cancelled ? [] : found.documents.filter { $0.kind != .transcript }
        let problems = found.documents.flatMap(\.errors)
        // Audio that could not be recognised is a warning of what was made of the rest.
        let all = (problems + found.documents.flatMap(\.warnings)).filter { !$0.code.isMild }.removingDuplicates()
        return linked.adding([
            "completed_at": (transaction.processedAt?.apiTime).map(JSON.string).orNull,
            "model_used": .string(request.modelType ?? "pro"),
            "language_detected": .string(String((request.inputLanguages.first ?? "en").prefix(2))),
            "audio_files_processed": .integer(found.files.count),
            "templates": .array(notes) { [$0.templateID.rawValue: $0.json] },
            "processing_errors": state == .partial
                ? .array(all) { ["type": .string($0.code.rawValue), "message": .string($0.message)] } : nil,
            "error": failure(problems.first),
        ])
    }

    private func failure(_ problem: Diagnostic?) -> JSON? {
        switch state {
        case .failed:
            [
                "code": .string(problem?.code.rawValue ?? "processing_failed"),
                "message": .string(problem?.message ?? "The session could not be processed"),
            ]
        case .cancelled: ["code": "cancelled", "message": "The session was cancelled"]
        case .initialized, .recording, .expired, .processing, .completed, .partial: nil
        }
    }

    /// The client's own data, with the session's starting terms under `_protocol`.
    private var additionalData: JSONValue {
        var members: [String: JSONValue] = [:]
        if case .object(let own)? = found.transaction.request.additionalData { members = own }
        let request = found.transaction.request
        let uploadType = request.sessionUploadType
        members["_protocol"] = .object([
            "version": .string("0.1"), "upload_type": .string(uploadType.rawValue),
            "communication_protocol": .string(uploadType.protocolName),
            "requested_templates": .array(request.templates.map { .string($0.id.rawValue) }),
        ])
        return .object(members)
    }
}

extension ResultDocument {
    /// Encodes one result of a protocol session.
    fileprivate var json: JSON {
        [
            "status": .string(status.rawValue), "data": status.isUsable ? content : .null,
            "document_id": .string(id.rawValue), "document_type": .string(shownKind.rawValue),
            "errors": .array(errors, \.json), "warnings": .array(warnings, \.json), "publish": [:],
            "error": errors.first?.json,
        ]
    }

    /// The document's value: parsed if the value is a JSON object or array, else as text.
    private var content: JSON {
        let text = value ?? ""
        let first = text.utf8.first { $0 > 0x20 }
        guard first == UInt8(ascii: "{") || first == UInt8(ascii: "["),
            let value = JSONDocument.untrusted(Data(text.utf8), as: JSONValue.self)
        else { return .string(text) }
        return .value(value)
    }
}

extension Diagnostic {
    fileprivate var json: JSON {
        ["type": .string(code.rawValue), "code": .string(code.rawValue), "message": .string(message)]
    }
}
