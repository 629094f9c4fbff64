import ArgumentParser

/// Writes lines to the standard error of the invocation.
enum StandardError {
    static func write(_ line: String) { Invocation.current.writeError(Array("\(line)\n".utf8)) }
}

extension ExitCode {
    /// Writes the reason of a failure to standard error.
    /// - Returns: The exit code for it.
    static func explained(_ reason: String, as code: ExitCode = .failure) -> ExitCode {
        StandardError.write("scribe-emulator: \(reason)")
        return code
    }
}
