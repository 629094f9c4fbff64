package import Foundation

/// File or folder of the project by its path from the project's root.
package func projectFile(_ path: String) -> URL {
    URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../\(path)").standardized
}
