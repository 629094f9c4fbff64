import Foundation
import NIOCore
package import ScribeDomain
import ScribeStore

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

    /// Records a transaction of a seed and commits it. One that is there stays.
    /// - Throws: As ``Transactions/start(_:_:for:replays:)``, and for a full storage.
    package func record(_ transaction: SeededTransaction) async throws {
        let (id, principal, key) = (transaction.id, transaction.principal, transaction.key)
        guard try await store.transaction(key) == nil else { return }
        let location = AudioLocation(bucket: bucket, folder: "seed/\(id.rawValue)")
        var request = TransactionRequest(
            transfer: .vaded, mode: "consultation", audioURL: location.url,
            templates: transaction.templates.map { TransactionRequest.RequestedTemplate(id: $0) },
            patientDetails: transaction.patient)
        try request.requireWithinLimits()
        request.hasStartedRecording = true
        _ = try await transactions.start(id, request, for: principal, replays: false)
        try await uploadSilence(saying: transaction.transcript, to: location, in: key, for: principal)
        try await transactions.commit(key, ChunkList(files: [Self.seededFile]))
    }

    /// Stores a silent file of a transaction, as long as its words take.
    /// - Parameter text: what was heard in it; nil to have it recognised.
    func uploadSilence(
        saying text: String?, to location: AudioLocation, in key: Transaction.Key, for principal: Principal
    ) async throws {
        // Two and a half words a second, as people speak.
        let words = (text ?? "").split(whereSeparator: \.isWhitespace).count
        let seconds = min(max(1, words * 2 / 5), Self.longestAudio)
        let (file, writer) = try await uploads.begin(for: principal.business)
        var open = writer
        try await open.write(Self.silence(seconds))
        let written = try await open.finish()
        let object = StoredObject(
            bucket: location.bucket, key: "\(location.folder)/\(Self.seededFile)", file: file, size: written.size,
            eTag: Hex.encode(written.md5), contentType: "audio/wav", metadata: [:], createdAt: clock.now)
        let speech = text.map { RecognisedSpeech(text: $0, quality: 1, confidence: 1, duration: Double(seconds)) }
        try await uploads.keep(object, heard: speech, in: key, for: principal) { _ in }
    }

    /// Waits until a transaction of a seed is finished.
    /// - Returns: Its processing status, which is `in-progress` at the end of the longest wait.
    package func finish(
        _ transaction: SeededTransaction, atMost limit: Duration, until clientDisconnect: OneShotSignal
    ) async throws -> Transaction.ProcessingStatus {
        try await transactions.results(of: transaction.key, atMost: limit, until: clientDisconnect) {
            $0.transaction.processingStatus != .inProgress && $0.documents.allSatisfy { $0.status.isFinal }
        }.transaction.processingStatus
    }

    /// A WAV file of silence, 8 kHz and 8 bits.
    private static func silence(_ seconds: Int) -> ByteBuffer {
        let (rate, size) = (8000, 8000 * seconds)
        var file = ByteBuffer()
        func write(_ number: Int, bytes: Int) {
            for place in 0..<bytes { file.writeInteger(UInt8(truncatingIfNeeded: number >> (8 * place))) }
        }
        file.writeString("RIFF")
        write(36 + size, bytes: 4)
        file.writeString("WAVEfmt ")
        for (number, bytes) in [(16, 4), (1, 2), (1, 2), (rate, 4), (rate, 4), (1, 2), (8, 2)] {
            write(number, bytes: bytes)
        }
        file.writeString("data")
        write(size, bytes: 4)
        file.writeRepeatingByte(0x80, count: size)
        return file
    }
}
