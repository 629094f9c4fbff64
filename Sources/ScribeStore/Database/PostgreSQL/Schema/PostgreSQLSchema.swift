/// Schema of the store in PostgreSQL: the tables of SQLite, with the types of PostgreSQL.
///
/// Texts are compared by bytes, as S3 lists keys. JSON is text: jsonb cannot hold U+0000.
enum PostgreSQLSchema {
    /// Version that this program reads and writes.
    static let latestVersion = 1

    /// Tables, indexes and triggers of version 1. A released version never changes.
    static let version1 = accounts + recordings + documents + conversations + indexes + triggers

    private static let indexes = """
        CREATE INDEX refresh_tokens_by_expiry ON refresh_tokens (expires_at);
        CREATE INDEX refresh_tokens_by_family ON refresh_tokens (family);
        CREATE INDEX refresh_tokens_by_client ON refresh_tokens (client_id);
        CREATE INDEX refresh_tokens_ended ON refresh_tokens (family) WHERE is_ended = 1;
        CREATE INDEX transactions_by_folder ON transactions (business_id, bucket, folder);
        CREATE INDEX transactions_by_user ON transactions (business_id, user_id, created_at);
        CREATE INDEX transactions_by_client ON transactions (client_id);
        CREATE INDEX transactions_open ON transactions (client_id, created_at)
            WHERE user_status IN ('init', 'stopped') AND archived_at IS NULL;
        CREATE INDEX transactions_expiring ON transactions (expires_at) WHERE expires_at IS NOT NULL;
        CREATE INDEX transactions_by_encounter ON transactions (business_id, encounter_id, id)
            WHERE encounter_id IS NOT NULL;
        CREATE INDEX ambient_segments_by_transaction ON ambient_segments (transaction_id, id);
        CREATE INDEX multipart_uploads_by_age ON multipart_uploads (created_at);
        CREATE INDEX multipart_uploads_by_key ON multipart_uploads (business_id, bucket, key, upload_id);
        CREATE INDEX documents_by_transaction ON documents (transaction_id);
        CREATE INDEX documents_by_template ON documents (transaction_id, kind, template_id) WHERE is_authored = 0;
        CREATE INDEX templates_by_business ON templates (business_id);
        CREATE INDEX template_sections_by_business ON template_sections (business_id);
        CREATE INDEX jobs_by_time ON jobs (kind, run_at) WHERE state = 'pending';
        CREATE INDEX jobs_by_business ON jobs (kind, business_id, run_at) WHERE state = 'pending';
        CREATE INDEX jobs_running ON jobs (owner) WHERE state = 'running';
        CREATE UNIQUE INDEX conversations_in_progress ON conversations (business_id, user_id)
            WHERE status = 'in_progress';
        CREATE INDEX conversations_by_user ON conversations (business_id, user_id, created_at);
        CREATE INDEX conversations_unfinished ON conversations (status, finished_at)
            WHERE status IN ('in_progress', 'processing');
        CREATE INDEX photos_by_conversation ON photos (conversation);
        CREATE INDEX memories_by_user ON memories (business_id, user_id, created_at);
        -- A hash: a content may be longer than an entry of a tree.
        CREATE INDEX memories_by_content ON memories USING hash (folded);
        CREATE INDEX deliveries_pending ON deliveries (lane, run_at) WHERE state = 'pending';
        CREATE INDEX deliveries_sending ON deliveries (id) WHERE state = 'sending';
        CREATE INDEX deliveries_failed ON deliveries (webhook, id) WHERE state = 'failed';
        CREATE INDEX deliveries_by_failure ON deliveries (settled_at, id) WHERE state = 'failed';
        CREATE INDEX deliveries_delivered ON deliveries (settled_at) WHERE state = 'delivered';
        CREATE INDEX deliveries_of_session ON deliveries (webhook, session) WHERE settled_at IS NULL;
        CREATE INDEX webhooks_by_business ON webhooks (business_id) WHERE removed_at IS NULL;
        CREATE UNIQUE INDEX webhooks_by_endpoint ON webhooks (business_id, style, endpoint)
            WHERE removed_at IS NULL AND is_unique = 1;
        CREATE INDEX deliveries_by_session ON deliveries (business_id, session, id);
        CREATE INDEX device_logins_by_address ON device_logins (address);
        CREATE INDEX client_keys_by_client ON client_keys (client_id);

        """
}
