import NIOCore

/// Finds requests that come alone: whole in one read, without a body, on a connection that owes no other answer.
///
/// The read is then the request as the client sent it, which the journal can keep without its fields.
struct LoneRequest {
    /// Parts of requests in the present read, so far.
    private enum ReadContents { case nothing, head, more }
    private var contents = ReadContents.nothing
    /// Whether the parser holds no part of a request.
    private var isParserEmpty = true
    private var bytes: ByteBuffer?

    /// Begins a read, before the parser.
    mutating func begin() { contents = isParserEmpty ? .nothing : .more }

    /// Notes a head.
    /// - Parameter isUsual: whether no other request is unanswered, and all layers see the head as it was sent.
    mutating func noteHead(isUsual: Bool) {
        bytes = nil
        contents = isUsual && contents == .nothing ? .head : .more
    }

    /// Notes a part of a body.
    mutating func noteBody() { contents = .more }

    /// Ends a read, after the parser.
    ///
    /// A read that ends with an empty line and leaves no request open leaves nothing to the parser.
    /// - Parameter isIdle: whether no request is open.
    mutating func end(_ read: ByteBuffer, isIdle: Bool) {
        isParserEmpty = isIdle && read.endsWithEmptyLine
        if isParserEmpty, contents == .head { bytes = read }
    }

    /// Gives away the bytes of the newest request.
    /// - Returns: nil if it did not come alone, or if the bytes were taken.
    package mutating func take() -> ByteBuffer? { bytes.take() }
}

extension ByteBuffer {
    /// Whether the last line is empty, as a head's is.
    fileprivate var endsWithEmptyLine: Bool {
        getInteger(at: writerIndex - 4, as: UInt32.self) == 0x0D0A_0D0A
    }
}
