import Foundation
import HTTPTypes
package import Hummingbird
import Logging
package import ScribeDomain
package import ScribeRuntime

/// One line per request: what was asked, by route and never by its text, and what came of it.
///
/// Neither query (it may hold a signature) nor object keys (they may hold a patient's name) are logged.
package struct RequestLog<Next: HTTPResponder>: HTTPResponder where Next.Context == ScribeContext {
    private let next: Next
    private let metrics: Metrics
    private let clock: ScribeClock

    package init(next: Next, metrics: Metrics, clock: ScribeClock) {
        self.next = next
        self.metrics = metrics
        self.clock = clock
    }

    package func respond(to request: Request, context: ScribeContext) async throws -> Response {
        let start = clock.now
        var response = try await next.respond(to: request, context: context)
        response.headers[.requestID] = context.requestID
        if request.method == .head {
            // The answer to GET without its body; its length stays.
            response = Response(status: response.status, headers: response.headers)
        }
        let seconds = clock.now.timeIntervalSince(start)
        let milliseconds = (seconds * 10_000).rounded() / 10
        metrics.requestServed(
            method: request.method.isCommon ? request.method.rawValue : "other", route: context.endpointPath ?? "-",
            status: response.status.code, seconds: seconds
        )
        context.logger.log(
            level: isPassedProbe(context, response.status) ? .debug : .info,
            "\(request.method) \(context.endpointPath ?? "-") \(response.status.code)",
            metadata: [
                "method": "\(request.method)", "route": "\(context.endpointPath ?? "-")",
                "status": "\(response.status.code)", "ms": "\(milliseconds)",
            ]
        )
        return response
    }

    /// Orchestrators ask every few seconds: the answer is worth a line only when it is bad.
    private func isPassedProbe(_ context: ScribeContext, _ status: HTTPResponse.Status) -> Bool {
        status.kind == .successful && Self.probes.contains(context.endpointPath ?? "")
    }

    private static var probes: Set<String> { ["/livez", "/readyz", "/metrics"] }
}

extension HTTPRequest.Method {
    /// Whether it is one of those that HTTP defines: a label must not be whatever a client makes up.
    fileprivate var isCommon: Bool {
        [.get, .head, .post, .put, .patch, .delete, .options, .connect, .trace].contains(self)
    }
}
