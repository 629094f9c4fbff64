import Foundation
import ScribeDomain
import TestSupport
import Testing

@testable import ScribeStore

struct AudioStoreObjectsTests {
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    private func put(_ name: String, size: Int, business: String = "b-1") async throws {
        _ = try await fixture.store.audio.put(
            StoredObject(
                bucket: "bucket", key: name, file: UUID().uuidString, size: size,
                eTag: String(repeating: "a", count: 32),
                createdAt: fixture.start), business: .init(business))
    }

    private func stored() async throws -> [Int] {
        let size = try await fixture.store.size()
        return [size.objects, size.objectBytes]
    }

    @Test("the store counts objects and bytes over uploads, replacements and deletions")
    func counting() async throws {
        #expect(try await stored() == [0, 0])
        try await put("one", size: 100)
        try await put("two", size: 50)
        try await put("one", size: 7, business: "b-2")
        #expect(try await stored() == [3, 157])
        try await put("one", size: 10)
        #expect(try await stored() == [3, 67])
        _ = try await fixture.store.audio.deleteObjects(business: .init("b-1"), bucket: "bucket", keys: ["two"])
        _ = try await fixture.store.audio.deleteObjects(business: .init("b-1"), bucket: "bucket", keys: ["none"])
        #expect(try await stored() == [2, 17])
    }

    @Test("a storage quota counts each business alone, and a replaced object once")
    func quota() async throws {
        var quotas = Quotas()
        quotas.storedBytes = 100
        let store = try Store(
            at: TestDatabase.place("\(fixture.folder.path)/other.sqlite"), transcribesOnArrival: true, quotas: quotas
        )
        func put(_ name: String, _ size: Int, _ business: String) async throws {
            let object = StoredObject(
                bucket: "bucket", key: name, file: UUID().uuidString, size: size,
                eTag: String(repeating: "a", count: 32),
                createdAt: fixture.start)
            _ = try await store.audio.put(object, business: .init(business))
        }
        try await put("one", 80, "b-1")
        try await put("one", 100, "b-2")
        await #expect(throws: ScribeError.storageQuotaExceeded) { try await put("two", 21, "b-1") }
        try await put("one", 100, "b-1")
        _ = try await store.audio.deleteObjects(business: .init("b-1"), bucket: "bucket", keys: ["one"])
        try await put("two", 100, "b-1")
    }
}
