import Basics
import Engines
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
    /// Most files with their sound.
    private static let maxFiles = 100

    func recording(_ business: Substring, _ id: Substring, _ pageRequest: PageRequest) async throws -> Page {
        guard let business = PercentEncoding.decode(business), let id = PercentEncoding.decode(id),
            TransactionID.isValid(id)
        else { throw ConsoleError.notFound }
        let key = Transaction.Key(business: BusinessID(business), id: TransactionID(id))
        let store = pageRequest.context.world.runtime.store
        guard let timeline = try await store.timeline(of: key) else { throw ConsoleError.notFound }
        let documents = (try await store.transactions.results(of: key)?.documents ?? [])
        let runtime = pageRequest.context.world.runtime
        let journal = RecordingJournal(
            of: key.id, in: runtime.journal, most: Self.maxExchanges, offset: runtime.clock.offset
        ).aligned(with: timeline)
        let transaction = timeline.transaction
        let findings = try await lint(.init(transaction: key.id, business: key.business), pageRequest)
        let sounds = Self.sounds(timeline)
        let facts = RecordingState.Facts(
            transaction, files: sounds, documents, at: pageRequest.now, pageRequest.context.world.runtime,
            showsWords: settings.showsWords)
        let state = RecordingState(of: facts, at: pageRequest.now)
        let details = transaction.request.patientDetails
        let name = details?["username"]?.stringValue ?? details?["name"]?.stringValue ?? ""
        let shownName = settings.showsWords ? (name.isEmpty ? "No name given" : name) : id
        let link = Self.recordingLink(key)
        let base = transaction.createdAt
        let act = "transactions/\(PercentEncoding.encode(id, keepingSlashes: false))"
        let suffix = "?business=\(PercentEncoding.encode(business, keepingSlashes: false))"
        let refused = journal.refusedUploads
        let (lines, scale) = events(of: timeline, journal, state, facts)
        let isOver = transaction.processingStatus == .cancelled || facts.rules.isExpired
        return Page(
            key: "consultations", title: shownName, template: "consultation",
            model: [
                "name": shownName, "id": id, "business": business, "kind": state.style,
                "word": state.word, "problem": state.problem ?? "", "advice": state.advice ?? "",
                "hasProblem": state.problem != nil, "isBad": state.tone == .bad,
                "visit": settings.showsWords ? details?["visit_id"]?.stringValue ?? "" : "",
                "family": settings.kinds[timeline.kind] ?? timeline.kind.rawValue,
                "flavour": transaction.request.flavour, "client": transaction.owner.client.rawValue,
                "began": ConsoleViews.moment(base), "files": sounds.count == 1 ? "1 file" : "\(sounds.count) files",
                "bytes": Self.size(sounds.total(\.size)),
                "mode": transaction.request.mode ?? "",
                "languages": transaction.request.inputLanguages.joined(separator: ", "),
                "refused": refused.isEmpty ? "" : Self.refusalSentence(refused, facts.fixture),
                "hasRefused": !refused.isEmpty,
                "isRefusalAsked": facts.fixture?.refuses(.upload) == true || refused.allSatisfy { $0.fault != nil },
                "events": lines, "before": RecordingState.exact(scale.lengths[0]),
                "mark": transaction.committedAt == nil ? "the end" : "the \(facts.rules.ending)",
                "after": scale.lengths.count > 1 ? RecordingState.exact(scale.lengths[1]) : "",
                "lint": findings, "hasLint": !findings.isEmpty,
                "audio": settings.showsWords ? try await audioFiles(timeline, facts, link, pageRequest) : [],
                "hasAudio": settings.showsWords && !sounds.isEmpty,
                "missing": Array(Self.missing(transaction, timeline.files).prefix(Self.maxFiles)),
                "hasMoreAudio": sounds.count > Self.maxFiles,
                "documents": try await shown(
                    isOver ? documents.filter(\.status.isFinal) : documents, of: transaction, facts, pageRequest),
                "hasDocuments": !documents.isEmpty,
                "exchanges": journal.entries.map { $0.model(pageRequest.query) },
                "exchangeCount": journal.entries.count, "journalNote": journal.note(since: base),
                "hasJournalNote": !journal.note(since: base).isEmpty,
                "commitAct": Self.act("POST", "\(act)/commit\(suffix)"),
                "cancelAct": Self.act("POST", "\(act)/cancel\(suffix)"),
                "failAct": Self.act("POST", "\(act)/fail\(suffix)", ["code": "transcription_failed"]),
                "failChoices": Self.failChoices,
                "deleteAct": Self.act("DELETE", "\(act)\(suffix)"),
                "isOpen": transaction.processingStatus == .inProgress && transaction.userStatus.isOpen,
                "mayFail": transaction.processingStatus == .inProgress,
            ].merging(refusals(of: transaction, facts, pageRequest)) { $1 })
    }

    /// Reasons for which the acts on a recording are disabled.
    private func refusals(
        of transaction: Transaction, _ facts: RecordingState.Facts, _ pageRequest: PageRequest
    ) -> ConsoleViews.Model {
        let refusals = self.refusals(pageRequest)
        let isOpen = transaction.processingStatus == .inProgress
        let policy = pageRequest.context.world.runtime.policies[transaction.request.kind]
        let reasons = [
            "commitRefusal": isOpen && transaction.userStatus.isOpen ? refusals.ofEnding(facts) : nil,
            "cancelRefusal": isOpen && transaction.userStatus.isOpen ? refusals.ofCancelling(facts) : nil,
            "failRefusal": isOpen ? refusals.ofEnding(facts, isChosen: true) : nil,
            "deleteRefusal": policy.isRemovedByOwnAPIOnly ? "Such a recording is deleted by its own API only." : nil,
        ].compactMapValues(\.self)
        return reasons.merging(["refusals": Set(reasons.values).sorted().joined(separator: " ")]) { $1 }
    }

    func refusals(_ pageRequest: PageRequest) -> ActRefusals {
        ActRefusals(sharesData: settings.sharesData, mayChangeState: pageRequest.context.world.mayMoveClock)
    }

    /// Codes with which an operator can end a recording, as the dialog of the page reads them.
    private static let failChoices = {
        let codes: [Diagnostic.Code] = [
            .transcriptionFailed, .transcriptionTimeout, .noSpeech, .noAudio, .undecodableAudio, .emptyAudio,
            .audioTooShort, .audioMissing, .processingFailed, .noteFailed,
        ]
        let choices = JSON.array(codes) { code in
            let sentence = ProblemSentences.explanation(of: code).what.dropLast()
            return [.string(code.rawValue), .string("\(sentence): \(code.rawValue)")]
        }
        return String(decoding: choices.bytes, as: UTF8.self)
    }()

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

    private static func refusalSentence(
        _ refused: [JournalEntry], _ fixture: NamedFixture?
    ) -> String {
        let statuses = Set(refused.compactMap(\.status)).sorted().map(String.init).joined(separator: ", ")
        let faults = Set(refused.compactMap(\.fault)).sorted().joined(separator: ", ")
        let count = refused.count == 1 ? "1 upload was" : "\(refused.count) uploads were"
        let asker =
            faults.isEmpty ? (fixture?.refuses(.upload) == true ? ", by its fixture" : "") : ", by the fault \(faults)"
        return "\(count) refused with \(statuses)\(asker). The timeline has \(refused.count == 1 ? "it" : "them")."
    }

    private func audioFiles(
        _ timeline: RecordingTimeline, _ facts: RecordingState.Facts, _ link: String, _ pageRequest: PageRequest
    ) async throws -> [ConsoleViews.Model] {
        let speech = try await pageRequest.context.world.runtime.store.transactions.recordingSpeech(
            timeline.transaction.key)
        return Self.sounds(timeline).prefix(Self.maxFiles).map { file in
            let heard = speech[file.name]
            let place =
                link.replacing("/consultations/", with: "/audio/") + "/"
                + PercentEncoding.encode(file.name, keepingSlashes: false) + pageRequest.query
            return [
                "heard": (heard?.words ?? []).map { ["word": $0.text, "from": String($0.start)] },
                "said": heard?.words.isEmpty == true ? heard?.text ?? "" : "",
                "file": file.name, "bytes": Self.size(file.size),
                "length": file.recognition?.duration.map(RecordingState.precise) ?? "",
                "problem": file.recognition?.failure.map { ProblemSentences($0, in: facts).what } ?? "",
                "src": place, "keep": place + (pageRequest.query.isEmpty ? "?" : "&") + "download",
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
}
