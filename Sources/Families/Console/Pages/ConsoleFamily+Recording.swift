import Basics
import Foundation
import HTTPTypes
import Hummingbird
import Lint
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// One recording: its timeline, audio, results and exchanges.
extension ConsoleFamily {
    /// Most exchanges on the page.
    private static let maxExchanges = 200
    /// Most lines of the timeline, and most files with their sound.
    private static let maxLines = 500
    private static let maxFiles = 100

    func recording(_ business: Substring, _ id: Substring, _ pageRequest: PageRequest) async throws -> Page {
        guard let business = PercentEncoding.decode(business), let id = PercentEncoding.decode(id),
            TransactionID.isValid(id)
        else { throw ConsoleError.notFound }
        let key = Transaction.Key(business: BusinessID(business), id: TransactionID(id))
        let store = pageRequest.context.world.runtime.store
        guard let timeline = try await store.timeline(of: key) else { throw ConsoleError.notFound }
        let documents = (try await store.results(of: key)?.documents ?? [])
        let found = try await control.read(
            "requests?limit=\(Self.maxExchanges)&transaction=\(PercentEncoding.encode(id, keepingSlashes: false))",
            for: pageRequest.request, pageRequest.context)
        let journal = RecordingJournal(
            found.status == .ok ? found.body : nil, offset: pageRequest.context.world.runtime.clock.offset)
        let transaction = timeline.transaction
        let findings = try await lint(.init(transaction: key.id, business: key.business), pageRequest)
        let state = RecordingState(
            of: .init(transaction, files: timeline.files.count, documents), at: pageRequest.now)
        let details = transaction.request.patientDetails
        let name = details?["username"]?.stringValue ?? details?["name"]?.stringValue ?? ""
        let shownName = settings.showsWords ? (name.isEmpty ? "No name given" : name) : id
        let link = Self.recordingLink(key)
        let base = transaction.createdAt
        let act = "transactions/\(PercentEncoding.encode(id, keepingSlashes: false))"
        let suffix = "?business=\(PercentEncoding.encode(business, keepingSlashes: false))"
        let refused = journal.refusedUploads
        let sounds = Self.sounds(timeline)
        let isCancelled = transaction.processingStatus == .cancelled
        let fhir = try await fhir(of: transaction, documents, pageRequest)
        return Page(
            key: "consultations", title: shownName, template: "consultation",
            model: [
                "name": shownName, "id": id, "business": business, "kind": state.kind.rawValue,
                "word": state.kind.word, "problem": state.problem ?? "", "advice": state.advice ?? "",
                "hasProblem": state.problem != nil, "isBad": state.kind == .failed,
                "visit": settings.showsWords ? details?["visit_id"]?.stringValue ?? "" : "",
                "family": settings.kinds[timeline.kind] ?? timeline.kind.rawValue,
                "flavour": transaction.request.flavour, "client": transaction.owner.client.rawValue,
                "began": base.apiTime, "files": sounds.count == 1 ? "1 file" : "\(sounds.count) files",
                "bytes": Self.size(sounds.total(\.size)),
                "mode": transaction.request.mode ?? "",
                "languages": transaction.request.inputLanguages.joined(separator: ", "),
                "refused": refused.isEmpty ? "" : Self.refusalSentence(refused), "hasRefused": !refused.isEmpty,
                "events": events(of: timeline, journal, from: base),
                "lint": findings, "hasLint": !findings.isEmpty,
                "audio": settings.showsWords ? try await audioFiles(timeline, link, pageRequest) : [],
                "hasAudio": settings.showsWords && !sounds.isEmpty,
                "missing": Array(Self.missing(transaction, timeline.files).prefix(Self.maxFiles)),
                "hasMoreAudio": sounds.count > Self.maxFiles,
                "documents": try await shown(
                    isCancelled ? documents.filter(\.status.isFinal) : documents, of: business,
                    isDictated: transaction.request.isDictated, pageRequest),
                "hasDocuments": !documents.isEmpty, "fhir": fhir, "hasFHIR": !fhir.isEmpty,
                "exchanges": journal.entries.map { $0.model(root: "/\(Self.root)", pageRequest.query) },
                "exchangeCount": journal.entries.count, "journalNote": journal.note(since: base),
                "hasJournalNote": !journal.note(since: base).isEmpty,
                "commitAct": Self.act("POST", "\(act)/commit\(suffix)"),
                "cancelAct": Self.act("POST", "\(act)/cancel\(suffix)"),
                "failAct": Self.act("POST", "\(act)/fail\(suffix)", ["code": "transcription_failed"]),
                "deleteAct": Self.act("DELETE", "\(act)\(suffix)"),
                "isOpen": transaction.processingStatus == .inProgress && transaction.userStatus.isOpen,
                "mayFail": transaction.processingStatus == .inProgress,
            ])
    }

