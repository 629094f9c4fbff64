import Basics
import ScribeDomain
import ScribeRuntime

/// Rules about the steps of a recording.
enum LifecycleRules {
    static let stopMissing = LintRule(
        "stop-missing", .note, row: "eka.md 4.1", "Commit came without a stop",
        why: "The cloud takes it as both. The times of the chunks, which stop carries, are missing.",
        fix: "Stop with chunk_info, then commit.")
    static let commitMissing = LintRule(
        "commit-missing", .error, row: "eka.md 4.1", "The recording was never committed",
        why: "Nothing is processed before commit, or before a session's end. After two hours a transaction's status is "
            + "400 active_session.",
        fix: "Commit after the last upload; for a session, end it; to give it up, cancel it.")
    static let commitTwice = LintRule(
        "commit-twice", .warning, row: "C-18", "A second commit lists other files than the first",
        why: "The recording is processed again with the files of both lists.",
        fix: "Repeat a commit only if its answer was lost, and with the same list.")
    static let uploadLate = LintRule(
        "upload-late", .warning, row: "eka.md 4.1", "A chunk came after the commit",
        why: "It is stored. It is processed only if a commit lists it, and if work still goes on or begins again.",
        fix: "Commit after the last upload has succeeded.")
    static let archiveLate = LintRule(
        "upload-after-result", .note, row: "C-26", "The full recording came after the commit",
        why: "It is stored and never processed. Shipped SDKs do so.",
        fix: "Nothing to do: the server must take it.")

    static let rules = [stopMissing, commitMissing, commitTwice, uploadLate, archiveLate]

    static func found(in recording: LintedRecording) -> [Found] {
        unfinished(recording) + commits(recording) + lateUploads(recording)
    }

    private static func unfinished(_ recording: LintedRecording) -> [Found] {
        let transaction = recording.transaction
        guard recording.timeline.kind != .conversation, transaction.processingStatus == .inProgress,
            transaction.userStatus.isOpen, transaction.archivedAt == nil, !recording.chunks.isEmpty,
            recording.isChunked || recording.timeline.kind != .transaction,
            !recording.exchanges.contains(where: \.isOpen)
        else { return [] }
        let files = recording.chunks.count.counted("file")
        if let refused = recording.exchanges.of(["commitTransaction"]).last(where: { !$0.isDone }) {
            return [Found(commitMissing, "\(files) stored, and the commit was refused", [refused], severity: .note)]
        }
        return [
            // The recording may still be going on.
            transaction.userStatus == .stopped
                ? Found(commitMissing, "\(files) stopped and not committed")
                : Found(
                    commitMissing, "\(files) stored, and neither stop nor commit yet",
                    severity: recording.isCancelledLocally ? .note : .warning)
        ]
    }

    private static func commits(_ recording: LintedRecording) -> [Found] {
        let commits = recording.exchanges.of(["commitTransaction"]).filter(\.isDone)
        guard let first = commits.first, recording.isWhole else { return [] }
        var found: [Found] = []
        if !recording.exchanges.contains(where: { $0.operation == "stopTransaction" && $0.number < first.number }) {
            found.append(Found(stopMissing, "No stop came before the commit", [first]))
        }
        let lists = commits.compactMap { $0.json?["audio_files"]?.arrayValue?.compactMap(\.stringValue) }
        if let list = lists.first, let other = lists.dropFirst().first(where: { $0 != list }) {
            found.append(
                Found(commitTwice, "\(list.count.counted("file")) first, then \(other.count)", commits))
        } else if commits.count > 1 {
            found.append(
                Found(commitTwice, "\(commits.count) commits with the same list", commits, severity: .note))
        }
        return found
    }

    private static func lateUploads(_ recording: LintedRecording) -> [Found] {
        let ends = recording.exchanges.of(["commitTransaction", "endSession", "endAmbientSession"]).filter(\.isDone)
        guard let end = ends.last else { return [] }
        let late = recording.exchanges.of(UploadRules.uploads).filter {
            $0.isDone && $0.startedAt > end.endedAt
                || $0.isDone && $0.number > end.number && $0.startedAt >= end.endedAt
        }
        let archives = late.filter { LintedRecording.isArchive($0.file) }
        // A file that the commit lists is waited for.
        let listed = Set(recording.transaction.committedFiles)
        let chunks = late.filter { !LintedRecording.isArchive($0.file) && !listed.contains($0.file) }
        return Found.ifAny(uploadLate, "\(ChunkRules.names(chunks.map(\.file))) after the commit", chunks)
            + Found.ifAny(archiveLate, "\(ChunkRules.names(archives.map(\.file))) after the commit", archives)
    }
}
