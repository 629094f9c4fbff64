import Basics
import Foundation
import TestSupport
import Testing

struct ChildProcessTests {
    /// Runs a shell's script, and returns its code and its output.
    private func run(_ script: String, inherited: Set<Int32> = []) throws -> (code: Int32, output: String) {
        let pipe = Pipe()
        let null = try #require(FileHandle(forReadingAtPath: "/dev/null"))
        let (reader, writer) = (pipe.fileHandleForReading, pipe.fileHandleForWriting.fileDescriptor)
        let program = try ChildProcess(
            ["sh", "-c", script], environment: ["PATH": "/usr/bin:/bin", "WORD": "a=b"],
            streams: [null.fileDescriptor, writer, writer], inherited: inherited)
        try pipe.fileHandleForWriting.close()
        let output = String(decoding: try reader.readToEnd() ?? Data(), as: UTF8.self)
        return (program.wait(), output)
    }

    @Test("a program has its streams, and the files that it is given, under their numbers", arguments: [false, true])
    func files(isGiven: Bool) throws {
        let (first, second) = (try FileOfThisProcess(), try FileOfThisProcess())
        let listed = try run(
            "for file in /proc/$$/fd/*; do echo ${file##*/}; done", inherited: isGiven ? [second.descriptor] : [])
        // The shell has opened the folder itself, as 3.
        #expect(
            listed.output.split(separator: "\n").compactMap { Int32($0) }.sorted()
                == [0, 1, 2, 3] + (isGiven ? [second.descriptor] : []))
        #expect(first.descriptor != second.descriptor)
    }

    @Test("a program's end is its code, or 128 and its signal", arguments: [("exit 7", 7), ("kill -9 $$", 137)])
    func codes(script: String, code: Int32) throws { #expect(try run(script).code == code) }

    @Test("a program has the given variables alone")
    func variables() throws { #expect(try run("echo $WORD$HOME").output == "a=b\n") }

    @Test("a program that is not there is named")
    func missing() throws {
        let problem = #expect(throws: ChildProcess.Unusable.self) { try ChildProcess(["no-such"], environment: [:]) }
        #expect(problem?.description == "no-such cannot be run: No such file or directory")
    }
}
