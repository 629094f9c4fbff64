import Basics
import Foundation
import Hummingbird
import ScribeDomain
import ScribeHTTP
import ScribeRuntime

/// `POST /voice/api/v1/template/ai-create-template`: drafts a template from a description or an example (eka.md 2.9).
///
/// The draft comes from rules, not from a model, so the same text gives the same draft. Its title is the start of the
/// first line; its sections are those the text mentions. Nothing is stored: the client creates the template itself.
struct TemplateDraftRoute: Sendable {
    /// Largest form, in bytes: an example may be a picture or a PDF.
    private static let formLimit = 10 << 20
    /// Longest text that is searched for sections, in bytes.
    private static let longestText = 64 << 10

    let catalogue: TemplateCatalogue

    static func add(to router: WorldRoutes<Self>) {
        router.post("voice/api/v1/template/ai-create-template", use: draft)
        // Path of the web SDK 2.x, on other hosts.
        router.post("api/v1/medai/ai-create-template", use: draft)
    }

    private struct Body: Decodable {
        var instruction: String?
        var content: String?
        var file: String?

        private enum CodingKeys: String, CodingKey {
            case instruction, content
            case file = "file_base64"
        }

        init(_ form: CollectedForm) {
            instruction = form.text("instruction")
            content = form.text("content") ?? form.part("file").map(TemplateDraftRoute.text(of:))
            file = form.text("file_base64")
        }
    }

    @Sendable private func draft(_ request: Request, context: ScribeContext) async throws -> Response {
        let answer =
            CollectedForm.isForm(request)
            ? try await CollectedForm.read(request, limit: Self.formLimit, in: context)
                .read { try draft(from: Body($0)) }
            : try await request.decodeJSON(in: context) { try draft(from: $0) }
        return .json(.ok, answer)
    }

    private func draft(from body: Body) throws -> JSON {
        let attached = try body.file.map { text in
            EventLoopOffload.watch(bytes: text.utf8.count, of: "an example")
            // A page may send the file as a data URL.
            let encoded = text.hasPrefix("data:") ? String(text.split(separator: ",").last ?? "") : text
            guard let data = Data(base64Encoded: encoded) else {
                throw ScribeError.invalidRequest(field: "file_base64", problem: "must be base64")
            }
            return Self.text(of: data)
        }
        let parts = [body.instruction, body.content, attached].compactMap { $0.map(Self.beginning) }
            .filter { !$0.allSatisfy(\.isWhitespace) }
        guard let first = parts.first else {
            throw ScribeError.invalidRequest(field: "instruction", problem: "or content or a file is required")
        }
        let text = Array(parts.joined(separator: "\n").lowercased().utf8)
        let mentioned = catalogue.sections.filter { section in
            section.title.lowercased().split(whereSeparator: { !$0.isLetter })
                .contains { text.firstRange(of: $0.utf8) != nil }
        }
        let sections = mentioned.isEmpty ? catalogue.sections : mentioned
        let headings = sections.map { "## \($0.title)\n\($0.summary)" }.joined(separator: "\n\n")
        return [
            "title": .string(Self.title(first)),
            "desc": "A note with \(sections.map(\.title).joined(separator: ", "))",
            "template_instructions": .string(headings), "sections": .array(sections) { $0.json },
            "message": "Template drafted successfully",
        ]
    }

    private static func beginning(of text: String) -> String {
        text.utf8.count <= longestText ? text : String(decoding: text.utf8.prefix(longestText), as: UTF8.self)
    }

    /// The text of an example file; "File" for a picture or a PDF, which the rules cannot read.
    private static func text(of file: some Collection<UInt8>) -> String {
        guard !file.starts(with: "%PDF-".utf8), let text = String(validating: file, as: UTF8.self),
            !text.utf8.contains(0)
        else { return "File" }
        return text
    }

    /// The first six words of the first line, as the title.
    private static func title(_ text: String) -> String {
        let text = String(
            text.unicodeScalars.filter { $0.properties.isWhitespace || $0.properties.generalCategory != .control })
        let line = text.split(whereSeparator: \.isNewline).first { !$0.allSatisfy(\.isWhitespace) } ?? ""
        let words = line.split(whereSeparator: \.isWhitespace).prefix(6).joined(separator: " ")
        return words.isEmpty ? "File" : String(words.prefix(100))
    }
}
