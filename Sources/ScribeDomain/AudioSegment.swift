package import Foundation

/// A stretch of a recording's audio (``AudioIntake/segments``): from a start that its client names to the next, or to the
/// end of its socket (suki.md 5).
package struct AudioSegment: Hashable, Sendable {
    package struct File: Hashable, Sendable {
        package let name: String
        /// Of its samples.
        package let seconds: Double

        package init(name: String, seconds: Double) {
            self.name = name
            self.seconds = seconds
        }
    }

    package let recording: String
    package let startedAt: Date
    /// In order.
    package let files: [File]

    package init(recording: String, startedAt: Date, files: [File]) {
        self.recording = recording
        self.startedAt = startedAt
        self.files = files
    }

    /// In the order of their names as texts, that of the segment.
    package static func fileName(_ number: Int, of recording: String) -> String {
        "\(recording)-\(number.padded(to: 6)).wav"
    }

    /// Of 16 kHz mono in 16 bits, behind the header of a WAV.
    package static func seconds(of fileSize: Int) -> Double { Double(max(0, fileSize - headerSize)) / 32_000 }

    /// Of a file, in bytes.
    package static let headerSize = 44

    package var seconds: Double { files.reduce(0) { $0 + $1.seconds } }
}

extension [AudioSegment] {
    /// One recording in the order in which it was spoken. Of those with the same start the longest counts, and of equal
    /// ones the first that came: it was sent again.
    package var recorded: [AudioSegment] {
        var best: [Date: (offset: Int, segment: AudioSegment)] = [:]
        for (offset, segment) in enumerated() where !segment.files.isEmpty {
            if let known = best[segment.startedAt], known.segment.seconds >= segment.seconds { continue }
            best[segment.startedAt] = (offset, segment)
        }
        return best.values.sorted { ($0.segment.startedAt, $0.offset) < ($1.segment.startedAt, $1.offset) }.map(
            \.segment)
    }

    /// The files of all, in order, each with its place in the whole.
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
