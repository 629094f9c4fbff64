import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import ScribeHTTP

/// Lets nobody in but operators: no web page, whatever its name leads to, and nobody without the token where one is asked
/// for.
struct ControlGate: RouterMiddleware {
    typealias Context = ScribeContext

    let settings: ControlFamily.Settings

    func handle(
        _ request: Request, context: ScribeContext, next: @concurrent (Request, ScribeContext) async throws -> Response
    ) async throws -> Response {
        guard isOwn(host: request.authority) else { throw ControlError.foreignHost }
        guard Self.isFromNoOtherPage(request.headers, host: request.authority) else { throw ControlError.foreignPage }
        if settings.token == nil, Self.isForwarded(request.headers) { throw ControlError.forwarded }
        if let token = settings.token {
            guard let offered = request.headers[.authorization].flatMap({ _ in request.headers.bearerToken }),
                Self.areEqual(offered, token)
            else { throw HTTPProblem.unauthenticated(reason: "The admin token is needed: Authorization: Bearer …") }
        }
        if let type = request.headers[.contentType], !Self.isJSON(type) { throw ControlError.notJSON }
        return try await next(request, context)
    }

    /// A page can be reached by a name of its own that leads here. It cannot be by an address, by `localhost`, or by a name
    /// without a dot, which nobody on the internet can have.
    private func isOwn(host authority: String) -> Bool {
        let host =
            authority.hasPrefix("[")
            ? String(authority.dropFirst().prefix { $0 != "]" }) : String(authority.prefix { $0 != ":" })
        let name = host.lowercased()
        if name == settings.host.lowercased() || name == "localhost" || name.hasSuffix(".localhost") { return true }
        if authority.hasPrefix("[") { return true }
        return !name.isEmpty && (!name.contains(".") || Self.isAddress(name))
    }

    private static func isAddress(_ name: String) -> Bool {
        let numbers = name.split(separator: ".", omittingEmptySubsequences: false)
        return numbers.count == 4 && numbers.allSatisfy { UInt8($0) != nil }
    }

    private static func isFromNoOtherPage(_ headers: HTTPFields, host: String) -> Bool {
        if let site = headers[.secFetchSite], !["same-origin", "none"].contains(site.lowercased()) { return false }
        guard let origin = headers[.origin]?.lowercased() else { return true }
        return ["http", "https"].contains { origin == "\($0)://\(host.lowercased())" }
    }

    /// Whether a proxy has passed the request on: whoever is before that reaches this server as if from this machine.
    private static func isForwarded(_ headers: HTTPFields) -> Bool {
        headers.contains { field in
            let name = field.name.canonicalName
            return name == "forwarded" || name == "via" || name.hasPrefix("x-forwarded-") || name == "x-real-ip"
        }
    }

    private static func isJSON(_ type: String) -> Bool {
        let kind = type.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
        return kind == "application/json"
    }

    /// Takes as long for a token that is nearly right.
    private static func areEqual(_ one: String, _ other: String) -> Bool {
        SHA256.hash(data: Data(one.utf8)) == SHA256.hash(data: Data(other.utf8))
    }
}
