import Eka
import Foundation
import ScribeDomain
import ScribeRuntime
import ScribeStore

/// Recording with what the store and the journal know of it.
struct LintedRecording: Sendable {
    let timeline: RecordingTimeline
    /// Exchanges about it, in the order in which they began.
    let exchanges: [LintedExchange]
    /// Media type of each file by its first bytes. Files that are gone, or no audio, have none.
    let contentTypes: [String: String]
    /// Whether the recogniser has heard the file and found no word in it, by file.
    let silence: [String: Bool]

    var transaction: Transaction { timeline.transaction }
    var files: [RecordingFile] { timeline.files }
    var sdk: ClientProfile? {
        ClientProfile(flavour: transaction.request.flavour) ?? creation?.sdk
            ?? exchanges.lazy.compactMap(\.sdk).first
    }

    private static let creations: Set = ["initTransaction", "createSession", "createAmbientSession"]

    /// The request that began the recording.
    private var creation: LintedExchange? { exchanges.first { Self.creations.contains($0.operation) && $0.isDone } }

    /// Whether the journal has all that was asked for the recording.
    var isWhole: Bool { creation != nil }

    /// Files with the audio of the recording, without archived and described ones, in the order of their numbers.
    var chunks: [RecordingFile] {
        files.filter { !Self.isArchive($0.name) && !$0.name.hasSuffix(".json") }
            .sorted {
                (chunkOrdinal(ofFile: $0.name) ?? .max, $0.name) < (chunkOrdinal(ofFile: $1.name) ?? .max, $1.name)
            }
    }

    /// Successful uploads of files.
    func uploads(of files: [String]) -> [LintedExchange] {
        let names = Set(files)
        return exchanges.of(UploadRules.uploads).filter { $0.isDone && names.contains($0.file) }
    }

    /// Whether a file is a full recording that is stored and not processed (C-25).
    static func isArchive(_ name: String) -> Bool { name.hasSuffix("_") || name.hasPrefix("full_audio.") }

    /// Whether the client's SDK tells the server nothing of a cancellation (C-108).
    var isCancelledLocally: Bool { sdk.map { [.ios, .android, .legacyIOS].contains($0) } ?? false }

    /// Whether no results are still to come.
    var isProcessed: Bool { transaction.userStatus != .committed || transaction.processingStatus != .inProgress }

    /// Whether the client cuts the recording into chunks and lists them at stop and commit.
    var isChunked: Bool { timeline.kind == .transaction && transaction.request.transfer == .vaded }
}
