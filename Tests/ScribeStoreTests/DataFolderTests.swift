import Crypto
import Foundation
import NIOCore
import NIOPosix
import TestSupport
import Testing

@testable import ScribeStore

struct DataFolderTests {
    @Test("a folder is used by one server at a time")
    func lock() throws {
        let parent = try TemporaryFolder()
        var first: DataFolder? = try DataFolder(path: "\(parent.path)/data")
        #expect(throws: DataFolder.Problem.self) { try DataFolder(path: "\(parent.path)/data") }
        #expect(first != nil)
        first = nil
        _ = try DataFolder(path: "\(parent.path)/data")
    }

    @Test("a secret is made once, and nobody else can read it")
    func secret() throws {
        let parent = try TemporaryFolder()
        let folder = try DataFolder(path: "\(parent.path)/data")
        #expect(try folder.secret(named: "key") { [1, 2, 3] } == [1, 2, 3])
        #expect(try folder.secret(named: "key") { [9] } == [1, 2, 3])
        let mode = try FileManager.default.attributesOfItem(atPath: "\(parent.path)/data/key")[.posixPermissions]
        #expect(mode as? Int == 0o600)
        let folderMode = try FileManager.default.attributesOfItem(atPath: "\(parent.path)/data")[.posixPermissions]
        #expect(folderMode as? Int == 0o700)
    }

    @Test("a folder that cannot be made is refused with the reason")
    func unusable() throws {
        let parent = try TemporaryFolder()
        let file = try parent.write(Data(), as: "file")
        #expect(throws: DataFolder.Problem.self) { try DataFolder(path: "\(file)/data") }
    }
}
