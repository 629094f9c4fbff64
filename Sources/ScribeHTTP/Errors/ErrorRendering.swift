import Hummingbird
package import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTP2
import ScribeDomain

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Renders whatever a family's handlers throw. Handlers build no error responses themselves.
package struct ErrorRendering: RouterMiddleware {
    package typealias Context = ScribeContext

    private let style: any ErrorStyle

    package init(style: any ErrorStyle) { self.style = style }

    package func handle(
        _ request: Request, context: ScribeContext,
        next: @concurrent (Request, ScribeContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let failure as ScribeError {
            if case .storageUnavailable(let cause) = failure {
                context.logger.error("nothing can be written", metadata: ["error": "\(cause)"])
            } else {
                log(failure.code, context)
            }
            return try style.response(to: failure, context: context)
        } catch let problem as HTTPProblem {
            log(problem.name, context)
            return try style.response(to: problem, context: context)
        } catch  where error.isBrokenRequest {
            // The server answers with 400 and closes: nothing that follows on this connection can be understood.
            throw error
        } catch {
            if let response = try style.response(toOwn: error, context: context) {
                log("\(error)", context)
                return response
            }
            context.logger.error("unexpected error", metadata: ["error": "\(error)"])
            return try style.internalError(context: context)
        }
    }

    private func log(_ reason: String, _ context: ScribeContext) {
        context.logger.info(
            "refused",
            metadata: [
                "reason": "\(reason)", "txn_id": "\(context.transactionText.map { TransactionID($0).logged } ?? "-")",
            ]
        )
    }
}

extension Error {
    /// Whether the connection is of no use any more, because its client has gone or speaks no HTTP.
    package var isBrokenRequest: Bool {
        if let error = self as? IOError { return [ECONNRESET, EPIPE].contains(error.errnoCode) }
        return self is HTTPParserError || self is ChannelError || self is CancellationError
            || self is NIOHTTP2Errors.StreamClosed
    }
}
