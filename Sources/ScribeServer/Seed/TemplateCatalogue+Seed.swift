import Engines
import ScribeDomain
package import ScribeRuntime

extension TemplateCatalogue {
    /// Reads the templates of every server from `seed/templates.yaml`, which is compiled in.
    /// - Throws: ``StartupProblem``.
    package static func shipped() throws -> TemplateCatalogue { try Seed.templates() }

    /// Reads `seed/templates.yaml`.
    init(_ file: FileFields) throws {
        let sections = try file.required(
            "sections",
            file.list("sections", known: ["id", "title", "desc", "format", "example", "facts"], Self.section))
        let templates = try file.list(
            "templates", known: ["id", "name", "desc", "format", "bucket", "sections", "section_ids"]
        ) { try Self.template($0, of: sections) }
        self.init(try file.required("templates", templates), sections: sections)
    }

    private static func section(_ entry: FileFields) throws -> TemplateSection {
        TemplateSection(
            id: SectionID(try entry.text("id")), title: try entry.text("title"), summary: try entry.text("desc"),
            style: try entry.required("format", entry.word(ifPresent: "format")), example: try entry.text("example"),
            isDefault: true, facts: try entry.required("facts", entry.words(ifPresent: "facts")))
    }

    private static func template(_ entry: FileFields, of known: [TemplateSection]) throws -> Template {
        let ids = try entry.texts(ifPresent: "section_ids")?.map { SectionID($0) } ?? []
        let headings = try entry.list("sections", known: ["title", "facts"]) {
            Template.Section(
                title: try $0.text("title"), facts: try $0.required("facts", $0.words(ifPresent: "facts")))
        }
        let format = Template.Format(try entry.text("format"))
        guard Template.Format.written.contains(format) else {
            throw UnusableEntry(problem: "'\(format)' is no format of a note")
        }
        return Template(
            id: TemplateID(try entry.text("id")), name: try entry.text("name"), summary: try entry.text("desc"),
            format: format, bucket: try entry.required("bucket", entry.word(ifPresent: "bucket")),
            sections: headings ?? ids.compactMap { id in known.first { $0.id == id }?.layout }, sectionIDs: ids)
    }
}
