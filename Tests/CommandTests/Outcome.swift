import ArgumentParser
import Basics
import Foundation

@testable import scribe_emulator

/// Output and exit code of one run of the command.
struct Outcome {
    let code: Int32
    let output: String
    let error: String

    /// Runs the command in this process, as it would run in one of its own.
    init(of arguments: [String], environment: [String: String] = [:], input: String = "") async {
        let (output, error) = (LockedValue(""), LockedValue<[UInt8]>([]))
        let invocation = Invocation.ofTest(
            arguments, environment: environment, readInput: { Data(input.utf8) },
            writeOutput: { text in output.withLock { $0 += text } },
            writeError: { bytes in error.withLock { $0 += bytes } })
        code = await invocation.run().rawValue
        self.output = output.withLock { $0 }
        self.error = String(decoding: error.withLock { $0 }, as: UTF8.self)
    }
}

extension Invocation {
    /// An invocation with nothing of this process.
    static func ofTest(
        _ arguments: [String] = [], environment: [String: String] = [:],
        readInput: @escaping @Sendable () throws -> Data = { Data() },
        writeOutput: @escaping @Sendable (String) -> Void = { _ in },
        writeError: @escaping @Sendable ([UInt8]) -> Void = { _ in }
    ) -> Invocation {
        Invocation(
            arguments: arguments, inheritedEnvironment: environment, ownsProcess: false, readInput: readInput,
            writeOutput: writeOutput, writeError: writeError)
    }
}
