package import Hummingbird

/// Adds routes whose handler value is made per request from the request's world, so that no route keeps state of a
/// world.
package struct WorldRoutes<Routes> {
    /// A handler method of the routes type.
    package typealias Method =
        @Sendable (Routes) -> @Sendable (Request, ScribeContext) async throws -> Response

    private let router: RouterGroup<ScribeContext>
    private let make: @Sendable (World) -> Routes

    fileprivate init(_ router: RouterGroup<ScribeContext>, _ make: @escaping @Sendable (World) -> Routes) {
        self.router = router
        self.make = make
    }

    package func group(_ path: RouterPath) -> WorldRoutes { WorldRoutes(router.group(path), make) }

    package func add(middleware: some RouterMiddleware<ScribeContext>) -> WorldRoutes {
        WorldRoutes(router.add(middleware: middleware), make)
    }

    @discardableResult
    package func get(_ path: RouterPath = "", use method: @escaping Method) -> WorldRoutes {
        router.get(path, use: handler(method))
        return self
    }

    @discardableResult
    package func post(_ path: RouterPath = "", use method: @escaping Method) -> WorldRoutes {
        router.post(path, use: handler(method))
        return self
    }

    @discardableResult
    package func put(_ path: RouterPath = "", use method: @escaping Method) -> WorldRoutes {
        router.put(path, use: handler(method))
        return self
    }

    @discardableResult
    package func patch(_ path: RouterPath = "", use method: @escaping Method) -> WorldRoutes {
        router.patch(path, use: handler(method))
        return self
    }

    @discardableResult
    package func delete(_ path: RouterPath = "", use method: @escaping Method) -> WorldRoutes {
        router.delete(path, use: handler(method))
        return self
    }

    private func handler(
        _ method: @escaping Method
    ) -> @Sendable (Request, ScribeContext) async throws -> Response {
        { [make] request, context in try await method(make(context.world))(request, context) }
    }
}

extension RouterGroup<ScribeContext> {
    /// Routes whose handler value is made from a request's world.
    package func routes<Routes>(_ make: @escaping @Sendable (World) -> Routes) -> WorldRoutes<Routes> {
        WorldRoutes(self, make)
    }
}
