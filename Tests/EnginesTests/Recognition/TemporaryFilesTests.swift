import Foundation
import NIOPosix
import ScribeDomain
import TestSupport
import Testing

@testable import Engines

struct TemporaryFilesTests {
    let folder: TemporaryFolder
    let temporary: TemporaryFiles

    init() throws {
        folder = try TemporaryFolder()
        temporary = TemporaryFiles(folder: folder.path, identifiers: .counting(), files: .singleton)
    }

    @Test("each use of a temporary file has a new path")
    func paths() async throws {
        let first = try await temporary.use(extension: "wav") { $0 }
        let second = try await temporary.use(extension: "wav") { $0 }
        #expect(first != second)
        #expect(first.hasSuffix(".wav"))
    }

    @Test("a temporary file is removed after its use, also if the use fails or is cancelled", arguments: [false, true])
    func removed(isCancelled: Bool) async throws {
        let use = Task {
            try await temporary.use(extension: "form") { path in
                #expect(FileManager.default.createFile(atPath: path, contents: Data("speech".utf8)))
                if isCancelled { withUnsafeCurrentTask { $0?.cancel() } }
                throw EngineFailure(.transcriptionTimeout, "too long")
            }
        }
        await #expect(throws: EngineFailure.self) { try await use.value }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
    }
}
