import Basics
import Engines
import HummingbirdCore
import NIOCore
import ObjectStorage
import ScribeDomain
import ScribeRuntime
import ScribeStore

/// Streams several stored WAV files as one.
struct JoinedWave: Sendable {
    private let objects: [StoredObject]
    private let uploads: Uploads
    private let header: ByteBuffer

    /// Size of the joined file, in bytes.
    var size: Int { header.readableBytes + objects.total { Self.samples(of: $0) } }

    /// - Parameter objects: WAV files of 16 kHz, mono, 16 bits, each with its own header.
    init(_ objects: [StoredObject], uploads: Uploads) {
        self.objects = objects
        self.uploads = uploads
        let samples = objects.total { Self.samples(of: $0) }
        header = WaveHeader(.signed16, channels: 1, sampleRate: 16_000).bytes(before: samples)
    }

    private static func samples(of object: StoredObject) -> Int { max(0, object.size - AudioSegment.headerSize) }

    func body(of bytes: Range<Int>) -> ResponseBody {
        ResponseBody(contentLength: bytes.count) { [self] writer in
            var position = 0
            /// The part of the next `count` bytes that the range selects; nil for none.
            func wanted(_ count: Int) -> Range<Int>? {
                defer { position += count }
                let first = max(bytes.lowerBound - position, 0)
                let end = min(bytes.upperBound - position, count)
                return first < end ? first..<end : nil
            }
            if let range = wanted(header.readableBytes),
                let piece = header.getSlice(at: header.readerIndex + range.lowerBound, length: range.count)
            {
                try await writer.write(piece)
            }
            for object in objects {
                guard let range = wanted(Self.samples(of: object)) else { continue }
                guard let reader = try await uploads.open(object) else { throw MissingFile() }
                let first = range.lowerBound + AudioSegment.headerSize
                let isWhole = try await reader.read(first..<first + range.count) { try await writer.write($0) }
                guard isWhole else { throw MissingFile() }
            }
            try await writer.finish(nil)
        }
    }

    /// A file disappeared after the answer began, so the answer breaks off.
    private struct MissingFile: Error {}
}
