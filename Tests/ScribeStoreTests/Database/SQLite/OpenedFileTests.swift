import Foundation
import ScribeDomain
import TestSupport
import Testing

@testable import ScribeStore

struct OpenedFileTests {
    @Test("a store whose file was removed or replaced takes no writes and is not ready", arguments: [true, false])
    func removed(isReplaced: Bool) async throws {
        let fixture = try StoreFixture(onSQLite: true)
        try await fixture.initialise("t")
        #expect(await fixture.store.isReachable())
        let path = "\(fixture.folder.path)/scribe.sqlite"
        try FileManager.default.moveItem(atPath: path, toPath: "\(path).moved")
        if isReplaced { try Data().write(to: URL(fileURLWithPath: path)) }
        #expect(await !fixture.store.isReachable())
        await #expect(throws: ScribeError.storageUnavailable(cause: "the data folder was removed or replaced")) {
            try await fixture.initialise("u")
        }
        try? FileManager.default.removeItem(atPath: path)
        try FileManager.default.moveItem(atPath: "\(path).moved", toPath: path)
        #expect(await fixture.store.isReachable())
        try await fixture.initialise("u")
    }
}
