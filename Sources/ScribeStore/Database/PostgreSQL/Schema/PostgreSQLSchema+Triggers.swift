/// Version 1: sums of the rows and bytes of each business.
extension PostgreSQLSchema {
    static let triggers = """
        CREATE TABLE storage (
            business_id TEXT COLLATE "C" NOT NULL CHECK (business_id <> ''),
            -- Of the connection that counts: one row for all would make writes of a business wait for each other.
            slot BIGINT NOT NULL,
            objects BIGINT NOT NULL,
            bytes BIGINT NOT NULL,
            -- Of documents, photos, preferences and parts of uploads, in bytes.
            content BIGINT NOT NULL DEFAULT 0,
            PRIMARY KEY (business_id, slot)
        );

        CREATE FUNCTION count_storage(business TEXT, objects BIGINT, bytes BIGINT, content BIGINT) RETURNS void
        LANGUAGE plpgsql AS $$
        BEGIN
            INSERT INTO storage (business_id, slot, objects, bytes, content)
            VALUES ($1, pg_backend_pid() % 64, $2, $3, $4)
            ON CONFLICT ON CONSTRAINT storage_pkey DO UPDATE SET objects = storage.objects + excluded.objects,
                bytes = storage.bytes + excluded.bytes, content = storage.content + excluded.content;
        END $$;

        CREATE FUNCTION count_objects() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF TG_OP <> 'INSERT' THEN PERFORM count_storage(OLD.business_id, -1, -OLD.size, 0); END IF;
            IF TG_OP <> 'DELETE' THEN PERFORM count_storage(NEW.business_id, 1, NEW.size, 0); END IF;
            RETURN NULL;
        END $$;
        CREATE TRIGGER objects_counted AFTER INSERT OR UPDATE OF size OR DELETE ON objects
            FOR EACH ROW EXECUTE FUNCTION count_objects();

        CREATE FUNCTION count_preferences() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            PERFORM count_storage(NEW.business_id, 0, 0,
                octet_length(NEW.data) - CASE WHEN TG_OP = 'INSERT' THEN 0 ELSE octet_length(OLD.data) END);
            RETURN NULL;
        END $$;
        CREATE TRIGGER preferences_counted AFTER INSERT OR UPDATE OF data ON preferences
            FOR EACH ROW EXECUTE FUNCTION count_preferences();

        CREATE FUNCTION forget_link_text() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            UPDATE documents SET is_plain_by_link = 0 WHERE id = NEW.id;
            RETURN NULL;
        END $$;
        CREATE TRIGGER documents_edited_elsewhere AFTER UPDATE OF value ON documents
            FOR EACH ROW WHEN (NEW.is_plain_by_link = 1) EXECUTE FUNCTION forget_link_text();

        \(counting("documents", of: "transactions", by: "transaction_id", columns: "value, editor_content, publication") {
            "coalesce(octet_length(\($0).value), 0) + coalesce(octet_length(\($0).editor_content), 0)"
                + " + coalesce(octet_length(nullif(\($0).publication, '{}')), 0)"
        })
        \(counting("photos", of: "conversations", by: "conversation", columns: "base64") { "octet_length(\($0).base64)" })
        \(counting("multipart_parts", of: "multipart_uploads", by: "upload", columns: "size") { "\($0).size" })
        """

    /// Makes the triggers that count the rows of a table for the business of their parent.
    ///
    /// Rows are deleted with their parent, after it is gone: a trigger on the parent subtracts their sizes first.
    private static func counting(
        _ table: String, of parents: String, by parent: String, columns: String, size: (String) -> String
    ) -> String {
        """
        CREATE FUNCTION count_\(table)() RETURNS trigger LANGUAGE plpgsql AS $$
        DECLARE
            difference BIGINT := 0;
            owner TEXT;
        BEGIN
            IF TG_OP <> 'INSERT' THEN difference := -(\(size("OLD"))); END IF;
            IF TG_OP <> 'DELETE' THEN difference := difference + \(size("NEW")); END IF;
            SELECT business_id INTO owner FROM \(parents)
            WHERE id = CASE WHEN TG_OP = 'DELETE' THEN OLD.\(parent) ELSE NEW.\(parent) END;
            IF owner IS NOT NULL AND difference <> 0 THEN PERFORM count_storage(owner, 0, 0, difference); END IF;
            RETURN NULL;
        END $$;
        CREATE TRIGGER \(table)_counted AFTER INSERT OR UPDATE OF \(columns) OR DELETE ON \(table)
            FOR EACH ROW EXECUTE FUNCTION count_\(table)();
        CREATE FUNCTION count_\(table)_of_parent() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            PERFORM count_storage(OLD.business_id, 0, 0, -(
                SELECT coalesce(sum(\(size(table))), 0) FROM \(table) WHERE \(table).\(parent) = OLD.id)::BIGINT);
            RETURN OLD;
        END $$;
        CREATE TRIGGER \(parents)_with_\(table)_removed BEFORE DELETE ON \(parents)
            FOR EACH ROW EXECUTE FUNCTION count_\(table)_of_parent();

        """
    }
}
