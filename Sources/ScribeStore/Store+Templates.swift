package import Foundation
import GRDB
package import ScribeDomain

extension Store {
    /// The business's own templates, newest first.
    package func templates(of business: BusinessID) async throws -> [CustomTemplate] {
        try await read { db in
            try db.rows(
                "SELECT * FROM templates WHERE business_id = ? AND archived_at IS NULL ORDER BY id DESC",
                [business.rawValue]
            ).map(CustomTemplate.init(row:))
        }
    }

    /// One of the business's own templates, deleted ones included: what was asked for before is still written so.
    package func template(_ id: TemplateID, of business: BusinessID) async throws -> CustomTemplate? {
        try await read { db in
            try db.row(
                "SELECT * FROM templates WHERE business_id = ? AND template_id = ?", [business.rawValue, id.rawValue]
            ).map(CustomTemplate.init(row:))
        }
    }

    package func add(_ template: CustomTemplate, to business: BusinessID, at now: Date) async throws {
        try await writes.write { db in
            try Self.requireRoom(in: "templates", business, db)
            try db.run(
                """
                INSERT INTO templates (business_id, template_id, title, summary, section_ids, created_at)
                VALUES (?, ?, ?, ?, ?, ?)
                """,
                [
                    business.rawValue, template.id.rawValue, template.title, template.summary,
                    try StoredJSON.text(template.sectionIDs), now.milliseconds,
                ]
            )
        }
    }

    /// - Throws: ``ScribeError/resourceNotFound(_:)``.
    package func update(
        _ id: TemplateID, of business: BusinessID, _ change: @escaping @Sendable (inout CustomTemplate) -> Void
    ) async throws {
        try await writes.write { db in
            let row = try db.row(
                "SELECT * FROM templates WHERE business_id = ? AND template_id = ? AND archived_at IS NULL",
                [business.rawValue, id.rawValue]
            )
            guard let row else { throw ScribeError.resourceNotFound("Template not found") }
            var template = try CustomTemplate(row: row)
            change(&template)
            try db.run(
                "UPDATE templates SET title = ?, summary = ?, section_ids = ? WHERE template_id = ?",
                [template.title, template.summary, try StoredJSON.text(template.sectionIDs), id.rawValue]
            )
        }
    }

    /// - Throws: ``ScribeError/resourceNotFound(_:)``.
    package func archiveTemplate(_ id: TemplateID, of business: BusinessID, at now: Date) async throws {
        try await writes.write { db in
            try db.run(
                """
                UPDATE templates SET archived_at = ?
                WHERE business_id = ? AND template_id = ? AND archived_at IS NULL
                """,
                [now.milliseconds, business.rawValue, id.rawValue]
            )
            guard db.changesCount > 0 else { throw ScribeError.resourceNotFound("Template not found") }
        }
    }

    /// The business's own sections, newest first.
    package func sections(of business: BusinessID) async throws -> [TemplateSection] {
        try await read { db in
            try db.rows(
                "SELECT * FROM template_sections WHERE business_id = ? AND archived_at IS NULL ORDER BY id DESC",
                [business.rawValue]
            ).map(TemplateSection.init(row:))
        }
    }

    package func add(_ section: TemplateSection, to business: BusinessID, at now: Date) async throws {
        try await writes.write { db in
            try Self.requireRoom(in: "template_sections", business, db)
            try db.run(
                """
                INSERT INTO template_sections (
                    business_id, section_id, title, summary, style, example, parent_id, created_at
                ) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    business.rawValue, section.id.rawValue, section.title, section.summary, section.style.rawValue,
                    section.example, section.parent?.rawValue, now.milliseconds,
                ]
            )
        }
    }

    /// - Throws: ``ScribeError/resourceNotFound(_:)``.
    package func update(
        _ id: SectionID, of business: BusinessID, _ change: @escaping @Sendable (inout TemplateSection) -> Void
    ) async throws {
        try await writes.write { db in
            let row = try db.row(
                "SELECT * FROM template_sections WHERE business_id = ? AND section_id = ? AND archived_at IS NULL",
                [business.rawValue, id.rawValue]
            )
            guard let row else { throw ScribeError.resourceNotFound("Section not found") }
            var section = try TemplateSection(row: row)
            change(&section)
            try db.run(
                "UPDATE template_sections SET title = ?, summary = ?, style = ?, example = ? WHERE section_id = ?",
                [section.title, section.summary, section.style.rawValue, section.example, id.rawValue]
            )
        }
    }

    /// - Throws: ``ScribeError/resourceNotFound(_:)``.
    package func archiveSection(_ id: SectionID, of business: BusinessID, at now: Date) async throws {
        try await writes.write { db in
            try db.run(
                """
                UPDATE template_sections SET archived_at = ?
                WHERE business_id = ? AND section_id = ? AND archived_at IS NULL
                """,
                [now.milliseconds, business.rawValue, id.rawValue]
            )
            guard db.changesCount > 0 else { throw ScribeError.resourceNotFound("Section not found") }
        }
    }
}

extension Store {
    /// - Throws: ``ScribeError/invalidState(_:)`` when a business has as many as it may.
    private static func requireRoom(in table: String, _ business: BusinessID, _ db: Database) throws {
        let known = try db.row(
            "SELECT count(*) AS count FROM \(table) WHERE business_id = ? AND archived_at IS NULL",
            [business.rawValue])
        guard known?["count"] ?? 0 < Limits.ownTemplates else {
            throw ScribeError.invalidState("There are \(Limits.ownTemplates) already; delete some first")
        }
    }
}

extension CustomTemplate {
    fileprivate init(row: StoredRow) throws {
        self.init(
            id: TemplateID(row["template_id"]), title: row["title"], summary: row["summary"],
            sectionIDs: try StoredJSON.value(row["section_ids"])
        )
    }
}

extension TemplateSection {
    fileprivate init(row: StoredRow) throws {
        self.init(
            id: SectionID(row["section_id"]), title: row["title"], summary: row["summary"],
            style: try row.word("style"), example: row["example"],
            parent: (row["parent_id"] as String?).map { SectionID($0) }
        )
    }
}
