import ArgumentParser
import Basics
import Foundation
import Testing

@testable import scribe_emulator

struct OwnerProcessTests {
    @Test("a process that has ended does not run, also before its parent has noticed its end")
    func end() throws {
        let pipe = Pipe()
        let program = try ChildProcess(
            ["cat"], environment: ["PATH": "/usr/bin:/bin"],
            streams: [pipe.fileHandleForReading.fileDescriptor, 1, 2])
        let owner = try OwnerProcess(argument: "\(program.id)")
        #expect(owner.isRunning)
        try pipe.fileHandleForWriting.close()
        var info = siginfo_t()
        #expect(waitid(P_PID, id_t(program.id), &info, WEXITED | WNOWAIT) == 0)
        #expect(!owner.isRunning)
        #expect(throws: ValidationError.self) { try OwnerProcess(argument: "\(program.id)") }
        #expect(program.wait() == 0)
        #expect(!owner.isRunning)
    }

    @Test("the first process of a machine or of a container can be an owner")
    func first() throws { #expect(try OwnerProcess(argument: "1").isRunning) }

    @Test("this process cannot be its own owner")
    func own() {
        #expect(throws: ValidationError.self) { try OwnerProcess(argument: "\(getpid())") }
    }
}
