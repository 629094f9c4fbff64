package import Foundation

/// What an ambient session was started with and told since, beside what any transaction is (suki.md 3.1, 5).
package struct AmbientTerms: Hashable, Sendable {
    /// How far its recording is.
    package enum Stage: String, Hashable, Sendable, CaseIterable, Comparable {
        case created
        /// A socket was opened.
        case ready
        /// Audio has come.
        case running

        package static func < (one: Stage, other: Stage) -> Bool { one.order < other.order }

        private var order: Int {
            switch self {
            case .created: 0
            case .ready: 1
            case .running: 2
            }
        }
    }

    /// The visit, which may have several sessions.
    package let encounter: String
    package var stage: Stage = .created
    package var context = AmbientContext.empty
    /// The sections that are to be told in sentences, chosen when it ended.
    package var narrativeSections: [String] = []

    package init(encounter: String) { self.encounter = encounter }

    /// The template under which its note is kept.
    package static let template = TemplateID("ambient_note")

    /// What a note that was kept says: the title and the text of each section.
    package static func sections(in note: String) -> [(title: String, text: String)] {
        guard case .array(let sections)? = JSONDocument.untrusted(Data(note.utf8), as: JSONValue.self) else {
            return []
        }
        return sections.compactMap { section in
            section["title"]?.stringValue.map { ($0, section["value"]?.stringValue ?? "") }
        }
    }

    /// What is written of it. Sections share what was said: what one names is not told under a wider one, and what has
    /// no section of its own among them is told with the present illness.
    package func template(_ id: TemplateID) -> Template {
        let codes = context.sections.isEmpty ? AmbientSection.usual : context.sections
        let wanted = codes.compactMap { AmbientSection[$0] }
        return Template(
            id: id, name: "Ambient Note", format: .json, bucket: .custom,
            sections: wanted.map { section in
                var facts = section.facts
                if section.code == AmbientSection.presentIllness {
                    facts += AmbientSection.toldWithIllness.filter { kind in
                        !wanted.contains { $0.facts.contains(kind) && $0.words.isEmpty }
                    }
                }
                // Vital signs and results are part of an examination where they have no section of their own.
                if section.facts == [.examination] {
                    facts += [.vital, .result].filter { kind in !wanted.contains { $0.facts.contains(kind) } }
                }
                let narrower = wanted.filter { !$0.words.isEmpty && !Set($0.facts).isDisjoint(with: facts) }
                return Template.Section(
                    title: section.title, facts: facts, isParagraph: narrativeSections.contains(section.code),
                    mentioning: section.words, notMentioning: section.words.isEmpty ? narrower.flatMap(\.words) : [])
            })
    }
}

/// What the API says of a session (suki.md 3.8).
package enum AmbientStatus: String, Hashable, Sendable {
    case created, ready, running, completed, skipped, failed, aborted
}

extension Transaction {
    /// nil for a transaction that is no ambient session.
    /// - Parameter lifetime: how long one may be open, in seconds.
    package func ambientStatus(at now: Date, lifetime: TimeInterval) -> AmbientStatus? {
        guard let terms = request.ambient else { return nil }
        switch (userStatus, processingStatus) {
        case (.cancelled, _), (_, .cancelled): return .aborted
        case (.initialized, _), (.stopped, _):
            if isExpired(at: now, lifetime: lifetime) { return .failed }
            return switch terms.stage {
            case .created: .created
            case .ready: .ready
            case .running: .running
            }
        case (.committed, .inProgress): return .running
        case (.committed, .success): return .completed
        // There was too little to be heard.
        case (.committed, .requestFailure): return .skipped
        case (.committed, .systemFailure): return .failed
        }
    }
}

/// One stretch of a session's audio: from a START_TIME to the next, or to the end of its socket.
package struct AmbientSegment: Hashable, Sendable {
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

extension [AmbientSegment] {
    /// One recording in the order in which it was spoken. Of those with the same start the longest counts, and of equal
    /// ones the first that came: it was sent again.
    package var recorded: [AmbientSegment] {
        var best: [Date: (offset: Int, segment: AmbientSegment)] = [:]
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
