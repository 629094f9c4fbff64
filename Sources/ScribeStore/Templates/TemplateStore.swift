package import Foundation
package import ScribeDomain

/// Templates and sections that businesses make.
package struct TemplateStore: StorePart {
    let store: Store

    /// Templates that a business owns, newest first, without archived ones.
    package func all(of business: BusinessID) async throws -> [CustomTemplate] {
        try await ownItems(of: business)
    }

    /// Template that a business owns; nil without such a template. Archived templates are included, because earlier
    /// requests still use them.
    package func template(_ id: TemplateID, of business: BusinessID) async throws -> CustomTemplate? {
        try await read { db in
            try Self.ownRow(CustomTemplate.self, id.rawValue, of: business, in: db).map(CustomTemplate.init(row:))
        }
    }

    /// Stores a template of a business.
    /// - Throws: ``ScribeError/invalidState(_:)`` if the business has ``Limits/ownTemplates`` templates already.
    package func addTemplate(_ template: CustomTemplate, to business: BusinessID, at now: Date) async throws {
        try await addOwn(template, to: business, at: now)
    }

    /// Changes a template of a business.
    /// - Throws: ``ScribeError/resourceNotFound(_:)``.
    package func updateTemplate(
        _ id: TemplateID, of business: BusinessID, _ change: @escaping @Sendable (inout CustomTemplate) -> Void
    ) async throws {
        try await updateOwn(id.rawValue, of: business, change)
    }

    /// Archives a template of a business.
    /// - Throws: ``ScribeError/resourceNotFound(_:)``.
    package func archiveTemplate(_ id: TemplateID, of business: BusinessID, at now: Date) async throws {
        try await archiveOwn(CustomTemplate.self, id.rawValue, of: business, at: now)
    }

    /// Sections that a business owns, newest first, without archived ones.
    package func sections(of business: BusinessID) async throws -> [TemplateSection] {
        try await ownItems(of: business)
    }

    /// Size of the templates and sections that a business owns, in bytes of their texts.
    package func templateBytes(of business: BusinessID) async throws -> Int {
        try await read { db in
            let row = try db.row(
                """
                SELECT coalesce(sum(size), 0) AS size FROM (
                    SELECT 200 + length(title) + coalesce(length(summary), 0) + length(section_ids) AS size
                    FROM templates WHERE business_id = ?1 AND archived_at IS NULL
                    UNION ALL
                    SELECT 200 + length(title) + length(summary) + length(example) AS size
                    FROM template_sections WHERE business_id = ?1 AND archived_at IS NULL
                ) AS sizes
                """, [business.rawValue])
            return row.map { $0["size"] } ?? 0
        }
    }

    /// Stores a section of a business.
    /// - Throws: ``ScribeError/invalidState(_:)`` if the business has ``Limits/ownTemplates`` sections already.
    package func addSection(_ section: TemplateSection, to business: BusinessID, at now: Date) async throws {
        try await addOwn(section, to: business, at: now)
    }

    /// Changes a section of a business.
    /// - Throws: ``ScribeError/resourceNotFound(_:)``.
    package func updateSection(
        _ id: SectionID, of business: BusinessID, _ change: @escaping @Sendable (inout TemplateSection) -> Void
    ) async throws {
        try await updateOwn(id.rawValue, of: business, change)
    }

    /// Archives a section of a business.
    /// - Throws: ``ScribeError/resourceNotFound(_:)``.
    package func archiveSection(_ id: SectionID, of business: BusinessID, at now: Date) async throws {
        try await archiveOwn(TemplateSection.self, id.rawValue, of: business, at: now)
    }
}

/// Template or section that a business owns: one row of a table, archived and never deleted.
private protocol OwnItem: Sendable {
    static var table: String { get }
    /// Column of the item's id.
    static var idColumn: String { get }
    /// Word for the item in errors.
    static var name: String { get }

    init(row: StoredRow) throws
    /// Makes the item's row.
    /// - Parameter createdAt: in milliseconds since 1970.
    func row(of business: BusinessID, createdAt: Int64) throws -> ColumnValues
}

extension OwnItem {
    fileprivate static var isNotFound: ScribeError { .resourceNotFound("\(name) not found") }
}

extension TemplateStore {
    private func ownItems<Item: OwnItem>(of business: BusinessID) async throws -> [Item] {
        try await read { db in
            try db.rows(
                "SELECT * FROM \(Item.table) WHERE business_id = ? AND archived_at IS NULL ORDER BY id DESC",
                [business.rawValue]
            ).map(Item.init(row:))
        }
    }

    /// Row of an item, archived or not; nil without such an item.
    private static func ownRow<Item: OwnItem>(
        _ type: Item.Type, _ id: String, of business: BusinessID, in db: any StoreSession
    ) throws -> StoredRow? {
        try db.row(
            "SELECT * FROM \(Item.table) WHERE business_id = ? AND \(Item.idColumn) = ?", [business.rawValue, id])
    }

