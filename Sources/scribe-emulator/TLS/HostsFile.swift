import Foundation
import ScribeHTTP
import ScribeServer

/// A hosts file, of which only the lines between two marks are ours.
struct HostsFile {
    /// Why it stays as it is.
    struct Problem: Error, CustomStringConvertible {
        let description: String
    }

    #if os(Windows)
        static let usual = #"C:\Windows\System32\drivers\etc\hosts"#
    #else
        static let usual = "/etc/hosts"
    #endif

    /// What both marks begin with.
    static let mark = "# scribe-emulator"
    private static let begin = "\(mark): begin (scribe-emulator hosts --remove takes this out)"
    private static let end = "\(mark): end"

    /// The command that writes the hosts file. With the whole path of this program: Debian's and Ubuntu's sudo looks in
    /// folders of its own.
    static var writeStep: String { "sudo \(Bundle.main.executablePath ?? "scribe-emulator") hosts --write" }

    let path: String

    /// What leads the SDKs' hosts to an address, with comments.
    static func lines(leadingTo address: String) -> [String] {
        HostNames.groups.flatMap { group in ["# \(group.title)"] + group.names.map { "\(address) \($0)" } }
    }

    /// Lines between the two marks.
    static func marked(_ lines: [String]) -> [String] { [begin] + lines + [end] }

    /// Puts lines in the place of those that are ours, at the end where there are none.
    /// - Throws: ``Problem``.
    func keep(_ lines: [String]) throws {
        var (before, ours, after) = try parts()
        if ours == nil, before.last?.isEmpty == true { before.removeLast() }
        if ours == nil { after = [""] }
        ours = Self.marked(lines)
        try write(before + (ours ?? []) + after)
    }

    /// Takes our lines out.
    /// - Returns: whether there were any.
    /// - Throws: ``Problem``.
    func removeLines() throws -> Bool {
        let (before, ours, after) = try parts()
        guard ours != nil else { return false }
        try write(before + after)
        return true
    }

    private func parts() throws -> (before: [String], ours: [String]?, after: [String]) {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
            throw Problem(description: "\(path) cannot be read; name the hosts file with --file")
        }
        // Not by characters, of which a line's end in other systems is one.
        let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        // An editor may have put other ends to the lines.
        let marks = lines.map { $0.trimmingCharacters(in: .whitespaces.union(.newlines)) }
        guard let begin = marks.firstIndex(of: Self.begin) else {
            guard !marks.contains(Self.end) else { throw Self.brokenMarks(path) }
            return (lines, nil, [])
        }
        // What is behind a mark whose other half is gone may be anybody's.
        guard let end = marks[begin...].firstIndex(of: Self.end), !marks[(begin + 1)...].contains(Self.begin) else {
            throw Self.brokenMarks(path)
        }
        return (Array(lines[..<begin]), Array(lines[begin...end]), Array(lines[(end + 1)...]))
    }

    private static func brokenMarks(_ path: String) -> Problem {
        Problem(description: "\(path) has one of our two marks only; take out by hand what stands between them")
    }

    /// In place: in a container the file cannot be replaced by another.
    private func write(_ lines: [String]) throws {
        do {
            let data = Data(lines.joined(separator: "\n").utf8)
            let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
            defer { try? file.close() }
            try file.write(contentsOf: data)
            try file.truncate(atOffset: UInt64(data.count))
        } catch {
            throw Problem(description: "\(path) cannot be written; \(HostsFile.writeStep)")
        }
    }
}
