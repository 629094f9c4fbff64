package import ObjectStorage
package import ScribeStore

/// Place of data that several servers share: rows in PostgreSQL, audio in a bucket of S3.
package struct SharedPlace: Sendable {
    let database: PostgreSQLAddress
    let objects: S3Address
    let credentials: S3Address.Credentials
    /// Part of the work that a server takes.
    package enum Role: String, CaseIterable, Sendable {
        case all
        /// Serves clients and sends webhooks. Other servers recognise speech and write notes.
        case front
        /// Recognises speech and writes notes. It answers health checks alone.
        case worker
    }

    let role: Role
    /// Time that a server's claim of a job is valid without a sign of life.
    let lease: Duration

    package init(
        database: PostgreSQLAddress, objects: S3Address, credentials: S3Address.Credentials,
        role: Role = .all, lease: Duration = .seconds(30)
    ) {
        self.role = role
        self.database = database
        self.objects = objects
        self.credentials = credentials
        self.lease = lease
    }
}