    private func addOwn(_ item: some OwnItem, to business: BusinessID, at now: Date) async throws {
        try await database.write(.business(business)) { db in
            let table = type(of: item).table
            let known = try db.row(
                "SELECT count(*) AS count FROM \(table) WHERE business_id = ? AND archived_at IS NULL",
                [business.rawValue])
            guard known?["count"] ?? 0 < Limits.ownTemplates else {
                throw ScribeError.invalidState("There are \(Limits.ownTemplates) already; delete some first")
            }
            try db.insert(into: table).values(item.row(of: business, createdAt: now.milliseconds))
        }
    }

    /// Adds a section of a seed; one that is there stays.
    static func addSeeded(
        _ section: TemplateSection, to business: BusinessID, at now: Date, in db: any StoreSession
    ) throws { try addSeededItem(section, section.id.rawValue, to: business, at: now, in: db) }

    /// Adds a template of a seed; one that is there stays.
    static func addSeeded(
        _ template: CustomTemplate, to business: BusinessID, at now: Date, in db: any StoreSession
    ) throws { try addSeededItem(template, template.id.rawValue, to: business, at: now, in: db) }

    private static func addSeededItem<Item: OwnItem>(
        _ item: Item, _ id: String, to business: BusinessID, at now: Date, in db: any StoreSession
    ) throws {
        if let owner = try db.row("SELECT business_id FROM \(Item.table) WHERE \(Item.idColumn) = ?", [id]) {
            guard owner["business_id"] == business.rawValue else { throw SeedProblem.templateOfOtherBusiness(id) }
            return
        }
        let known = try db.row(
            "SELECT count(*) AS count FROM \(Item.table) WHERE business_id = ? AND archived_at IS NULL",
            [business.rawValue])
        guard known?["count"] ?? 0 < Limits.ownTemplates else { throw SeedProblem.tooManyTemplates }
        try db.insert(into: Item.table).values(item.row(of: business, createdAt: now.milliseconds))
    }

    private func updateOwn<Item: OwnItem>(
        _ id: String, of business: BusinessID, _ change: @escaping @Sendable (inout Item) -> Void
    ) async throws {
        try await database.write(.business(business)) { db in
            let row = try Self.ownRow(Item.self, id, of: business, in: db)
            guard let row, (row["archived_at"] as Int64?) == nil else { throw Item.isNotFound }
            var item = try Item(row: row)
            change(&item)
            try db.insert(into: Item.table, onConflict: .update(key: [Item.idColumn]))
                .values(item.row(of: business, createdAt: row["created_at"]))
        }
    }

    private func archiveOwn<Item: OwnItem>(
        _ type: Item.Type, _ id: String, of business: BusinessID, at now: Date
    ) async throws {
        try await database.write(.business(business)) { db in
            try db.run(
                """
                UPDATE \(Item.table) SET archived_at = ?
                WHERE business_id = ? AND \(Item.idColumn) = ? AND archived_at IS NULL
                """,
                [now.milliseconds, business.rawValue, id]
            )
            guard try db.changedRows() > 0 else { throw Item.isNotFound }
        }
    }
}

extension CustomTemplate: OwnItem {
    fileprivate static var table: String { "templates" }
    fileprivate static var idColumn: String { "template_id" }
    fileprivate static var name: String { "Template" }

    fileprivate init(row: StoredRow) throws {
        self.init(
            id: TemplateID(row["template_id"]), title: row["title"], summary: row["summary"],
            sectionIDs: try StoredJSON.value(row["section_ids"])
        )
    }

    fileprivate func row(of business: BusinessID, createdAt: Int64) throws -> ColumnValues {
        [
            "business_id": business.rawValue, "template_id": id.rawValue, "title": title, "summary": summary,
            "section_ids": try StoredJSON.text(sectionIDs), "created_at": createdAt,
        ]
    }
}

extension TemplateSection: OwnItem {
    fileprivate static var table: String { "template_sections" }
    fileprivate static var idColumn: String { "section_id" }
    fileprivate static var name: String { "Section" }

    fileprivate init(row: StoredRow) throws {
        self.init(
            id: SectionID(row["section_id"]), title: row["title"], summary: row["summary"],
            style: try row.word("style"), example: row["example"],
            parent: (row["parent_id"] as String?).map { SectionID($0) }
        )
    }

    fileprivate func row(of business: BusinessID, createdAt: Int64) throws -> ColumnValues {
        [
            "business_id": business.rawValue, "section_id": id.rawValue, "title": title, "summary": summary,
            "style": style.rawValue, "example": example, "parent_id": parent?.rawValue, "created_at": createdAt,
        ]
    }
}
