package import Basics
import Engines
import Foundation
import NIOCore
import ObjectStorage
package import ScribeDomain
package import ScribeStore

/// Transaction of a seed: a transcript that becomes results as if the recogniser had heard it.
package struct SeededTransaction: Sendable {
    package let id: TransactionID
    package let principal: Principal
    package let transcript: String
    package let templates: [TemplateID]
    package let patient: JSONValue?

    package init(
        id: TransactionID, principal: Principal, transcript: String, templates: [TemplateID], patient: JSONValue?
    ) {
        self.id = id
        self.principal = principal
        self.transcript = transcript
        self.templates = templates
        self.patient = patient
    }

    package var key: Transaction.Key { Transaction.Key(business: principal.business, id: id) }
}

extension Runtime {
    /// File name of the audio of a transaction of a seed.
    private static let seededFile = "1.wav"
    /// Longest audio of a transaction of a seed, in seconds.
    private static let longestAudio = 60

    /// Adds the rows of a seed and its transactions, all or none. Transactions that are there stay.
    /// - Throws: `SeedProblem`; as ``Transactions/start(_:_:for:replays:)``, and for a full storage.
    package func add(_ rows: SeedRows, _ transactions: ArraySlice<SeededTransaction>) async throws {
        guard let next = transactions.first else { return try await store.transactions.add(rows, at: clock.now) }
        let (rest, principal) = (transactions.dropFirst(), next.principal)
        guard try await store.transactions.transaction(next.key) == nil else { return try await add(rows, rest) }
        let location = AudioLocation(bucket: bucket, folder: "seed/\(next.id.rawValue)")
        var request = TransactionRequest(
            transfer: .vaded, mode: "consultation", audioURL: location.url,
            templates: next.templates.map { TransactionRequest.RequestedTemplate(id: $0) },
            patientDetails: next.patient)
        try request.requireWithinLimits()
        request.hasStartedRecording = true
        let own = rows.templates.filter { $0.business == principal.business }.map { $0.template }
        let new = try await self.transactions.new(next.id, request, for: principal, seeded: own)
        // Two and a half words a second, as people speak.
        let words = next.transcript.split(whereSeparator: \.isWhitespace).count
        let seconds = min(max(1, words * 2 / 5), Self.longestAudio)
        try await withSilence(seconds, in: location, of: principal) { file, audio in
            var rows = rows
            rows.recordings.append(
                SeedRows.Recording(
                    new.transaction, new.documents, audio: audio,
                    speech: RecognisedSpeech(
                        text: next.transcript, quality: 1, confidence: 1, duration: Double(seconds))))
            // Each file is there until all rows are.
            try await uploads.keeping(&file) { [rows] in try await add(rows, rest) }
        }
    }

    /// Stores a silent file of a transaction, to be recognised.
    func uploadSilence(to location: AudioLocation, in key: Transaction.Key, for principal: Principal) async throws {
        try await withSilence(1, in: location, of: principal) { file, audio in
            try await uploads.keep(&file, as: audio, heard: nil, in: key, for: principal) { _ in }
        }
    }

    /// Writes a silent file, which `body` keeps.
    private func withSilence(
        _ seconds: Int, in location: AudioLocation, of principal: Principal,
        _ body: (inout NewObject, StoredObject) async throws -> Void
    ) async throws {
        try await uploads.receive(for: principal.business) { file in
            try await file.write(Self.silence(seconds))
            let written = try await file.finish()
            let audio = StoredObject(
                bucket: location.bucket, key: location.key(ofFile: Self.seededFile), file: file.name,
                size: written.size, eTag: Hex.encode(written.md5), headers: ["content-type": "audio/wav"],
                createdAt: clock.now)
            try await body(&file, audio)
        }
    }

    /// Waits until the transactions of a seed are finished.
    /// - Parameter limit: longest wait for all of them together.
    /// - Returns: The processing status of each, which is `in-progress` at the end of the longest wait.
    package func finish(
        _ transactions: [SeededTransaction], atMost limit: Duration, until clientDisconnect: OneShotSignal
    ) async throws -> [Transaction.ProcessingStatus] {
        let end = clock.wall.now.addingTimeInterval(limit / .seconds(1))
        var found: [Transaction.ProcessingStatus] = []
        for transaction in transactions {
            let rest = Duration.seconds(max(0, end.timeIntervalSince(clock.wall.now)))
            found.append(
                try await self.transactions.results(of: transaction.key, atMost: rest, until: clientDisconnect) {
                    $0.transaction.isFinal(with: $0.documents)
                }.transaction.processingStatus)
        }
        return found
    }

    /// A WAV file of silence, 8 kHz and 8 bits.
    private static func silence(_ seconds: Int) -> ByteBuffer {
        let size = 8000 * seconds
        var file = WaveHeader(.unsigned8, channels: 1, sampleRate: 8000).bytes(before: size)
        file.writeRepeatingByte(0x80, count: size)
        return file
    }
}