    /// A call of the operator API, as the page's script reads it.
    static func act(_ method: String, _ path: String, _ body: JSON? = nil) -> String {
        var parts: [JSON] = [.string(method), .string(path)]
        if let body { parts.append(body) }
        return String(decoding: JSON.array([JSON.array(parts) { $0 }]) { $0 }.bytes, as: UTF8.self)
    }

    static func size(_ bytes: Int) -> String {
        switch bytes {
        case ..<1000: "\(bytes) B"
        case ..<1_000_000: "\(bytes / 1000) KB"
        default: "\((Double(bytes) / 100_000).rounded() / 10) MB"
        }
    }

    private static func refusalSentence(_ refused: [RecordingJournal.Entry]) -> String {
        let statuses = Set(refused.compactMap(\.status)).sorted().map(String.init).joined(separator: ", ")
        let faults = Set(refused.compactMap(\.fault)).sorted().joined(separator: ", ")
        let count = refused.count == 1 ? "1 upload was" : "\(refused.count) uploads were"
        return "\(count) refused with \(statuses)\(faults.isEmpty ? "" : ", by the fault \(faults)")."
    }

    /// Maximum length in bytes of a transcript, up to which its notes are explained.
    private static let longestExplained = 64 << 10

    /// The results, notes with the words that each statement came from.
    private func shown(
        _ documents: [ResultDocument], of business: String, isDictated: Bool, _ pageRequest: PageRequest
    ) async throws -> [ConsoleViews.Model] {
        let transcript = documents.first { $0.kind == .transcript }?.value ?? ""
        var models: [ConsoleViews.Model] = []
        for one in documents {
            var model = document(one)
            if settings.showsWords, one.kind != .transcript, one.status.isUsable, !transcript.isEmpty,
                transcript.utf8.count <= Self.longestExplained,
                let template = try await template(one.templateID, of: BusinessID(business), pageRequest.context.world)
            {
                let evidence = try await NoteEvidence(of: template, in: transcript, isDictated: isDictated, facts)
                model["evidence"] = evidence.models
                model["hasEvidence"] = !evidence.sections.isEmpty
            }
            models.append(model)
        }
        return models
    }

    /// The note as a FHIR document; empty while there is no transcript, and where the console shows no words.
    private func fhir(
        of transaction: Transaction, _ documents: [ResultDocument], _ pageRequest: PageRequest
    ) async throws -> String {
        guard settings.showsWords, transaction.processingStatus != .cancelled,
            let transcript = documents.first(where: { $0.kind == .transcript && $0.status.isUsable })?.value,
            !transcript.isEmpty, transcript.utf8.count <= Self.longestExplained
        else { return "" }
        return try await pageRequest.context.world.runtime.fhir(of: transaction, transcript).indented
    }

    private func document(_ document: ResultDocument) -> ConsoleViews.Model {
        let text = settings.showsWords ? document.value ?? "" : ""
        let isNote = document.kind != .transcript && document.format == .markdown && !text.isEmpty
        return [
            "title": document.kind == .transcript ? "Transcript" : document.name, "status": document.status.rawValue,
            "isDone": document.status == .success, "template": document.templateID.rawValue, "content": text,
            "isNote": isNote, "blocks": isNote ? NoteBlocks.models(of: text) : [],
            "hasText": !text.isEmpty, "isHidden": !settings.showsWords, "isEdited": document.isEdited,
            "anchor": document.kind == .transcript ? "words" : "note-\(document.id.rawValue)",
            "isTranscript": document.kind == .transcript,
            "problems": (document.errors + document.warnings).map { diagnostic in
                let explained = RecordingState.explanation(of: diagnostic.code)
                return ["what": explained.what, "advice": explained.advice, "code": diagnostic.code.rawValue]
            } as [ConsoleViews.Model],
        ]
    }

