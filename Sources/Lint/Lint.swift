package import Basics
import Engines
package import Foundation
package import Journal
import NIOCore
import ObjectStorage
package import ScribeDomain
import ScribeHTTP
package import ScribeRuntime
import ScribeStore

/// Checks what the clients of a world did against ``LintRule/all``.
package struct Lint: Sendable {
    /// Recordings and requests to look at; nil leaves a property open.
    package struct Scope: Hashable, Sendable {
        package var transaction: TransactionID?
        package var business: BusinessID?
        /// Begin of the first request.
        package var since: Date?
        /// Number of the one request that findings must be about.
        package var request: Int?
        /// Most files whose first bytes are read, to tell their format.
        package var mostFiles = 2000
        /// Whether only exchanges are looked at that may be about the transaction, or that start at most a minute
        /// before or after the request: a page of the console is read again with each change.
        package var isNarrow = false

        package init(transaction: TransactionID? = nil, business: BusinessID? = nil, request: Int? = nil) {
            self.transaction = transaction
            self.business = business
            self.request = request
        }
    }

    /// Findings, with the number of what was looked at.
    package struct Report: Sendable {
        /// The gravest first.
        package let findings: [LintFinding]
        package let exchanges: Int
        package let recordings: Int
        /// Number of recordings whose results are still to come. Later rules may find more in them.
        package let pending: Int
        /// Exchanges that the journal has dropped. What they would have shown is not known.
        package let dropped: Int

        package func count(of severity: LintSeverity) -> Int { findings.count { $0.severity == severity } }
    }

    /// Most recordings of a report, the newest ones.
    private static let mostRecordings = 1000
    /// Bytes that tell the container of a file.
    private static let headSize = 4096
    /// Seconds beside the request of a narrow scope. A later request is no repetition of an earlier one.
    private static let margin = 60.0

    private let runtime: Runtime
    private let journal: Journal

    package init(_ runtime: Runtime, _ journal: Journal) {
        self.runtime = runtime
        self.journal = journal
    }

    /// Looks at the journal and the store. Takes time for each entry; not on an event loop.
    /// - Throws: ``ScribeError/transactionNotFound`` for a transaction that the scope names; the store's error.
    package func report(on scope: Scope) async throws -> Report {
        let dropped = journal.counts.dropped
        let exchanges = try await EventLoopOffload.run(bytes: .max) { [journal] in
            let times = scope.isNarrow ? Self.times(of: scope, in: journal) : nil
            let id = scope.isNarrow ? scope.transaction?.rawValue : nil
            return try journal.entries.compactMap { entry -> LintedExchange? in
                try Task.checkCancellation()
                let exchange = entry.entry.exchange
                if let times, !times.contains(exchange.startedAt) { return nil }
                if let id, !Self.mayConcern(id, exchange) { return nil }
                if let since = scope.since, exchange.startedAt < since { return nil }
                if let business = scope.business, let principal = exchange.principal, principal.business != business {
                    return nil
                }
                return LintedExchange(JournalIndex.documented.shown(entry))
            }.sorted { ($0.startedAt, $0.number) < ($1.startedAt, $1.number) }
        }
        let (recordings, owned) = try await recordings(scope, exchanges)
        let isMeasured = runtime.transcriber.name != "fake"
        return await EventLoopOffload.run(bytes: .max) {
            let all = Self.findings(
                in: recordings, exchanges, owned, isAll: scope.transaction == nil, isMeasured: isMeasured)
            let findings = scope.request.map { number in all.filter { $0.requests.contains(number) } } ?? all
            return Report(
                findings: findings.enumerated().sorted {
                    ($1.element.severity, $0.offset) < ($0.element.severity, $1.offset)
                }.map(\.element),
                exchanges: exchanges.count, recordings: recordings.count,
                pending: recordings.count { !$0.isProcessed }, dropped: dropped)
        }
    }

    /// Times at which the exchanges of a scope may begin; nil for all.
    private static func times(of scope: Scope, in journal: Journal) -> ClosedRange<Date>? {
        guard scope.transaction == nil, let number = scope.request, let begin = journal[number]?.exchange.startedAt
        else {
            return nil
        }
        return begin.addingTimeInterval(-margin)...begin.addingTimeInterval(margin)
    }

    /// Whether an exchange may be about a transaction, by its path, or because only its head or its answer tell.
    private static func mayConcern(_ id: String, _ exchange: Exchange) -> Bool {
        guard exchange.kind == .request, exchange.transaction == nil else { return true }
        let outline = JournalIndex.documented.outline(of: exchange)
        let operation = outline.operation ?? ""
        return outline.path.map { $0.contains(id) || $0.contains("%") } ?? true || operation.hasPrefix("create")
            || operation == "PostObject"
    }

    /// - Parameters:
    ///   - owned: Numbers of exchanges that are about any recording.
    ///   - isAll: Whether findings are wanted that are about no recording.
    private static func findings(
        in recordings: [LintedRecording], _ exchanges: [LintedExchange], _ owned: Set<Int>, isAll: Bool,
        isMeasured: Bool
    ) -> [LintFinding] {
        var findings: [LintFinding] = []
        var owners: [Int: LintedRecording] = [:]
        for recording in recordings {
            for exchange in recording.exchanges { owners[exchange.number] = recording }
            let found =
                ChunkRules.found(in: recording) + LifecycleRules.found(in: recording)
                + PollRules.found(in: recording) + ResultRules.found(in: recording)
                + Self.found(in: recording.exchanges, isMeasured: isMeasured)
            findings += found.map { $0.finding(in: recording) }
        }
        // What is repeated may be of a recording only from the second time on.
        for found in RetryRules.found(in: exchanges) {
            let owner = found.exchanges.lazy.compactMap { owners[$0.number] }.first
            if isAll || owner != nil { findings.append(found.finding(in: owner)) }
        }
        guard isAll else { return findings }
        let found =
            Self.found(in: exchanges.filter { !owned.contains($0.number) }, isMeasured: isMeasured)
            + LoginRules.renewals(exchanges) + ResultRules.configuration(exchanges)
        return findings + found.map { $0.finding(in: nil) }
    }

    /// Rules that look at each request alone, or at few that belong together.
    private static func found(in exchanges: [LintedExchange], isMeasured: Bool) -> [Found] {
        ContractRules.found(in: exchanges) + LoginRules.addresses(exchanges) + UploadRules.found(in: exchanges)
            + ResultRules.ratings(exchanges)
            + SocketRules.found(in: exchanges, isMeasured: isMeasured) + WebhookRules.found(in: exchanges)
    }

    // MARK: Recordings

    /// Waits until the committed recordings of a scope have their results.
    package func wait(on scope: Scope, atMost limit: Duration, until disconnect: OneShotSignal) async throws {
        var filter = RecordingFilter()
        (filter.business, filter.limit) = (scope.business, Self.mostRecordings)
        filter.processingStatuses = [.inProgress]
        let control = TransactionControl(runtime)
        let end = runtime.clock.wall.now.addingTimeInterval(limit / .seconds(1))
        for recording in try await runtime.store.transactions.recordings(filter).items
        where recording.userStatus == .committed && (scope.transaction ?? recording.id) == recording.id {
            let rest = end.timeIntervalSince(runtime.clock.wall.now)
            guard rest > 0, !disconnect.hasFired else { return }
            do {
                _ = try await control.wait(for: recording.key, atMost: .seconds(rest), until: disconnect)
            } catch ScribeError.transactionNotFound {
                // It was removed meanwhile.
                continue
            }
        }
    }

    /// Recordings of the scope, and the numbers of the exchanges that are about any recording.
    private func recordings(
        _ scope: Scope, _ exchanges: [LintedExchange]
    ) async throws -> (recordings: [LintedRecording], owned: Set<Int>) {
        var byID: [String: [LintedExchange]] = [:]
        for exchange in exchanges {
            for id in exchange.transactions { byID[id, default: []].append(exchange) }
        }
        var keys: [Transaction.Key]
        if let id = scope.transaction {
            keys = [try await TransactionControl(runtime).key(of: id, in: scope.business)]
        } else {
            var filter = RecordingFilter()
            (filter.business, filter.includesArchived, filter.limit) = (scope.business, true, Self.mostRecordings)
            keys = try await runtime.store.transactions.recordings(filter).items.map(\.key).filter {
                byID[$0.id.rawValue] != nil
            }
        }
        var recordings: [LintedRecording] = []
        var owned: Set<Int> = []
        var files = scope.mostFiles
        for key in keys {
            try Task.checkCancellation()
            let own = (byID[key.id.rawValue] ?? []).filter { exchange in
                exchange.shown.exchange.principal.map { $0.business == key.business } ?? true
            }
            owned.formUnion(own.map(\.number))
            if let number = scope.request, !own.contains(where: { $0.number == number }) { continue }
            guard let timeline = try await runtime.store.timeline(of: key) else { continue }
            let speech = try await runtime.store.transactions.recordingSpeech(key)
            files -= timeline.files.count
            recordings.append(
                LintedRecording(
                    timeline: timeline, exchanges: own,
                    contentTypes: files >= 0 ? try await contentTypes(of: timeline) : [:],
                    silence: speech.mapValues { $0.text.isEmpty && $0.words.isEmpty }))
        }
        return (recordings, owned)
    }

    private func contentTypes(of timeline: RecordingTimeline) async throws -> [String: String] {
        guard let place = timeline.transaction.request.audioLocation else { return [:] }
        var types: [String: String] = [:]
        for file in timeline.files where !file.name.hasSuffix(".json") {
            let object = try await runtime.store.audio.object(
                business: timeline.transaction.key.business, bucket: place.bucket, key: place.key(ofFile: file.name))
            guard let object, let reader = try? await runtime.uploads.open(object),
                let head = try? await reader.read(0..<min(object.size, Self.headSize))
            else { continue }
            types[file.name] = AudioFormat.contentType(ofFileBeginning: Array(head.readableBytesView))
        }
        return types
    }
}
