import HTTPTypes
package import Hummingbird

/// Adds routes whose handler value is made per request from the request's world, so that no route keeps state of a
/// world.
package struct WorldRoutes<Routes> {
    /// A handler method of the routes type.
    package typealias Method =
        @Sendable (Routes) -> @Sendable (Request, ScribeContext) async throws -> Response

    let routes: RouteGroup
    let make: @Sendable (World) -> Routes

    package func group(_ path: String) -> WorldRoutes { WorldRoutes(routes: routes.group(at: path), make: make) }

    @discardableResult
    package func get(_ path: String = "", use method: @escaping Method) -> WorldRoutes { add(.get, path, method) }

    @discardableResult
    package func post(_ path: String = "", use method: @escaping Method) -> WorldRoutes { add(.post, path, method) }

    @discardableResult
    package func put(_ path: String = "", use method: @escaping Method) -> WorldRoutes { add(.put, path, method) }

    @discardableResult
    package func patch(_ path: String = "", use method: @escaping Method) -> WorldRoutes { add(.patch, path, method) }

    @discardableResult
    package func delete(_ path: String = "", use method: @escaping Method) -> WorldRoutes { add(.delete, path, method) }

    private func add(_ name: HTTPRequest.Method, _ path: String, _ method: @escaping Method) -> WorldRoutes {
        routes.add(name, path) { [make] request, context in
            try await method(make(context.world))(request, context)
        }
        return self
    }
}
