import Foundation
import ScribeHTTP
import ScribeServer

/// Hosts file with a block of scribe-emulator's lines between two marks. Other lines stay as they are.
struct HostsFile {
    /// An error that left the file as it was.
    struct Problem: Error, CustomStringConvertible {
        let description: String
    }

    #if os(Windows)
        static let usual = #"C:\Windows\System32\drivers\etc\hosts"#
    #else
        static let usual = "/etc/hosts"
    #endif

    /// The common beginning of both marks.
    static let mark = "# scribe-emulator"
    private static let begin = "\(mark): begin (scribe-emulator hosts --remove takes this out)"
    private static let end = "\(mark): end"

    /// The command that writes the hosts file. It has the full path of this program: sudo of Debian and Ubuntu has a
    /// search path of its own.
    static var writeStep: String { "sudo \(Bundle.main.executablePath ?? "scribe-emulator") hosts --write" }

    let path: String

    /// Lines that map the SDKs' hosts to an address, with comments.
    static func lines(mappingTo address: String) -> [String] {
        HostNames.groups.flatMap { group in ["# \(group.title)"] + group.names.map { "\(address) \($0)" } }
    }

    /// Puts the two marks around lines.
    static func marked(_ lines: [String]) -> [String] { [begin] + lines + [end] }

    /// Replaces the block, or appends it if there is none.
    /// - Throws: ``Problem``.
    func writeBlock(_ lines: [String]) throws {
        var (before, ours, after) = try parts()
        if ours == nil, before.last?.isEmpty == true { before.removeLast() }
        if ours == nil { after = [""] }
        ours = Self.marked(lines)
        try write(before + (ours ?? []) + after)
    }

    /// Removes the block.
    /// - Returns: Whether there was one.
    /// - Throws: ``Problem``.
    func removeBlock() throws -> Bool {
        let (before, ours, after) = try parts()
        guard ours != nil else { return false }
        try write(before + after)
        return true
    }

    private func parts() throws -> (before: [String], ours: [String]?, after: [String]) {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
            throw Problem(description: "\(path) cannot be read; name the hosts file with --file")
        }
        // By scalars: CRLF is one character in Swift.
        let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        // An editor may have changed the line ends or indented the marks.
        let marks = lines.map { $0.trimmingCharacters(in: .whitespaces.union(.newlines)) }
        guard let begin = marks.firstIndex(of: Self.begin) else {
            guard !marks.contains(Self.end) else { throw Self.brokenMarks(path) }
            return (lines, nil, [])
        }
        // Without its other mark, the lines beside a mark may belong to the user.
        guard let end = marks[begin...].firstIndex(of: Self.end), !marks[(begin + 1)...].contains(Self.begin) else {
            throw Self.brokenMarks(path)
        }
        return (Array(lines[..<begin]), Array(lines[begin...end]), Array(lines[(end + 1)...]))
    }

    private static func brokenMarks(_ path: String) -> Problem {
        Problem(
            description:
                "\(path) has only one of the two lines '\(mark): begin' and '\(mark): end'; remove our lines by hand")
    }

    /// Writes in place: the hosts file of a container cannot be replaced.
    private func write(_ lines: [String]) throws {
        do {
            let data = Data(lines.joined(separator: "\n").utf8)
            let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
            defer { try? file.close() }
            try file.write(contentsOf: data)
            try file.truncate(atOffset: UInt64(data.count))
        } catch {
            throw Problem(description: "\(path) cannot be written; run \(HostsFile.writeStep)")
        }
    }
}
