import Basics
import Crypto
import Engines
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import ScribeDomain
import ScribeHTTP
import ScribeRuntime

/// `POST /api/v1/ambient/session/{id}/audio`: uploads a segment that was recorded offline, as one WAV file.
///
/// Our own route: the vendor's way to send such audio is not public (suki.md 8, duty 11).
struct AudioRoutes: Sendable {
    let sessions: AmbientSessions

    /// Largest file, in bytes; more than two hours.
    static let largest = 256 << 20

    static func add(to router: WorldRoutes<Self>) {
        router.post("api/v1/ambient/session/{txn_id}/audio", use: take)
    }

    @Sendable private func take(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let (id, principal) = try context.requireAmbientSession()
        _ = try await sessions.requireOpen(id, of: principal)
        guard let time = request.headers.value(of: .startTime).flatMap({ Date(iso8601: $0.uppercased()) }) else {
            throw ScribeError.invalidRequest(field: "X-Start-Time", problem: "must be a time as RFC 3339 has it")
        }
        if let length = request.headers.value(of: .contentLength).flatMap({ Int($0) }), length > Self.largest {
            throw HTTPProblem.bodyTooLarge(limit: Self.largest)
        }
        let expected = request.headers.value(of: .encryptionHash)?.lowercased()
        if let expected, expected.utf8.count != 64 || !expected.allSatisfy(\.isHexDigit) { throw SukiError.wrongHash }
        let recording = try await sessions.receive(in: id, of: principal)
        do {
            let hash = try await receive(request, into: recording.stream)
            if let expected, expected != hash { throw SukiError.wrongHash }
            try await sessions.keep(recording, from: time, in: id, of: principal)
        } catch {
            // An upload that the client sees fail must not count: the client repeats it as a whole.
            await sessions.discard(recording, of: id, for: principal)
            throw error
        }
        try await sessions.advance(id, to: .running, of: principal)
        return .json(.ok, [:])
    }

    /// Streams the body into the recording.
    /// - Returns: The SHA-256 of the body, in hex.
    private func receive(_ request: Request, into stream: LiveRecording) async throws -> String {
        var wave = WaveSamples()
        var hash = SHA256()
        var size = 0
        for try await piece in request.body {
            size += piece.readableBytes
            guard size <= Self.largest else { throw HTTPProblem.bodyTooLarge(limit: Self.largest) }
            hash.update(data: piece.readableBytesView)
            guard let samples = try wave.samples(in: piece) else { continue }
            try await stream.take(samples, LiveOptions())
            try await stream.cut()
        }
        guard wave.isComplete else { throw WaveSamples.unusable }
        return Hex.encode(hash.finalize())
    }
}

/// Extracts the samples of a WAV file as it arrives.
struct WaveSamples {
    static let unusable = ScribeError.invalidRequest(
        field: nil, problem: "must be a WAV of 16-bit samples, mono, 16,000 in a second")

    /// Whether all samples have arrived, as far as the header gives their size.
    var isComplete: Bool { header.start != nil && [0, .max].contains(rest) && whole.isWhole }

    private var header = WaveHeaderParser()
    private var head = ByteBuffer()
    /// Bytes of samples still to come; `Int.max` if the header gives no size, as in streamed recordings.
    private var rest = Int.max
    private var whole = SampleJoiner()

    /// Extracts the samples of the next bytes.
    /// - Returns: Whole samples; nil until the header is complete.
    /// - Throws: ``unusable``.
    mutating func samples(in piece: ByteBuffer) throws(ScribeError) -> ByteBuffer? {
        var bytes = piece
        if header.start == nil {
            head.writeBuffer(&bytes)
            guard header.parse(head.readableBytesView) else { throw Self.unusable }
            guard let start = header.start else { return nil }
            guard let format = header.format, format.code == 1, format.channels == 1, format.sampleRate == 16_000,
                format.bits == 16
            else { throw Self.unusable }
            rest = header.size ?? .max
            bytes = head
            bytes.moveReaderIndex(forwardBy: start)
            head = ByteBuffer()
        }
        let count = min(rest, bytes.readableBytes)
        if rest != .max { rest -= count }
        return whole.take(bytes.readSlice(length: count) ?? ByteBuffer())
    }
}
