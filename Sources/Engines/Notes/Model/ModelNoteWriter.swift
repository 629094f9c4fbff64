import Basics
package import ScribeDomain

/// Note writer by a language model. Each answer is read by the schema of the template and checked against the
/// transcript: statements with content that was not said are left out, or kept with a warning.
package struct ModelNoteWriter: NoteWriter {
    /// Treatment of statements with numbers, medicines, doses, sides or denials that were not said.
    package enum UnsaidContent: String, Hashable, Sendable, CaseIterable {
        case leaveOut = "leave-out"
        case keep
    }

    package let name = "openai"
    package let isInstant = false
    private let model: ChatModel
    private let unsaid: UnsaidContent
    /// Most characters of a transcript in one request; longer ones are sent in parts.
    private let longest: Int
    /// Templates whose notes the rules write.
    private let byRules: Set<TemplateID>
    private let rules: RulesNoteWriter

    /// Most requests for the note of a short transcript, so that a model which never ends an answer ends some time.
    private static let mostRequests = 60
    /// Shortest part that is divided once more after an answer that was too long.
    private static let shortestDivided = 1000

    package init(
        _ model: ChatModel, unsaid: UnsaidContent = .leaveOut, longest: Int = 24_000, byRules: Set<TemplateID> = [],
        rules: RulesNoteWriter
    ) {
        self.model = model
        self.unsaid = unsaid
        self.longest = longest
        self.byRules = byRules
        self.rules = rules
    }

    package func probe() async -> FailedProbe? { await model.probe() }

    /// An answer and its repair for each part; 0 for a note that the rules write.
    package func requestCount(for request: NoteRequest) -> Int {
        takes(request) ? 2 + 2 * (request.transcript.utf8.count / max(longest, 1)) : 0
    }

    /// Whether the model writes the note: a transcript is no note, and without sections or words there is nothing to
    /// ask for.
    private func takes(_ request: NoteRequest) -> Bool {
        let template = request.template
        return template.format != .transcript && !template.sections.isEmpty && !byRules.contains(template.id)
            && !request.transcript.allSatisfy(\.isWhitespace)
    }

    package func write(_ request: NoteRequest) async throws -> WrittenNote {
        guard takes(request) else { return try await rules.write(request) }
        let grounding = await EventLoopOffload.run(bytes: request.transcript.utf8.count) {
            TranscriptGrounding(request.transcript)
        }
        var parts = TranscriptParts(request.transcript, longest: longest).parts
        var count = parts.count
        var session = Session(request, model, grounding, unsaid, requestsLeft: max(Self.mostRequests, 3 * count))
        var sections = Array(repeating: [NoteSchema.Statement](), count: request.template.sections.count)
        var number = 0
        while !parts.isEmpty {
            let part = parts.removeFirst()
            number += 1
            do throws(Session.Failure) {
                let found = try await session.statements(of: part, (number: number, count: count))
                for (index, statements) in found.enumerated() {
                    sections[index] = (sections[index] + statements).removingDuplicates()
                }
            } catch {
                switch error {
                case .tooLong(let failure):
                    guard part.count >= Self.shortestDivided else { throw failure }
                    let halves = TranscriptParts(part, longest: part.count / 2 + 1).parts
                    parts = halves + parts
                    (number, count) = (number - 1, count + halves.count - 1)
                case .other(let failure): throw failure
                }
            }
        }
        return session.note(of: sections)
    }
}
