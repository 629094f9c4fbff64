package import Basics
package import Crypto
package import Engines
import Foundation
package import NIOCore
package import NIOPosix
import ObjectStorage
package import ScribeDomain
import ScribeStore

/// Recognition of recordings outside transactions: each is written to a file, recognised while its sender waits, and
/// deleted.
package struct Recognitions: Sendable {
    /// Speech of one channel, or of all channels together.
    package struct RecognisedChannel: Sendable {
        package let speech: RecognisedSpeech
        /// The words of ``speech``; with estimated times if the recogniser gave none.
        package let words: [TimedWord]
    }

    /// Result of a recognition.
    package struct RecognisedRecording: Sendable {
        /// The channels in order; a single one if the channels were recognised together.
        package let channels: [RecognisedChannel]
        /// The length of the audio, in seconds.
        package let duration: Double
        /// The digest of the bytes as they were sent.
        package let sha256: SHA256Digest
    }

    /// Longest recording with separate channels, in seconds.
    private static let longestWithChannels = 4 * 3600.0

    private let uploads: Uploads
    private let transcriber: any Transcriber
    private let decoder: RecordingDecoder
    private let metrics: Metrics
    private let clock: WallClock
    private let threads: NIOThreadPool

    package init(
        uploads: Uploads, transcriber: any Transcriber, decoder: RecordingDecoder, metrics: Metrics, clock: WallClock,
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
    ///   - samples: The format of samples, asked for if the bytes have no header; it gives nil for a file with one.
    ///   - eachChannel: Whether each channel is recognised separately.
    ///   - size: The announced size in bytes; nil if unknown.
    ///   - languages: The languages that may be spoken, at most two.
    /// - Throws: ``EngineFailure``, ``ScribeError/tooLarge(limit:)``, ``ScribeError/storageUnavailable(cause:)``,
    ///   ``ScribeError/storageQuotaExceeded``, and errors of `samples` and the body.
    package func recognise<Body: AsyncSequence & Sendable>(
        _ body: Body, samples: @Sendable () throws -> WaveHeader? = { nil }, eachChannel: Bool = false,
        size: Int? = nil, languages: [String], for principal: Principal
    ) async throws -> RecognisedRecording where Body.Element == ByteBuffer {
        guard size ?? 0 <= Limits.recording else { throw ScribeError.tooLarge(limit: Limits.recording) }
        return try await uploads.receive(for: principal.business, expecting: size ?? 0, isPassing: true) { file in
            var hash = SHA256()
            var count = 0
            for try await buffer in body where buffer.readableBytes > 0 {
                if count == 0, AudioFormat.contentType(ofFileBeginning: Array(buffer.readableBytesView)) == nil,
                    let samples = try samples()
                {
                    try await file.write(samples.bytes(before: size))
                }
                count += buffer.readableBytes
                guard count <= Limits.recording else { throw ScribeError.tooLarge(limit: Limits.recording) }
                buffer.withUnsafeReadableBytes { hash.update(bufferPointer: $0) }
                try await file.write(buffer)
            }
            _ = try await file.finish()
            return try await recognise(
                StoredAudio(file: file.name, objects: uploads.objects.spool), eachChannel, languages, hash.finalize(),
                for: principal)
        }
    }

    private func recognise(
        _ audio: StoredAudio, _ eachChannel: Bool, _ languages: [String], _ sha256: SHA256Digest,
        for principal: Principal
    ) async throws -> RecognisedRecording {
        let tenant = principal.business.rawValue
        func recognise(_ source: any AudioSource) async throws -> RecognisedChannel {
            let recording = Recording(source, ordinal: 1, languages: languages, isLastAttempt: true, tenant: tenant)
            return try await self.recognise(recording, of: duration)
        }
        let duration = try await audio.read(on: threads) { try AudioFormat(reading: $0).duration }
        let channels = try await audio.withLocalFile { path in
            var channels: [RecognisedChannel] = []
            // Each channel is decoded to a file of its own.
            guard !eachChannel || duration <= Self.longestWithChannels else {
                throw EngineFailure(.undecodableAudio, "longer than four hours, with separate channels")
            }
            let count = eachChannel ? try await decoder.channelCount(of: path, for: tenant) : 1
            guard count > 1 else { return [try await recognise(audio)] }
            for channel in 0..<count {
                channels.append(
                    try await decoder.withChannel(channel, of: path, for: tenant) {
                        try await recognise(LocalAudio(path: $0))
                    })
            }
            return channels
        }
        return RecognisedRecording(channels: channels, duration: duration, sha256: sha256)
    }

    private func recognise(_ recording: Recording, of duration: Double) async throws -> RecognisedChannel {
        let start = clock.now
        var outcome = "success"
        defer {
            metrics.chunkTranscribed(
                by: transcriber.name, outcome: outcome, seconds: clock.now.timeIntervalSince(start))
        }
        do {
            let speech = try await transcriber.transcribe(recording)
            let voiced =
                speech.words.isEmpty && !speech.text.isEmpty
                ? try await SpeechRanges(of: recording, duration: duration, by: decoder) : SpeechRanges()
            let words = await EventLoopOffload.run(bytes: speech.text.utf8.count) {
                speech.words(in: voiced, over: duration)
            }
            return RecognisedChannel(speech: speech, words: words)
        } catch {
            outcome = (error as? EngineFailure)?.code.rawValue ?? "cancelled"
            throw error
        }
    }
}