    private func audioFiles(
        _ timeline: RecordingTimeline, _ link: String, _ pageRequest: PageRequest
    ) async throws -> [ConsoleViews.Model] {
        let speech = try await pageRequest.context.world.runtime.store.recordingSpeech(timeline.transaction.key)
        return Self.sounds(timeline).prefix(Self.maxFiles).map { file in
            let heard = speech[file.name]
            return [
                "heard": (heard?.words ?? []).map { ["word": $0.text, "from": String($0.start)] },
                "said": heard?.words.isEmpty == true ? heard?.text ?? "" : "",
                "file": file.name, "bytes": Self.size(file.size),
                "length": file.recognition?.duration.map(RecordingState.precise) ?? "",
                "problem": file.recognition?.failure.map { RecordingState.explanation(of: $0.code).what } ?? "",
                "src": link.replacing("/consultations/", with: "/audio/") + "/"
                    + PercentEncoding.encode(file.name, keepingSlashes: false) + pageRequest.query,
            ]
        }
    }

    /// Files of a recording, without descriptions and archived recordings.
    private static func sounds(_ timeline: RecordingTimeline) -> [RecordingFile] {
        timeline.files.filter { !$0.name.hasSuffix(".json") && !$0.name.hasSuffix("_") }
    }

    /// Files that the client named at commit, and that are not stored.
    private static func missing(_ transaction: Transaction, _ files: [RecordingFile]) -> [String] {
        let known = Set(files.map(\.name))
        return transaction.committedFiles.filter { !known.contains($0) }
    }

    // MARK: Timeline

    private func events(
        of timeline: RecordingTimeline, _ journal: RecordingJournal, from base: Date
    ) -> [ConsoleViews.Model] {
        var lines: [(time: Date, line: Line)] = []
        var last = base
        for event in timeline.events {
            let time = event.time ?? last
            last = time
            if !journal.tells(of: event.content), let line = Line(event.content) { lines.append((time, line)) }
        }
        for entry in journal.lines(about: timeline.files) { lines.append((entry.time, entry.line)) }
        return lines.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }
            .suffix(Self.maxLines).map {
                let (time, line) = $0.element
                return [
                    "at": Self.offset(time.timeIntervalSince(base)), "class": line.style, "title": line.title,
                    "detail": line.detail, "hasDetail": !line.detail.isEmpty, "took": line.took,
                    "href": line.number.map { "#x-\($0)" } ?? "", "hasLink": line.number != nil,
                ]
            }
    }

    private static func offset(_ seconds: TimeInterval) -> String {
        let seconds = max(0, seconds)
        return seconds < 120 ? "\((seconds * 10).rounded() / 10) s" : RecordingState.clock(seconds)
    }

    /// A line of the timeline.
    struct Line: Hashable, Sendable {
        var style = ""
        let title: String
        var detail = ""
        var took = ""
        /// Exchange that the line is about.
        var number: Int?

        init(_ title: String, style: String = "", detail: String = "", took: String = "", number: Int? = nil) {
            self.title = title
            self.style = style
            self.detail = detail
            self.took = took
            self.number = number
        }

        /// The line of a stored event; nil for one that the journal tells better.
        init?(_ content: RecordingTimeline.Event.Content) {
            switch content {
            case .created: self.init("Begun")
            case .uploaded(let file):
                self.init(
                    "\(file.name) stored", style: "u", detail: file.contentType ?? "",
                    took: ConsoleFamily.size(file.size))
            case .stopped: self.init("Stopped")
            case .committed: self.init("Committed")
            case .recognised(let file, let found):
                let problem = found.failure.map { RecordingState.explanation(of: $0.code).what }
                self.init(
                    problem == nil ? "\(file) recognised" : "\(file) not recognised", style: problem == nil ? "o" : "x",
                    detail: problem ?? "", took: found.duration.map(RecordingState.precise) ?? "")
            case .document(let entry):
                let document = entry.document
                guard document.status.isFinal else { return nil }
                self.init(
                    document.kind == .transcript ? "Transcript" : document.name,
                    style: document.status == .failure ? "x" : "o",
                    detail: (document.isEdited ? "edited. " : "")
                        + (document.errors + document.warnings).map(\.code.rawValue).joined(separator: ", "))
            case .published: self.init("Published", style: "o")
            case .processed(let status):
                self.init("Processed", style: status == .success ? "o" : "x", detail: status.rawValue)
            case .cancelled: self.init("Cancelled")
            case .delivery(let delivery):
                self.init(
                    "Webhook \(delivery.event)", style: delivery.state == .failed ? "x" : "h",
                    detail:
                        "\(delivery.state.rawValue), \(delivery.attempts) \(delivery.attempts == 1 ? "attempt" : "attempts")"
                        + (delivery.problem.map { ": \($0)" } ?? ""))
            case .archived: self.init("Deleted by its user")
            }
        }
    }
}
