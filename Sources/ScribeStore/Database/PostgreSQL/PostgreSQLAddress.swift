import Basics
import Foundation

/// Address of a PostgreSQL database: a URL of libpq, with the schema of the store as `?schema=`.
package struct PostgreSQLAddress: Sendable {
    /// Address for libpq, which may hold a password.
    let url: String
    /// Schema of the store, by default `scribe`.
    package let schema: String
    /// Host, port and database, without user and password.
    package let shown: String

    /// Reads `postgres://user:password@host:5432/database?schema=scribe`.
    /// - Returns: nil for a text of another form.
    package init?(_ text: String) {
        guard var parts = URLComponents(string: text), ["postgres", "postgresql"].contains(parts.scheme),
            (1...65535).contains(parts.port ?? 5432)
        else { return nil }
        let schema = parts.queryItems?.first { $0.name == "schema" }?.value ?? "scribe"
        let isName = (1...63).contains(schema.utf8.count) && schema.utf8.allSatisfy(\.isInIdentifier)
        guard isName else { return nil }
        var items = parts.queryItems?.filter { $0.name != "schema" } ?? []
        // A machine that is gone without a word ends a connection within 20 s.
        let defaults = [
            "connect_timeout": "5", "tcp_user_timeout": "10000", "keepalives_idle": "10", "keepalives_interval": "3",
            "keepalives_count": "3", "application_name": "scribe-emulator",
        ]
        for (name, value) in defaults.sorted(by: { $0.key < $1.key }) where !items.contains(where: { $0.name == name })
        {
            items.append(URLQueryItem(name: name, value: value))
        }
        parts.queryItems = items
        guard let url = parts.string else { return nil }
        self.url = url
        self.schema = schema
        shown = "\(parts.host ?? "localhost"):\(parts.port ?? 5432)\(parts.path)"
    }

    /// Statements for a new connection. A statement of the store takes milliseconds: a minute means a broken server.
    ///
    /// Statements are planned once for all values, when the tables may still be empty. A plan that reads all rows of a
    /// table is the best one then, and the worst one later.
    ///
    /// PostgreSQL keeps the locks of a server whose machine is gone until TCP ends the connection, by default after two
    /// hours.
    var setup: String {
        """
        SET search_path TO "\(schema)"; SET client_min_messages TO warning; SET jit TO off;
        SET enable_seqscan TO off; SET plan_cache_mode TO force_generic_plan;
        SET statement_timeout TO '60s'; SET default_transaction_isolation TO 'read committed';
        SET tcp_keepalives_idle TO 10; SET tcp_keepalives_interval TO 3; SET tcp_keepalives_count TO 3;
        SET tcp_user_timeout TO 10000
        """
    }
}
