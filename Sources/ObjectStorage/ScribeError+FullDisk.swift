package import Basics
import ScribeDomain
package import SystemPackage

extension Errno {
    /// Whether a disk, a quota or a limit of file sizes takes no more.
    package var isFullDisk: Bool { [.noSpace, .diskQuotaExceeded, .fileTooLarge].contains(self) }
}

extension FileSystem.Failure {
    /// Whether the disk of the file takes no more.
    package var isFullDisk: Bool { code.isFullDisk }
}

extension ScribeError {
    /// Runs `body`, and throws ``storageUnavailable(cause:)`` for its full disk.
    static func translatingFullDisk<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let error as Errno where error.isFullDisk {
            throw storageUnavailable(cause: "\(error)")
        } catch let failure as FileSystem.Failure where failure.isFullDisk {
            throw storageUnavailable(cause: "\(failure)")
        }
    }
}
