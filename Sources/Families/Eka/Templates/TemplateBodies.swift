import Basics
import ScribeDomain
import ScribeHTTP

/// Encodes a template for the list of templates (eka.md 2.9).
struct TemplateItem {
    let id: TemplateID
    let title: String
    let desc: String?
    let sectionIDs: [SectionID]
    let isDefault: Bool
    let isFavourite: Bool

    var json: JSON {
        [
            "id": .string(id.rawValue), "title": .string(title), "desc": desc.map(JSON.string).orNull,
            "section_ids": .array(sectionIDs) { .string($0.rawValue) }, "default": .bool(isDefault),
            "is_favorite": .bool(isFavourite), "is_editable": .bool(!isDefault),
        ]
    }

    /// Encodes a list of templates under two keys: `items` for Android, older iOS and the web client, `data.templates`
    /// for iOS (C-85, C-86).
    static func list(_ items: [TemplateItem]) -> JSON {
        let list = JSON.array(items) { $0.json }
        return ["items": list, "data": ["templates": list]]
    }
}

extension TemplateSection {
    /// Encodes the section for the list of sections.
    var json: JSON {
        [
            "id": .string(id.rawValue), "title": .string(title), "desc": .string(summary),
            "format": .string(style.rawValue), "example": .string(example), "default": .bool(isDefault),
            "parent_section_id": parent.map { .string($0.rawValue) },
        ]
    }
}

/// Decodes the body that creates or changes a template.
struct TemplateBody: Decodable {
    let title: String?
    let desc: String?
    let sectionIDs: [SectionID]?

    private enum CodingKeys: String, CodingKey {
        case title, desc
        case sectionIDs = "section_ids"
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        title = try container.title(forKey: .title)
        desc = try container.decodeIfPresent(String.self, forKey: .desc)?.storable
        try Limits.require(desc, within: Limits.sectionText, "desc")
        let ids = try container.decodeIfPresent([String].self, forKey: .sectionIDs)
        try Limits.require(ids?.count ?? 0, atMost: Limits.sectionsOfTemplate, "section_ids")
        for id in ids ?? [] { try Limits.require(id, within: Limits.word, "section_ids") }
        sectionIDs = ids?.map { SectionID($0) }
    }
}

/// Decodes the body that creates or changes a section.
struct SectionBody: Decodable {
    let title: String?
    let desc: String?
    let format: TemplateSection.Style?
    let example: String?

    private enum CodingKeys: String, CodingKey {
        case title, desc, format, example
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        title = try container.title(forKey: .title)
        desc = try container.decodeIfPresent(String.self, forKey: .desc)?.storable
        example = try container.decodeIfPresent(String.self, forKey: .example)?.storable
        try Limits.require(desc, within: Limits.sectionText, "desc")
        try Limits.require(example, within: Limits.sectionText, "example")
        format = try container.decodeIfPresent(String.self, forKey: .format).map { word in
            guard let style = TemplateSection.Style(rawValue: word) else {
                throw ScribeError.invalidRequest(field: "format", problem: "must be P or B")
            }
            return style
        }
    }
}

extension KeyedDecodingContainer {
    /// Decodes a title of 1 to 255 characters; nil if absent.
    fileprivate func title(forKey key: Key) throws -> String? {
        guard let title = try decodeIfPresent(String.self, forKey: key) else { return nil }
        guard !title.allSatisfy(\.isWhitespace), title.unicodeScalars.count <= 255, title.isPlain else {
            throw ScribeError.invalidRequest(field: key.stringValue, problem: "must have 1 to 255 characters")
        }
        return title
    }
}
