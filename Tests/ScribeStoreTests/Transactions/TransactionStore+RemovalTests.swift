import Foundation
import ScribeDomain
import TestSupport
import Testing

@testable import ScribeStore

/// Removal of a transaction with its audio.
struct RemovalTests {
    @Test(
        "a transaction's removal takes the audio of its folder, and none of another transaction or of no transaction",
        arguments: [
            ("260510/t", ["260510/t/1.wav", "260510/t/sub/2.wav"], nil),
            ("260510/t", [], "260510/t"),
            ("260510/t", ["260510/t/1.wav"], "260510/t/sub"),
            ("260510/t", ["260510/t/1.wav", "260510/t/sub/2.wav"], "260510"),
            ("260510/t", ["260510/t/1.wav", "260510/t/sub/2.wav"], ""),
            ("", ["1.wav"], nil), ("", ["1.wav"], "260510/t"), ("", [], ""),
        ])
    func audio(folder: String, removed: [String], other: String?) async throws {
        let fixture = try StoreFixture()
        let keys = ["1.wav", "260510/t/1.wav", "260510/t/sub/2.wav", "260510/t0/3.wav", "260510/tt/4.wav"]
        try await fixture.initialise(audioURL: "s3://bucket/\(folder)")
        if let other { try await fixture.initialise("other", audioURL: "s3://bucket/\(other)") }
        for (business, bucket) in [("b-1", "bucket"), ("b-2", "bucket"), ("b-1", "elsewhere")] {
            for key in keys {
                let object = StoredObject(
                    bucket: bucket, key: key, file: "\(business) \(bucket) \(key)", size: 1,
                    eTag: String(repeating: "a", count: 32), createdAt: fixture.start)
                _ = try await fixture.store.audio.put(object, business: .init(business))
            }
        }
        let files = try await fixture.store.transactions.removeTransaction(fixture.key())
        #expect(files.sorted() == removed.map { "b-1 bucket \($0)" })
        let left = try await fixture.store.read { try $0.rows("SELECT file FROM objects").count }
        #expect(left == 3 * keys.count - removed.count)
        #expect(try await fixture.store.transactions.transaction(fixture.key()) == nil)
    }
}
