import Basics
import Hummingbird
import ScribeDomain
package import ScribeHTTP

/// Family with one route, which greets the user of a token.
package struct HelloFamily: RoutedAPI {
    package let name = "Hello"
    private let environment: FamilyEnvironment

    init(_ environment: FamilyEnvironment) { self.environment = environment }

    package let errors: any ErrorTable = HelloErrors()

    package func addRoutes(to routes: RouteGroup) {
        let authentication = Authentication(pages: environment.pages) { [$0.bearerToken].compactMap(\.self) }
        routes.group(access: authentication.access).get("hello/v1/greeting", use: greet)
    }

    @Sendable private func greet(_ request: Request, _ context: ScribeContext) throws -> Response {
        .json(.ok, ["greeting": .string("Hello, \(try context.requirePrincipal().user)")])
    }
}
