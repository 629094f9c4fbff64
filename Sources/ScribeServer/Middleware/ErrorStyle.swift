import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOHTTP1
import ScribeDomain
import ScribeStore

/// How one API family says that something went wrong.
protocol ErrorStyle: Sendable {
    /// The family's answer to a failure that is the caller's to know.
    func response(to error: ScribeError, context: ScribeContext) throws -> Response
    /// The family's answer to a failure of ours; it says nothing but where to find it in the log.
    func internalError(context: ScribeContext) throws -> Response
}

/// Sentences that all families say alike.
extension ErrorStyle {
    func sentence(on field: String?, _ problem: String) -> String {
        field.map { "Field '\($0)' \(problem)" } ?? "The body \(problem)"
    }

    func apology(_ context: ScribeContext) -> String {
        "Something went wrong; the log has it under request \(context.requestID)"
    }
}

extension HTTPFields {
    static func retryAfter(_ seconds: Int) -> HTTPFields { [.retryAfter: String(seconds)] }
}

/// Renders whatever a family's handlers throw. Handlers build no error responses themselves.
struct ErrorRendering<Style: ErrorStyle>: RouterMiddleware {
    typealias Context = ScribeContext
    let style: Style

    func handle(
        _ request: Request, context: ScribeContext,
        next: (Request, ScribeContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as ScribeError {
            context.logger.info(
                "refused",
                metadata: [
                    "reason": "\(error.name)",
                    "txn_id": "\(context.transactionText.map { TransactionID($0).logged } ?? "-")",
                ]
            )
            return try style.response(to: error, context: context)
        } catch  where Self.isBrokenRequest(error) {
            // The server answers with 400 and closes: nothing that follows on this connection can be understood.
            throw error
        } catch  where Store.isFull(error) {
            context.logger.error("nothing can be written", metadata: ["error": "\(error)"])
            return try style.response(to: .storageUnavailable, context: context)
        } catch {
            context.logger.error("unexpected error", metadata: ["error": "\(error)"])
            return try style.internalError(context: context)
        }
    }

    static func isBrokenRequest(_ error: any Error) -> Bool {
        if let error = error as? IOError { return [ECONNRESET, EPIPE].contains(error.errnoCode) }
        return error is HTTPParserError || error is ChannelError || error is CancellationError
    }
}
