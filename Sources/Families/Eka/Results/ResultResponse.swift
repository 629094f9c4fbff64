import Foundation
import HTTPTypes
import ScribeDomain
import ScribeHTTP

/// The answer to a poll, in the shape that every client can decode (eka.md section 5).
struct ResultResponse {
    let status: HTTPResponse.Status
    let body: Body

    init(
        _ transaction: Transaction, _ documents: [ResultDocument], _ query: ResultQuery, _ profile: ClientProfile
    ) {
        let outcome = documents.outcome
        var data = ResultData(transaction, for: profile)
        if outcome == .inProgress, !query.isImmediate {
            // Mostly no list at all: an older iOS client takes an empty one for the end (C-44).
            if profile.hasListsWhilePending { data.fill(with: []) }
            status = .accepted
            body = Body(data: data)
            return
        }
        data.fill(with: documents)
        switch outcome {
        case .inProgress:
            status = .ok
            body = Body(data: data, status: "in-progress")
        case .success:
            status = .ok
            body = Body(data: data, status: "success")
        case .partial:
            status = query.isImmediate ? .ok : .partialContent
            body = Body(data: data, status: "partial_success")
        case .failure where query.isImmediate:
            status = .ok
            body = Body(data: data, status: "failed")
        case .failure:
            status = HTTPResponse.Status(code: profile.allFailedStatus)
            body = Body(
                data: data, status: "failed", error: profile.allFailedStatus >= 500 ? Body.Failure(documents) : nil)
        }
    }

    struct Body {
        struct Failure {
            /// Says why: the web SDKs hand their app nothing else.
            let message: String

            init(_ documents: [ResultDocument]) {
                message = documents.lazy.flatMap(\.errors).first?.message ?? "No output is available"
            }
        }

        let data: ResultData
        var status: String?
        var error: Failure?

        /// By hand, as all of this is: a coder takes several times as long, and this is what clients ask for most.
        var json: JSONText {
            var text = JSONText(capacity: 4096)
            text.write("{")
            text.member("data")
            data.write(to: &text)
            if let status {
                text.member("status", string: status)
            }
            if let error {
                text.member("error")
                text.write("{")
                text.member("code", string: "output_not_available")
                for name in ["msg", "message", "display_message"] as [StaticString] {
                    text.member(name, string: error.message)
                }
                text.write("}")
            }
            text.write("}")
            return text
        }
    }
}

/// `data` of a result.
struct ResultData {
    private let transaction: TransactionID
    private let createdAt: String
    private let additionalData: JSONValue
    private let quality: Double?
    private var documents: [ResultDocument]?
    private let profile: ClientProfile

    init(_ transaction: Transaction, for profile: ClientProfile) {
        self.transaction = transaction.id
        self.profile = profile
        createdAt = transaction.createdAt.apiTime
        additionalData = transaction.request.additionalData ?? .object([:])
        quality = transaction.audioQuality
    }

    /// With lists.
    mutating func fill(with documents: [ResultDocument]) { self.documents = documents }

    func write(to text: inout JSONText) {
        text.write("{")
        text.member("created_at", string: createdAt)
        text.member("additional_data")
        text.write(additionalData)
        if let documents { write(documents, to: &text) }
        text.write("}")
    }

    /// Every note goes into `output`, which some clients read (C-31), and into its bucket, which others read (C-32).
    private func write(_ documents: [ResultDocument], to text: inout JSONText) {
        // Notes and contexts are there only for those who ask for one by its id.
        let written: Set<ResultDocument.Kind> = [.custom, .notes, .context]
        func write(_ kinds: Set<ResultDocument.Kind>, to text: inout JSONText) {
            text.write(list: documents.filter { kinds.contains($0.kind) }) {
                ResultItem($1, of: transaction, profile).write(to: &$0)
            }
        }
        text.member("output")
        write(written.union([.integration]), to: &text)
        text.member("template_results")
        text.write("{")
        text.member("custom")
        write(written, to: &text)
        text.member("integration")
        write([.integration], to: &text)
        text.member("transcript")
        write([.transcript], to: &text)
        text.write("}")
        text.member("audio_matrix")
        text.write("{")
        if let quality = AudioMatrix(quality: quality).shown {
            text.member("quality")
            text.write(number: quality)
        }
        text.write("}")
    }
}

/// How the audio was: empty while nobody knows, never a word (C-53).
struct AudioMatrix: Encodable {
    let quality: Double?

    /// In thousandths.
    var shown: Double? { quality.map { ($0 * 1000).rounded() / 1000 } }

    private enum CodingKeys: CodingKey { case quality }

    func encode(to encoder: any Encoder) throws {
        var matrix = encoder.container(keyedBy: CodingKeys.self)
        try matrix.encodeIfPresent(shown, forKey: .quality)
    }
}

/// One result document as clients decode it (eka.md 5.1).
private struct ResultItem {
    let document: ResultDocument
    let transaction: TransactionID
    let profile: ClientProfile

    init(_ document: ResultDocument, of transaction: TransactionID, _ profile: ClientProfile) {
        self.transaction = transaction
        self.document = document
        self.profile = profile
    }

    func write(to text: inout JSONText) {
        text.write("{")
        text.member("template_id", string: document.templateID.rawValue)
        text.member("document_id", string: document.id.rawValue)
        text.member("document_type", string: document.kind.rawValue)
        text.member("type", string: document.format.rawValue)
        text.member("name", string: document.name)
        text.member("status", string: statusWord)
        text.member("value")
        // Standard base64, padded, in one line (C-55); null when there is nothing, never an object (C-43).
        if document.status.isFinal, let value = document.value {
            text.write(string: Data(value.utf8).base64EncodedString())
        } else {
            text.write("null")
        }
        if let language = document.language {
            text.member("lang", string: language)
        }
        text.member("document_path")
        DocumentPath(document.id, of: transaction).write(to: &text)
        text.member("errors")
        write(document.errors, "error", to: &text)
        text.member("warnings")
        write(document.warnings, "warning", to: &text)
        text.write("}")
    }

    private var statusWord: String {
        switch document.status {
        case .failure: profile.failureWord
        case .partialSuccess where !profile.knowsPartialSuccess: ResultDocument.Status.success.rawValue
        case .inProgress, .success, .partialSuccess: document.status.rawValue
        }
    }

    private func write(_ diagnostics: [Diagnostic], _ type: String, to text: inout JSONText) {
        text.write(list: diagnostics) { text, diagnostic in
            switch profile.diagnosticStyle {
            case .objects:
                text.write("{")
                text.member("type", string: type)
                text.member("code", string: diagnostic.code.rawValue)
                text.member("msg", string: diagnostic.message)
                text.write("}")
            case .strings: text.write(string: diagnostic.message)
            }
        }
    }
}
