extension ConnectionGuard {
    /// State of the connection and of the request being read.
    enum Phase {
        /// No byte of a request has arrived.
        case idle
        case head, body
        /// A request was refused; further input is ignored.
        case refused
        /// A request asks for another protocol, and is not answered yet.
        case upgrading
        /// The connection speaks another protocol, with its own limits.
        case upgraded
    }
}
