import Foundation
import GRDB
import NIOCore
import NIOPosix
import ScribeDomain
import TestSupport
import Testing

@testable import ScribeStore

struct BackupTests {
    @Test(
        "a backup is taken and restored while another is in the middle of a write, which it neither sees nor holds up")
    func duringAWrite() async throws {
        let parent = try TemporaryFolder()
        let folder = try DataFolder(path: "\(parent.path)/data")
        let store = try Store(path: folder.databasePath, durability: .normal)
        let objects = ObjectFiles(
            folder: folder.objectsFolder, durability: .normal, identifiers: .counting(), pool: .singleton)
        let name = objects.freshName()
        var writer = objects.create(name)
        try await writer.write(ByteBuffer(string: "speech"))
        _ = try await writer.finish()
        let object = StoredObject(
            bucket: "b", key: "k", file: name, size: 6, eTag: String(repeating: "a", count: 32), contentType: nil,
            metadata: [:], createdAt: Date(timeIntervalSince1970: 1_778_404_353))
        _ = try await store.put(object, business: .init("b-1"))

        let other = try DatabaseQueue(path: folder.databasePath)
        try await other.writeWithoutTransaction { db in
            try db.execute(sql: "BEGIN IMMEDIATE; DELETE FROM objects")
            let summary = try Backup.write(folder: folder.path, to: "\(parent.path)/backup", name: "one")
            #expect(summary.objects == 1)
            try db.execute(sql: "COMMIT")
        }
        _ = try DataFolder(path: "\(parent.path)/other")
        let restored = try Backup.restore("\(parent.path)/backup", into: "\(parent.path)/other")
        #expect(restored.objects == 1)
        let copy = try Store(path: "\(parent.path)/other/scribe.sqlite", durability: .normal)
        #expect(try await copy.object(business: .init("b-1"), bucket: "b", key: "k")?.file == name)
    }
}
