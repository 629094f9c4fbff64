import Basics
package import HTTPTypes
package import Hummingbird
import ScribeDomain

/// Access to a route: the callers that it admits.
package enum RouteAccess: Sendable {
    /// Anyone: logins, health, documents.
    case open
    /// Holders of a credential that the handler checks: a link's ticket, or one that a socket brings.
    case checkedByHandler
    /// Callers that the check admits. The check sets the context's principal, or throws.
    case checked(@Sendable (Request, ScribeContext) async throws -> Void)
}

/// Routes that share an error table and an access. A route is closed unless its group declares an access.
package struct RouteGroup {
    package typealias Handler = @Sendable (Request, ScribeContext) async throws -> Response

    /// A route of an API, as its group declares it.
    package struct Route: Sendable {
        package let method: HTTPRequest.Method
        /// The path, with parameters in braces.
        package let pattern: String
        /// Components of the path, with parameters in braces.
        package let path: [Substring]
        /// Names of the parameters, with their places in the path.
        private let parameters: [(place: Int, name: Substring)]
        /// nil for a closed route.
        package let access: RouteAccess?
        let errors: @Sendable (Request, ScribeContext) -> any ErrorTable
        let handler: Handler
        let contract = RouteContract()

        init(
            _ method: HTTPRequest.Method, _ path: [Substring], access: RouteAccess?,
            errors: @escaping @Sendable (Request, ScribeContext) -> any ErrorTable, handler: @escaping Handler
        ) {
            self.method = method
            self.path = path
            self.access = access
            self.errors = errors
            self.handler = handler
            pattern = "/" + path.joined(separator: "/")
            parameters = path.enumerated().filter { $0.element.hasPrefix("{") }
                .map { ($0.offset, $0.element.dropFirst().dropLast()) }
        }

        /// The parameters of a path of this route, still percent-encoded.
        func parameters(in path: [Substring]) -> Parameters {
            Parameters(parameters.map { (key: $0.name, value: path[$0.place]) })
        }

        /// Admits the caller, and runs the handler.
        /// - Throws: Errors of both, for ``errors``.
        func respond(to request: Request, _ context: ScribeContext) async throws -> Response {
            if let refusal = context.refusal {
                // Some envelopes name the business.
                try? await admit(request, context)
                throw refusal
            }
            try await admit(request, context)
            if let refusal = context.contractRefusal { throw refusal }
            return try await ComputeThreads.$caller.withValue(
                context.principal?.business.rawValue ?? context.address
            ) { try await handler(request, context) }
        }

        private func admit(_ request: Request, _ context: ScribeContext) async throws {
            switch access {
            case .open, .checkedByHandler: break
            case .checked(let check): try await check(request, context)
            case nil: throw HTTPProblem.unauthenticated(reason: "This route is closed: it declares no access")
            }
        }
    }

    /// Collects the routes of an API, in the order in which they are added.
    final class Table {
        var routes: [Route] = []
    }

    private let table: Table
    private var prefix = ""
    private var errors: @Sendable (Request, ScribeContext) -> any ErrorTable
    private var access: RouteAccess?

    init(_ table: Table, errors: any ErrorTable) {
        self.table = table
        self.errors = { _, _ in errors }
    }

    /// A group with an error table of its own, another access, or a path before those of its routes.
    package func group(
        at prefix: String? = nil, errors: (any ErrorTable)? = nil, access: RouteAccess? = nil
    ) -> RouteGroup {
        var group = self
        group.prefix = prefix ?? self.prefix
        if let errors { group.errors = { _, _ in errors } }
        group.access = access ?? self.access
        return group
    }

    /// Group with an error table for each request.
    package func group(errors: @escaping @Sendable (Request, ScribeContext) -> any ErrorTable) -> RouteGroup {
        var group = self
        group.errors = errors
        return group
    }

    /// Routes whose handler value is made from a request's world.
    package func routes<Routes>(_ make: @escaping @Sendable (World) -> Routes) -> WorldRoutes<Routes> {
        WorldRoutes(routes: self, make: make)
    }

    package func get(_ path: String, use handler: @escaping Handler) { add(.get, path, handler) }

    func add(_ method: HTTPRequest.Method, _ path: String, _ handler: @escaping Handler) {
        let words = "\(prefix)/\(path)"[...].split(ascii: "/")
        table.routes.append(
            Route(method, words, access: access, errors: errors, handler: handler))
    }
}
