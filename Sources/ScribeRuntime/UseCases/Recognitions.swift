package import Crypto
package import Engines
import Foundation
package import NIOCore
package import NIOPosix
package import ScribeDomain
import ScribeStore

/// Recognition of recordings outside transactions: each is written to a file, recognised while its sender waits, and
/// deleted.
package struct Recognitions: Sendable {
    /// Result of a recognition.
    package struct RecognisedRecording: Sendable {
        package let speech: RecognisedSpeech
        /// The words of ``speech``; with estimated times if the recogniser gave none.
        package let words: [TimedWord]
        /// The length of the audio, in seconds.
        package let duration: Double
        /// The digest of the bytes as they were sent.
        package let sha256: SHA256Digest
    }

    private let uploads: Uploads
    private let transcriber: any Transcriber
    private let decoder: WaveDecoder
    private let metrics: Metrics
    private let clock: WallClock
    private let threads: NIOThreadPool

    package init(
        uploads: Uploads, transcriber: any Transcriber, decoder: WaveDecoder, metrics: Metrics, clock: WallClock,
        threads: NIOThreadPool
    ) {
        self.uploads = uploads
        self.transcriber = transcriber
        self.decoder = decoder
        self.metrics = metrics
        self.clock = clock
        self.threads = threads
    }

    /// Receives and recognises a recording. There is one attempt; the sender decides about further ones.
    /// - Parameters:
    ///   - samples: The format of raw samples; nil for a file with a header.
    ///   - size: The announced size in bytes; nil if unknown.
    ///   - languages: The languages that may be spoken, at most two.
    /// - Throws: ``EngineFailure``, ``ScribeError/tooLarge(limit:)``, ``ScribeError/storageUnavailable(cause:)``,
    ///   ``ScribeError/storageQuotaExceeded``, and errors of the body.
    package func recognise<Body: AsyncSequence & Sendable>(
        _ body: Body, samples: WaveHeader? = nil, size: Int? = nil, languages: [String], for principal: Principal
    ) async throws -> RecognisedRecording where Body.Element == ByteBuffer {
        guard size ?? 0 <= Limits.recording else { throw ScribeError.tooLarge(limit: Limits.recording) }
        return try await uploads.receive(for: principal.business, expecting: size ?? 0, isPassing: true) { file in
            var hash = SHA256()
            var count = 0
            for try await buffer in body where buffer.readableBytes > 0 {
                if count == 0, let samples,
                    AudioFormat.contentType(ofFileBeginning: Array(buffer.readableBytesView)) == nil
                {
                    try await file.write(samples.bytes(before: size))
                }
                count += buffer.readableBytes
                guard count <= Limits.recording else { throw ScribeError.tooLarge(limit: Limits.recording) }
                buffer.withUnsafeReadableBytes { hash.update(bufferPointer: $0) }
                try await file.write(buffer)
            }
            _ = try await file.finish()
            return try await recognise(file.name, languages, hash.finalize(), for: principal)
        }
    }

    private func recognise(
        _ file: String, _ languages: [String], _ sha256: SHA256Digest, for principal: Principal
    ) async throws -> RecognisedRecording {
        let audio = StoredAudio(file: file, objects: uploads.objects.spool)
        let format = try await audio.withLocalFile { path in
            try await threads.runIfActive { try AudioFormat(reading: AudioBytes(file: path)) }
        }
        let start = clock.now
        var outcome = "success"
        defer {
            metrics.chunkTranscribed(
                by: transcriber.name, outcome: outcome, seconds: clock.now.timeIntervalSince(start))
        }
        do {
            let recording = Recording(
                audio, ordinal: 1, languages: languages, isLastAttempt: true, tenant: principal.business.rawValue)
            let speech = try await transcriber.transcribe(recording)
            let voiced =
                speech.words.isEmpty && !speech.text.isEmpty
                ? try await SpeechRanges(of: recording, duration: format.duration, by: decoder) : SpeechRanges()
            let words = await EventLoopOffload.run(bytes: speech.text.utf8.count) {
                speech.words(in: voiced, over: format.duration)
            }
            return RecognisedRecording(speech: speech, words: words, duration: format.duration, sha256: sha256)
        } catch {
            outcome = (error as? EngineFailure)?.code.rawValue ?? "cancelled"
            throw error
        }
    }
}
