package import Basics
import Foundation
import HTTPTypes
package import Hummingbird
package import Logging
package import ScribeRuntime

/// Logs one line per request: method, route pattern, status and time.
///
/// Queries may contain signatures, and object keys patients' names, so neither is logged.
package struct RequestLog<Next: HTTPResponder>: HTTPResponder where Next.Context == ScribeContext {
    private let next: Next
    private let metrics: Metrics
    private let clock: WallClock
    private let quiet: Set<String>
    private let refusals: RefusalLog?
    private let journal: RequestJournal?
    private let writeLine: (@Sendable (RequestLine) -> Void)?

    /// - Parameters:
    ///   - logger: where the lines go.
    ///   - quiet: Routes that orchestrators poll: only their errors are logged.
    ///   - refusals: Explains refused requests; nil to log route names only.
    ///   - journal: Records the requests; nil to keep none.
    package init(
        next: Next, metrics: Metrics, clock: WallClock, logger: Logger, quiet: Set<String>, refusals: RefusalLog? = nil,
        journal: RequestJournal? = nil
    ) {
        self.journal = journal
        writeLine = (logger.handler as? any RequestLineHandler)?.writeRequest
        self.quiet = quiet
        self.refusals = refusals
        self.next = next
        self.metrics = metrics
        self.clock = clock
    }

    package func respond(to request: Request, context: ScribeContext) async throws -> Response {
        let start = clock.now
        var request = request
        let trace = request.headers.value(of: .traceParent).flatMap(TraceParent.init)
        if let trace {
            context.logger[metadataKey: "trace_id"] = "\(trace.traceID)"
        }
        if let refusals {
            context.routes = refusals.nearest
            if context.explanation == nil { context.explanation = RefusalFacts() }
        }
        journal?.begin(&request, context, at: start)
        context.sentHead = nil
        var response: Response
        do {
            response = try await next.respond(to: request, context: context)
        } catch {
            journal?.fail(context)
            throw error
        }
        if let id = response.headers.value(of: .requestID) {
            context.requestID = id
        } else {
            response.headers[.requestID] = context.requestID
        }
        if request.method == .head {
            // HEAD gets the headers of GET, with its content length, and no body.
            response = Response(status: response.status, headers: response.headers)
        }
        let end = clock.now
        let route = context.endpointPath
        let shownRoute = route ?? "-"
        let seconds = end.timeIntervalSince(start)
        metrics.requestServed(
            method: request.method.isCommon ? request.method.rawValue : "other", route: shownRoute,
            status: response.status.code, seconds: seconds
        )
        let line = RequestLine(
            method: request.method.rawValue, route: shownRoute, status: response.status.code,
            milliseconds: (seconds * 10_000).rounded() / 10, requestID: context.requestID, traceID: trace?.traceID,
            time: end)
        let isQuiet = response.status.kind == .successful && quiet.contains(shownRoute)
        if let writeLine, !isQuiet {
            writeLine(line)
        } else {
            context.logger.log(
                level: isQuiet ? .debug : .info, "\(line.method) \(line.route) \(line.status)",
                metadata: [
                    "method": "\(line.method)", "route": "\(line.route)", "status": .stringConvertible(line.status),
                    "ms": .stringConvertible(line.milliseconds),
                ])
        }
        if let refusals, let explanation = context.explanation {
            refusals.log(explanation, of: request, response.status, context, at: end)
        }
        guard let journal, !journal.ends(with: response, of: route, context, at: end) else { return response }
        return try await journal.recorded(response, of: route, context, at: end)
    }
}

extension HTTPRequest.Method {
    /// Whether HTTP defines the method: metric labels must not grow with clients' input.
    fileprivate var isCommon: Bool {
        [.get, .head, .post, .put, .patch, .delete, .options, .connect, .trace].contains(self)
    }
}
