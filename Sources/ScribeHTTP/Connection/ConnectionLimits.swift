package import NIOCore

/// What one connection may take.
package struct ConnectionLimits: Sendable {
    /// From the first byte of a request to the end of its head, and from connecting to the first byte; also how long the two
    /// ends may take to agree on encryption, and a body may go on below ``bodyMinimum``.
    package var requestTime: Duration = .seconds(10)
    /// How long a connection may be kept without a request.
    package var idleTime: Duration { max(.seconds(60), requestTime) }
    /// The least that must arrive of a body in each window that we are waiting for it, in bytes.
    package var bodyMinimum = 10 * 1024
    /// How long an answer may wait for its client to take more of it. With a send buffer of that many bytes, which the
    /// system doubles, more is taken from us when some 150 KB have gone: 3 KB/s are enough.
    package var answerWindow: TimeAmount = .seconds(60)
    package var sendBufferSize = 128 * 1024
    /// How long the rest of a body is taken in after it was refused, so that the client gets to read why.
    package var drainTime: TimeAmount = .seconds(2)
    /// The longest head, in bytes, and the most fields in it.
    package var headSize = 64 * 1024
    package var fieldCount = 1000
    /// How many streams of HTTP/2 a connection may have open.
    package var streamCount = 32
    /// How much is taken from the socket at once, in bytes. Up to ten such reads wait for whoever takes the body: with
    /// NIO's 64 KB they would be most of the server's memory.
    package var readSize = 32 * 1024

    package init() {}
}
