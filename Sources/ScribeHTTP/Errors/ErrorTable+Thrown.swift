import Basics
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTP2
import ScribeDomain

extension ErrorTable {
    /// Renders an error of a handler as an answer, and logs it.
    /// - Throws: Errors after which the connection is unusable.
    func response(toThrown error: any Error, _ context: ScribeContext) throws -> Response {
        // The server answers with 400 and closes: the rest of the connection cannot be parsed.
        guard !error.isBrokenRequest else { throw error }
        guard let refusal = refusal(for: error, context) else {
            context.logger.error("unexpected error", metadata: ["error": "\(error)"])
            return response(.internalError(context), context)
        }
        log(error, context)
        return response(refusal, context)
    }

    private func log(_ error: any Error, _ context: ScribeContext) {
        if case ScribeError.storageUnavailable(let cause) = error {
            return context.logger.error("nothing can be written", metadata: ["error": "\(cause)"])
        }
        // Only the case's name: associated values may quote the client.
        let reason = (error as? ScribeError)?.code ?? String("\(error)".prefix { $0 != "(" })
        context.logger.info(
            "refused",
            metadata: [
                "reason": "\(reason)", "txn_id": "\(context.transactionText.map { TransactionID($0).logged } ?? "-")",
            ]
        )
    }
}

extension Error {
    /// Whether the connection is unusable: the client has disconnected, or does not speak HTTP.
    package var isBrokenRequest: Bool {
        if let error = self as? IOError { return [ECONNRESET, EPIPE].contains(error.errnoCode) }
        return self is HTTPParserError || self is ChannelError || self is CancellationError
            || self is NIOHTTP2Errors.StreamClosed
    }
}
