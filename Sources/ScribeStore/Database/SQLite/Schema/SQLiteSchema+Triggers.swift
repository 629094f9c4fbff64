/// Version 1: the stored bytes of each business, counted by triggers.
///
/// Each upload reads the count, and so does each scrape of the metrics. Neither may take longer as more is stored.
extension SQLiteSchema {
    static let triggers = """
        CREATE TRIGGER documents_edited_elsewhere AFTER UPDATE OF value ON documents WHEN NEW.is_plain_by_link
        BEGIN
            UPDATE documents SET is_plain_by_link = 0 WHERE id = NEW.id;
        END;

        CREATE TABLE storage (
            business_id TEXT NOT NULL PRIMARY KEY CHECK (business_id <> ''),
            objects INTEGER NOT NULL CHECK (objects >= 0),
            bytes INTEGER NOT NULL CHECK (bytes >= 0),
            -- Of documents, photos, preferences and parts of uploads, in bytes.
            content INTEGER NOT NULL DEFAULT 0 CHECK (content >= 0)
        ) STRICT, WITHOUT ROWID;

        CREATE TRIGGER object_replaced AFTER UPDATE OF size ON objects BEGIN
            UPDATE storage SET bytes = bytes + NEW.size - OLD.size WHERE business_id = NEW.business_id;
        END;
        CREATE TRIGGER object_removed AFTER DELETE ON objects BEGIN
            UPDATE storage SET objects = objects - 1, bytes = bytes - OLD.size WHERE business_id = OLD.business_id;
        END;
        CREATE TRIGGER object_stored AFTER INSERT ON objects BEGIN
            INSERT INTO storage (business_id, objects, bytes) VALUES (NEW.business_id, 1, NEW.size)
            ON CONFLICT (business_id) DO UPDATE SET objects = objects + 1, bytes = bytes + excluded.bytes;
        END;

        \(counting("document", in: "documents", of: "transactions", by: "transaction_id", size: documentSize(of:),
            columns: "value, editor_content, publication"))
        \(counting("photo", in: "photos", of: "conversations", by: "conversation", size: { "length(\($0).base64)" },
            columns: "base64"))
        \(counting("part", in: "multipart_parts", of: "multipart_uploads", by: "upload", size: { "\($0).size" },
            columns: "size"))

        CREATE TRIGGER preferences_stored AFTER INSERT ON preferences BEGIN
            INSERT INTO storage (business_id, objects, bytes, content)
            VALUES (NEW.business_id, 0, 0, length(CAST(NEW.data AS BLOB)))
            ON CONFLICT (business_id) DO UPDATE SET content = content + excluded.content;
        END;
        CREATE TRIGGER preferences_replaced AFTER UPDATE OF data ON preferences BEGIN
            UPDATE storage
            SET content = max(0, content + length(CAST(NEW.data AS BLOB)) - length(CAST(OLD.data AS BLOB)))
            WHERE business_id = NEW.business_id;
        END;
        """

    /// The size of a document in bytes, as an SQL expression.
    private static func documentSize(of row: String) -> String {
        // Most documents have an empty publication, which counts nothing.
        ["\(row).value", "\(row).editor_content", "nullif(\(row).publication, '{}')"]
            .map { "coalesce(length(CAST(\($0) AS BLOB)), 0)" }.joined(separator: " + ")
    }

    /// Makes the triggers that count the rows of a table for the business of their parent.
    ///
    /// Rows are deleted with their parent, after it is gone: a trigger on the parent subtracts their sizes first.
    /// - Parameters:
    ///   - name: the name of one row, in the names of the triggers.
    ///   - parents: the parents' table, which has a column `business_id`.
    ///   - parent: the column that refers to the parent.
    ///   - size: makes the SQL expression of a row's size in bytes, from the name of the row.
    ///   - columns: the columns that the size depends on.
    private static func counting(
        _ name: String, in table: String, of parents: String, by parent: String, size: (String) -> String,
        columns: String
    ) -> String {
        let (new, old) = (size("NEW"), size("OLD"))
        return """
            CREATE TRIGGER \(name)_stored AFTER INSERT ON \(table) WHEN \(new) > 0 BEGIN
                INSERT INTO storage (business_id, objects, bytes, content)
                SELECT business_id, 0, 0, \(new) FROM \(parents) WHERE id = NEW.\(parent)
                ON CONFLICT (business_id) DO UPDATE SET content = content + excluded.content;
            END;
            CREATE TRIGGER \(name)_replaced AFTER UPDATE OF \(columns) ON \(table) WHEN \(new) <> \(old) BEGIN
                INSERT INTO storage (business_id, objects, bytes, content)
                SELECT business_id, 0, 0, max(0, \(new) - (\(old))) FROM \(parents) WHERE id = NEW.\(parent)
                ON CONFLICT (business_id) DO UPDATE SET content = max(0, content + \(new) - (\(old)));
            END;
            CREATE TRIGGER \(name)_removed AFTER DELETE ON \(table) BEGIN
                UPDATE storage SET content = max(0, content - (\(old)))
                WHERE business_id = (SELECT business_id FROM \(parents) WHERE id = OLD.\(parent));
            END;
            CREATE TRIGGER \(parents)_with_\(name)s_removed BEFORE DELETE ON \(parents) BEGIN
                UPDATE storage SET content = max(0, content - (
                    SELECT coalesce(sum(\(size(table))), 0) FROM \(table) WHERE \(table).\(parent) = OLD.id))
                WHERE business_id = OLD.business_id;
            END;
            """
    }
}
