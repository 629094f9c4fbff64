import Basics
import Foundation
import SystemPackage

/// Commands that give this user a right to files that a start needs. They name the user by number, because an
/// administrator who reads the log of a service may run them.
package enum FileRights {
    /// First line of the file `lock` in a data folder, which no other program writes.
    package static let dataFolderMark = Array("scribe-emulator data folder\n".utf8)

    /// A sentence about how this user may write to `path`. All files of a data folder get the right together. A missing
    /// folder is to be made; in a folder that this user may not even enter, only an administrator can help.
    package static func remedy(for path: String) -> String {
        var (folder, info) = (URL(fileURLWithPath: path).path, stat())
        var above = folder
        while !isDataFolder(above), above != "/" {
            above = (above as NSString).deletingLastPathComponent
        }
        if above != "/" { folder = above }
        if lstat(folder, &info) == 0 {
            return "Run sudo chown -R \(geteuid()) \(quoted(folder)) && sudo chmod -R u+rwX \(quoted(folder))"
        }
        above = folder
        repeat { above = (above as NSString).deletingLastPathComponent } while lstat(above, &info) != 0
        return access(above, X_OK) == 0
            ? "Run sudo install -d -m 700 -o \(geteuid()) \(quoted(folder))"
            : "An administrator must let this user into \(above)"
    }

    private static func isDataFolder(_ path: String) -> Bool {
        if let line = try? FileSystem.beginning(of: "\(path)/lock", .noFollow), line.starts(with: dataFolderMark) {
            return true
        }
        return FileSystem.size(ofFile: "\(path)/current") != nil && FileSystem.isFolder("\(path)/states")
    }

    /// The command after which a key is this user's alone.
    package static func ofKey(_ file: String) -> String {
        var info = stat()
        let mode = "chmod 600 \(quoted(file))"
        guard stat(file, &info) == 0, info.st_uid != geteuid() else { return mode }
        return "sudo chown \(geteuid()) \(quoted(file)) && \(mode)"
    }

    /// A path as a word of a shell.
    private static func quoted(_ path: String) -> String { "'\(path.replacing("'", with: "'\\''"))'" }
}
