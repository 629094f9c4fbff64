import Foundation
import Glibc
import NIOConcurrencyHelpers
package import NIOPosix

/// Files that live as long as their use. Speech is in them, so none stays behind.
package final class TemporaryFiles: Sendable {
    private let folder: String
    private let files: NIOThreadPool
    private let count = NIOLockedValueBox(0)

    /// - Parameter folder: an existing folder that is emptied when the server starts.
    package init(folder: String, files: NIOThreadPool) {
        self.folder = folder
        self.files = files
    }

    /// Lends a path that nobody else has; the file, where one was made, is removed after that.
    func use<Value: Sendable>(
        extension name: String, _ body: (String) async throws -> Value
    ) async throws -> Value {
        let number = count.withLockedValue { count in
            count += 1
            return count
        }
        let path = "\(folder)/\(number).\(name)"
        let result: Result<Value, any Error>
        do {
            result = .success(try await body(path))
        } catch {
            result = .failure(error)
        }
        // In a task of its own: one that was cancelled, by its time limit for example, gets no thread any more.
        await Task { [files] in _ = try? await files.runIfActive { unlink(path) } }.value
        return try result.get()
    }
}
