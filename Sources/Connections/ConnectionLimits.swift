package import NIOCore

/// Time, size and buffer limits of one connection.
package struct ConnectionLimits: Sendable {
    /// Time for each of: the first byte, the rest of a request's head, the TLS handshake, and a body below
    /// ``bodyMinimum``.
    package var requestTime: Duration = .seconds(10)
    /// Idle time of a connection between requests.
    package var idleTime: Duration { max(.seconds(60), requestTime) }
    /// Least bytes of a body in each ``requestTime`` during which the server reads.
    package var bodyMinimum = 10 * 1024
    /// Time for a client to take more of an answer.
    ///
    /// The system doubles the send buffer of ``sendBufferSize`` bytes, and asks for more after some 150 KB: 3 KB/s are
    /// enough.
    package var answerWindow: TimeAmount = .seconds(60)
    package var sendBufferSize = 128 * 1024
    /// Time for which the rest of a refused body is read, so that the client can read the answer.
    package var drainTime: TimeAmount = .seconds(2)
    /// Largest head in bytes, and most fields in it.
    package var headSize = 64 * 1024
    package var fieldCount = 1000
    /// Most open streams of one HTTP/2 connection.
    package var streamCount = 32
    /// Largest read from the socket, in bytes. Up to ten such reads may wait for a handler.
    ///
    /// NIO's default of 64 KB would make them most of the server's memory.
    package var readSize = 32 * 1024

    package init() {}
}
