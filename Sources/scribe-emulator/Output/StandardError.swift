/// Writes lines to the standard error of the invocation.
enum StandardError {
    static func write(_ line: String) { Invocation.current.writeError(Array("\(line)\n".utf8)) }
}
