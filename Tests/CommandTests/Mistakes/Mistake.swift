import Engines
import Foundation
import TestSupport
import Testing

/// Mistake of a user, and the answer to it. In each text `$here` stands for the folder with the files.
struct Mistake: Sendable, CustomTestStringConvertible {
    /// The sentences that the command must answer with.
    enum Answer: Sendable, ExpressibleByStringInterpolation {
        case text(String)
        /// The answer goes on, for example with a long list of choices.
        case beginning(String)

        init(stringLiteral text: String) { self = .text(text) }
    }

    struct File: Sendable, ExpressibleByStringInterpolation {
        let text: String
        let mode: Int

        init(stringLiteral text: String) {
            self.text = text
            mode = 0o644
        }

        /// Makes a key, which its mode may let others read.
        init(key text: String = "hidden-hidden-hidden-hidden-hidden-", mode: Int) {
            self.text = text
            self.mode = mode
        }
    }

    let testDescription: String
    /// The command line, with quotes as in a shell.
    let arguments: String
    let answer: Answer
    /// 2 if the command line or the settings are wrong, 1 if what they lead to is.
    let code: Int32
    /// The files by their paths in the folder.
    let files: [String: File]
    let environment: [String: String]

    init(
        _ name: String, _ arguments: String, _ answer: Answer, code: Int32 = 2, files: [String: File] = [:],
        environment: [String: String] = [:]
    ) {
        testDescription = name
        self.arguments = arguments
        self.answer = answer
        self.code = code
        self.files = files
        self.environment = environment
    }

    /// The beginning of the command lines that start a server.
    static let start = "serve --port 0 --ephemeral"
    /// A base URL without a server.
    static let nobody = "http://127.0.0.1:1"

    static let all =
        verbs + values + firebase + transcribers + contradictions + settingsFiles + clientsFiles + fixturesFiles + keys
        + dataFolders + backups + servers + notes + trust

    /// Makes the files in a folder.
    func makeFiles(in folder: TemporaryFolder) throws {
        for (name, file) in files {
            let url = URL(filePath: "\(folder.path)/\(name)")
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(Self.filled(file.text, folder).utf8).write(to: url)
            try FileManager.default.setAttributes([.posixPermissions: file.mode], ofItemAtPath: url.path)
        }
    }

    /// Runs the command with the mistake. The folder is the home of its user.
    func outcome(in folder: TemporaryFolder) async throws -> Outcome {
        let own = environment.mapValues { Self.filled($0, folder) }
        return await Outcome(
            of: try CommandLineWords.split(Self.filled(arguments, folder)),
            environment: own.merging(["PATH": "/usr/bin:/bin", "HOME": folder.path]) { own, _ in own })
    }

    /// A text with the folder's path in the place of `$here`.
    static func filled(_ text: String, _ folder: TemporaryFolder) -> String {
        text.replacing("$here", with: folder.path)
    }
}
