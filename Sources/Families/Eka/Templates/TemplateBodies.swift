import ScribeDomain
import ScribeHTTP

/// A template as clients list it (eka.md 2.9).
struct TemplateItem: Encodable {
    let id: TemplateID
    let title: String
    let desc: String?
    let sectionIDs: [SectionID]
    let isDefault: Bool
    let isFavourite: Bool

    private enum CodingKeys: String, CodingKey {
        case id, title, desc
        case sectionIDs = "section_ids"
        case isDefault = "default"
        case isFavourite = "is_favorite"
        case isEditable = "is_editable"
    }

    init(_ template: Template, isFavourite: Bool) {
        id = template.id
        title = template.name
        desc = template.summary
        sectionIDs = template.sectionIDs
        isDefault = true
        self.isFavourite = isFavourite
    }

    init(_ template: CustomTemplate, isFavourite: Bool) {
        id = template.id
        title = template.title
        desc = template.summary
        sectionIDs = template.sectionIDs
        isDefault = false
        self.isFavourite = isFavourite
    }

    func encode(to encoder: any Encoder) throws {
        var item = encoder.container(keyedBy: CodingKeys.self)
        try item.encode(id, forKey: .id)
        try item.encode(title, forKey: .title)
        try item.encode(desc, forKey: .desc)
        try item.encode(sectionIDs, forKey: .sectionIDs)
        try item.encode(isDefault, forKey: .isDefault)
        try item.encode(isFavourite, forKey: .isFavourite)
        try item.encode(!isDefault, forKey: .isEditable)
    }
}

/// Under the key that Android, older iOS and the web client read, and under the one that iOS reads (C-85, C-86).
struct TemplateListBody: Encodable {
    struct Listed: Encodable {
        let templates: [TemplateItem]
    }

    let items: [TemplateItem]
    let data: Listed

    init(_ items: [TemplateItem]) {
        self.items = items
        data = Listed(templates: items)
    }
}

/// A section as clients list it.
struct SectionItem: Encodable {
    let section: TemplateSection

    private enum CodingKeys: String, CodingKey {
        case id, title, desc, format, example
        case isDefault = "default"
        case parent = "parent_section_id"
    }

    func encode(to encoder: any Encoder) throws {
        var item = encoder.container(keyedBy: CodingKeys.self)
        try item.encode(section.id, forKey: .id)
        try item.encode(section.title, forKey: .title)
        try item.encode(section.summary, forKey: .desc)
        try item.encode(section.style, forKey: .format)
        try item.encode(section.example, forKey: .example)
        try item.encode(section.isDefault, forKey: .isDefault)
        try item.encodeIfPresent(section.parent, forKey: .parent)
    }
}

/// What a client says of a template it makes or changes.
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

/// What a client says of a section it makes or changes.
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
    /// A name that people read: neither empty nor longer than 255 characters.
    fileprivate func title(forKey key: Key) throws -> String? {
        guard let title = try decodeIfPresent(String.self, forKey: key) else { return nil }
        guard !title.allSatisfy(\.isWhitespace), title.unicodeScalars.count <= 255, title.isPlain else {
            throw ScribeError.invalidRequest(field: key.stringValue, problem: "must have 1 to 255 characters")
        }
        return title
    }
}
