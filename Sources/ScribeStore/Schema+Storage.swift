/// What each business stores, kept by triggers: a quota is asked for with each upload, and metrics by a scraper, and
/// neither may take longer for what has been stored before.
extension Schema {
    static let storage = """
        CREATE TABLE storage (
            business_id TEXT NOT NULL PRIMARY KEY CHECK (business_id <> ''),
            objects INTEGER NOT NULL CHECK (objects >= 0),
            bytes INTEGER NOT NULL CHECK (bytes >= 0)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO storage SELECT business_id, count(*), sum(size) FROM objects GROUP BY business_id;

        CREATE TRIGGER object_stored AFTER INSERT ON objects BEGIN
            INSERT INTO storage VALUES (NEW.business_id, 1, NEW.size)
            ON CONFLICT (business_id) DO UPDATE SET objects = objects + 1, bytes = bytes + excluded.bytes;
        END;
        CREATE TRIGGER object_replaced AFTER UPDATE OF size ON objects BEGIN
            UPDATE storage SET bytes = bytes + NEW.size - OLD.size WHERE business_id = NEW.business_id;
        END;
        CREATE TRIGGER object_removed AFTER DELETE ON objects BEGIN
            UPDATE storage SET objects = objects - 1, bytes = bytes - OLD.size WHERE business_id = OLD.business_id;
        END;

        DROP INDEX objects_by_size;
        """

    /// What is stored beside objects counts too: documents, pictures, preferences, and parts of uploads.
    static let content = """
        ALTER TABLE objects ADD COLUMN disposition TEXT;
        ALTER TABLE multipart_uploads ADD COLUMN disposition TEXT;

        -- Of what is stored beside objects, in bytes.
        ALTER TABLE storage ADD COLUMN content INTEGER NOT NULL DEFAULT 0 CHECK (content >= 0);
        DROP TRIGGER object_stored;
        CREATE TRIGGER object_stored AFTER INSERT ON objects BEGIN
            INSERT INTO storage (business_id, objects, bytes) VALUES (NEW.business_id, 1, NEW.size)
            ON CONFLICT (business_id) DO UPDATE SET objects = objects + 1, bytes = bytes + excluded.bytes;
        END;

        \(countAllContent)

        \(counting("document", in: "documents", size: size(ofDocument:), of: "transactions", by: "transaction_id",
            columns: "value, editor_content, publication"))
        \(counting("photo", in: "photos", size: { "length(\($0).base64)" }, of: "conversations", by: "conversation",
            columns: "base64"))
        \(counting("part", in: "multipart_parts", size: { "\($0).size" }, of: "multipart_uploads", by: "upload",
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

    /// Counts it anew, where triggers have not counted it.
    static let countAllContent = """
        INSERT INTO storage (business_id, objects, bytes, content)
            SELECT business_id, 0, 0, sum(size) FROM (
                SELECT business_id, \(size(ofDocument: "documents")) AS size
                    FROM documents JOIN transactions ON transactions.id = transaction_id
                UNION ALL SELECT business_id, length(base64)
                    FROM photos JOIN conversations ON conversations.id = conversation
                UNION ALL SELECT business_id, length(CAST(data AS BLOB)) FROM preferences
                UNION ALL SELECT business_id, size
                    FROM multipart_parts JOIN multipart_uploads ON multipart_uploads.id = upload
            ) WHERE true GROUP BY business_id
            ON CONFLICT (business_id) DO UPDATE SET content = excluded.content;
        """

    private static func size(ofDocument row: String) -> String {
        // What most documents have is nothing, so that they need no count.
        ["\(row).value", "\(row).editor_content", "nullif(\(row).publication, '{}')"]
            .map { "coalesce(length(CAST(\($0) AS BLOB)), 0)" }.joined(separator: " + ")
    }

    /// Triggers that count the rows of a table whose business is its parent's. They go with their parent, which is gone
    /// when they are removed: what they take is given back before that.
    /// - Parameters:
    ///   - name: of one row.
    ///   - size: of a row by its name, in bytes.
    ///   - columns: in which the size is.
    private static func counting(
        _ name: String, in table: String, size: (String) -> String, of parents: String, by parent: String,
        columns: String
    ) -> String {
        """
        CREATE TRIGGER \(name)_stored AFTER INSERT ON \(table) WHEN \(size("NEW")) > 0 BEGIN
            INSERT INTO storage (business_id, objects, bytes, content)
            SELECT business_id, 0, 0, \(size("NEW")) FROM \(parents) WHERE id = NEW.\(parent)
            ON CONFLICT (business_id) DO UPDATE SET content = content + excluded.content;
        END;
        CREATE TRIGGER \(name)_replaced AFTER UPDATE OF \(columns) ON \(table)
        WHEN \(size("NEW")) <> \(size("OLD")) BEGIN
            INSERT INTO storage (business_id, objects, bytes, content)
            SELECT business_id, 0, 0, max(0, \(size("NEW")) - (\(size("OLD")))) FROM \(parents) WHERE id = NEW.\(parent)
            ON CONFLICT (business_id) DO UPDATE SET content = max(0, content + \(size("NEW")) - (\(size("OLD"))));
        END;
        CREATE TRIGGER \(name)_removed AFTER DELETE ON \(table) BEGIN
            UPDATE storage SET content = max(0, content - (\(size("OLD"))))
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
