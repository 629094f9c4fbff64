import Basics
import ScribeDomain

extension ModelNoteWriter {
    /// Writing of one note: asks for the parts, repairs an answer once, and counts what was left out.
    struct Session {
        enum Failure: Error {
            /// The answer or the question had no room: half of the part may have.
            case tooLong(EngineFailure)
            case other(any Error)
        }

        private let request: NoteRequest
        private let model: ChatModel
        private let grounding: TranscriptGrounding
        private let unsaid: UnsaidContent
        private let prompt: NotePrompt
        private var requestsLeft: Int
        /// Number of statements by the kind of content that was not said.
        private var gaps: [TranscriptGrounding.Gap: Int] = [:]

        init(
            _ request: NoteRequest, _ model: ChatModel, _ grounding: TranscriptGrounding, _ unsaid: UnsaidContent,
            requestsLeft: Int
        ) {
            self.request = request
            self.model = model
            self.grounding = grounding
            self.unsaid = unsaid
            self.requestsLeft = requestsLeft
            prompt = NotePrompt(
                template: request.template, schema: NoteSchema(request.template), isDictated: request.isDictated)
        }

        /// Statement with the kinds of content in it that were not said.
        private typealias Judged = (statement: NoteSchema.Statement, gaps: Set<TranscriptGrounding.Gap>)

        /// Statements of one part of the transcript, of each section. An answer that does not follow the schema, or
        /// with unsaid content, is asked for once more.
        mutating func statements(
            of part: String, _ place: (number: Int, count: Int)
        ) async throws(Failure) -> [[NoteSchema.Statement]] {
            let first = try await answer(part, place, [])
            let (found, problems) = await read(first)
            var judged = found
            if !problems.isEmpty {
                let isUsable = !judged.isEmpty
                do throws(Failure) {
                    let repaired = try await answer(
                        part, place, [.assistant(first.text), NotePrompt.repair(problems)])
                    let second = await read(repaired).judged
                    // A model that is told of a mistake may leave out too much, or answer in another shape.
                    if !isUsable || Self.count(second) >= Self.count(judged) { judged = second }
                } catch {
                    guard isUsable, !error.isCancellation else { throw error }
                }
            }
            guard !judged.isEmpty else {
                throw .other(
                    EngineFailure(
                        // A problem names sections by their titles, which the log must not have.
                        .noteFailed, "the model's answers follow no schema", origin: .input))
            }
            return judged.map { kept($0) }
        }

        /// Number of statements that were said.
        private static func count(_ judged: [[Judged]]) -> Int { judged.joined().count { $0.gaps.isEmpty } }

        private mutating func kept(_ judged: [Judged]) -> [NoteSchema.Statement] {
            judged.compactMap { statement, found in
                for gap in found { gaps[gap, default: 0] += 1 }
                return found.isEmpty || unsaid == .keep ? statement : nil
            }
        }

        private mutating func answer(
            _ part: String, _ place: (number: Int, count: Int), _ more: [ChatModel.Message]
        ) async throws(Failure) -> ChatAnswer {
            guard requestsLeft > 0 else {
                throw .other(EngineFailure(.noteFailed, "the note takes too many requests", origin: .input))
            }
            requestsLeft -= 1
            let prompt = prompt
            do {
                let answer = try await model.answer(in: prompt.schema.json) { format in
                    prompt.messages(part, part: place, format) + more
                }
                switch answer.end {
                case .whole: return answer
                case .length:
                    throw Failure.tooLong(
                        EngineFailure(
                            .noteFailed, "the question or the answer exceeds the model's limit", origin: .input))
                case .refusal:
                    throw Failure.other(EngineFailure(.noteFailed, "the model refused to answer", origin: .input))
                }
            } catch let failure as Failure {
                throw failure
            } catch {
                throw .other(error)
            }
        }

        /// Reads an answer.
        /// - Returns: the statements of each section, none if the answer does not follow the schema, and what is to be
        ///   mended.
        private func read(_ answer: ChatAnswer) async -> (judged: [[Judged]], problems: [String]) {
            await EventLoopOffload.run(bytes: answer.text.utf8.count) { judge(answer) }
        }

        private func judge(_ answer: ChatAnswer) -> (judged: [[Judged]], problems: [String]) {
            var mismatch = NoteSchema.Mismatch(problem: "it has no JSON object")
            // The last one: a model may draft before it answers.
            for object in answer.objects.reversed() {
                do throws(NoteSchema.Mismatch) {
                    let sections = try prompt.schema.statements(in: object)
                    let judged = zip(sections, request.template.sections).map { statements, section in
                        statements.map { ($0, gaps(in: $0, of: section)) }
                    }
                    let unsaid = judged.joined().filter { !$0.1.isEmpty }
                    let problems = unsaid.prefix(10).map { statement, gaps in
                        "\"\(statement.words.prefix(200))\" has \(gaps.names) that were not said"
                    }
                    return (judged, problems)
                } catch {
                    mismatch = error
                }
            }
            return ([], [mismatch.problem])
        }

        private func gaps(
            in statement: NoteSchema.Statement, of section: Template.Section
        ) -> Set<TranscriptGrounding.Gap> {
            var gaps = grounding.gaps(in: statement.words, example: section.example)
            let isMedicine = statement.kind == .medication || statement.kind == nil && section.facts == [.medication]
            if isMedicine, let name = statement.details["name"], !grounding.hasWords(of: name) {
                gaps.insert(.medicine)
            }
            return gaps
        }

        // MARK: Note

        func note(of sections: [[NoteSchema.Statement]]) -> WrittenNote {
            let facts = zip(request.template.sections, sections).map { section, statements in
                (
                    section,
                    statements.map {
                        ClinicalFact($0.kind ?? section.facts.first ?? .history, $0.text, details: $0.details)
                    }
                )
            }
            let encoding = NoteEncoding(request, facts) { facts, section in
                section.isParagraph
                    ? facts.map(\.text).map(\.asSentence).joined(separator: " ")
                    : facts.map { "- \($0.text)" }.joined(separator: "\n")
            }
            return WrittenNote(value: encoding.text, warnings: warnings + request.languageWarnings)
        }

        private var warnings: [Diagnostic] {
            TranscriptGrounding.Gap.allCases.compactMap { gap in
                gaps[gap].map { count in
                    let statements = count == 1 ? "1 statement" : "\(count) statements"
                    let content = "\(statements) with \(gap.name) that were not said"
                    return Diagnostic(
                        .unsaidContent, unsaid == .keep ? "The note has \(content)" : "The note leaves out \(content)")
                }
            }
        }
    }
}

extension ModelNoteWriter.Session.Failure {
    fileprivate var isCancellation: Bool {
        if case .other(let error) = self { error is CancellationError } else { false }
    }
}

extension Set<TranscriptGrounding.Gap> {
    fileprivate var names: String { map(\.name).sorted().joined(separator: " and ") }
}

extension String {
    /// The text with a full stop, unless it ends a sentence already.
    fileprivate var asSentence: String { last.map { ".!?।".contains($0) } ?? true ? self : self + "." }
}
