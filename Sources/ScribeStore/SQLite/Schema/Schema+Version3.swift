/// Version 3: refresh tokens that end by the machine's clock or by the world's, whichever is first; one name for the
/// audio of ambient sessions.
extension Schema {
    /// The first builds of version 2 had another name for segments.
    static let version3 = """
        -- How far the world's clock was ahead when the token was issued, in milliseconds.
        ALTER TABLE refresh_tokens ADD COLUMN clock_offset INTEGER NOT NULL DEFAULT 0;
        UPDATE transactions SET request = json_set(request, '$.intake', 'segments')
        WHERE json_extract(request, '$.intake') = 'stretches';
        """
}
