import Foundation
import GRDB
import ScribeDomain
import TestSupport
import Testing

@testable import ScribeStore

struct SchemaVersion3Tests {
    @Test("recordings and refresh tokens of the first version 2 builds can be used after migration to version 3")
    func migration() async throws {
        let fixture = try StoreFixture(onSQLite: true)
        try await fixture.initialise("t", isSession: true)
        try fixture.store.close()
        let path = "\(fixture.folder.path)/scribe.sqlite"
        let queue = try DatabaseQueue(path: path)
        try await queue.write { db in
            try db.execute(
                sql: """
                    UPDATE transactions SET request = json_set(request, '$.intake', 'stretches');
                    ALTER TABLE jobs DROP COLUMN claim;
                    ALTER TABLE jobs DROP COLUMN owner;
                    ALTER TABLE jobs DROP COLUMN lease_until;
                    ALTER TABLE transactions DROP COLUMN changes;
                    DROP TABLE leases;
                    DROP TABLE device_logins;
                    DROP TABLE generations;
                    DROP TABLE state;
                    DROP TABLE client_keys;
                    ALTER TABLE clients DROP COLUMN origin;
                    ALTER TABLE refresh_tokens DROP COLUMN clock_offset;
                    PRAGMA user_version = 2;
                    INSERT INTO clients (client_id, business_id, user_id, doctor_id, name, workspace, secret_hash)
                        VALUES ('c', 'b', 'u', 'd', 'n', 'w', zeroblob(32));
                    INSERT INTO refresh_tokens (token_hash, client_id, expires_at, family)
                        VALUES (zeroblob(32), 'c', 2000000, zeroblob(32));
                    """)
        }
        try queue.close()

        let store = try Store(at: .file(path, .normal))
        #expect(try await store.requireTransaction(fixture.key("t")).request.intake == .segments)
        let period = RefreshPeriod(now: Date(timeIntervalSince1970: 1999), end: Date(timeIntervalSince1970: 4000))
        let (old, new) = ([UInt8](repeating: 0, count: 32), [UInt8](repeating: 1, count: 32))
        #expect(try await store.rotateRefreshToken(hash: old, to: new, period, grace: 0) != nil)
        try store.close()
    }
}
