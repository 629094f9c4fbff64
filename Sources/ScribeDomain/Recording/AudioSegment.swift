import Basics
package import Foundation

/// Span of a recording's audio, from a start that the client names to the next start or the socket's end (suki.md 5).
/// Only recordings with ``AudioIntake/segments`` have segments.
package struct AudioSegment: Hashable, Sendable {
    /// Stored WAV file of a segment.
    package struct File: Hashable, Sendable {
        package let name: String
        /// Duration of the file's samples, in seconds.
        package let seconds: Double

        package init(name: String, seconds: Double) {
            self.name = name
            self.seconds = seconds
        }
    }

    package let recording: String
    package let startedAt: Date
    /// Files of the segment, in recording order.
    package let files: [File]

    package init(recording: String, startedAt: Date, files: [File]) {
        self.recording = recording
        self.startedAt = startedAt
        self.files = files
    }

    /// File name of a segment's nth file. Names sort as text in the order of their numbers, up to 999,999.
    package static func fileName(_ number: Int, of recording: String) -> String {
        "\(recording)-\(number.padded(to: 6)).wav"
    }

    /// Duration of a WAV file of 16 kHz mono 16-bit samples, from its size in bytes.
    package static func seconds(of fileSize: Int) -> Double { Double(max(0, fileSize - headerSize)) / 32_000 }

    /// Size of a file's WAV header, in bytes.
    package static let headerSize = 44

    package var seconds: Double { files.total(\.seconds) }
}

extension [AudioSegment] {
    /// Segments of one recording in the order of their start times, each start once.
    /// Among segments with the same start the longest counts, and among equal ones the
    /// first: the client sent them again.
    package var recorded: [AudioSegment] {
        var best: [Date: (offset: Int, segment: AudioSegment)] = [:]
        for (offset, segment) in enumerated() where !segment.files.isEmpty {
            if let known = best[segment.startedAt], known.segment.seconds >= segment.seconds { continue }
            best[segment.startedAt] = (offset, segment)
        }
        return best.values.sorted { ($0.segment.startedAt, $0.offset) < ($1.segment.startedAt, $1.offset) }.map(
            \.segment)
    }

    /// Files of all segments in order, each with its start and end in the joined recording.
    package var chunks: ChunkList {
        var names: [String] = []
        var times: [String: ChunkTimes] = [:]
        var start = 0.0
        for file in flatMap(\.files) {
            names.append(file.name)
            times[file.name] = ChunkTimes(start: start, end: start + file.seconds)
            start += file.seconds
        }
        return ChunkList(files: names, times: times)
    }
}
