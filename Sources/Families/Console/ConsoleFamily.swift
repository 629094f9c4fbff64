import Basics
import Engines
import HTTPTypes
package import Hummingbird
import NIOPosix
package import ScribeDomain
package import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// The console (`/__console`): pages that show what clients did, and steer the server.
///
/// Pages read through the store and the operator API, and act through the operator API only.
package struct ConsoleFamily: Family {
    /// First path component of every route.
    package static let root = "__console"

    /// Settings of the console.
    package struct Settings: Sendable {
        /// The host that the server listens on.
        package var host: String
        package var version: String
        /// Names of the kinds of recordings, for people.
        package var kinds: [RecordingKind: String]
        /// Whether pages show names and words of patients.
        package var showsWords: Bool
        /// Whether several servers share the data, which refuse what would change one of them alone.
        package var sharesData: Bool
        /// Lines about the server: recogniser and data folder.
        package var about: [String]
        /// Client that may try the server out; nil without the demo.
        package var demo: ClientID?
        /// Secret of that client, for the page that connects an SDK.
        package var demoSecret: String?
        /// Key of that client for APIs without a login.
        package var demoKey: String?
        /// Settings of the server, each with its value and where it comes from.
        package var settings: [Setting]
        package var tlsPort: @Sendable () -> Int?

        package init(
            host: String, version: String, kinds: [RecordingKind: String], showsWords: Bool,
            sharesData: Bool = false, about: [String], demo: ClientID?, demoSecret: String?,
            demoKey: String? = nil, settings: [Setting],
            tlsPort: @escaping @Sendable () -> Int?
        ) {
            self.host = host
            self.version = version
            self.kinds = kinds
            self.showsWords = showsWords
            self.sharesData = sharesData
            self.about = about
            self.demo = demo
            self.demoSecret = demoSecret
            self.demoKey = demoKey
            self.settings = settings
            self.tlsPort = tlsPort
        }
    }

    /// A setting of the server, for a page.
    package struct Setting: Hashable, Sendable {
        package let name: String
        /// nil for a setting without a value.
        package let value: String?
        /// The default in words, where there is no value.
        package let defaultWords: String
        /// Origin of the value, such as `--port` or `default`.
        package let origin: String
        /// One sentence about the setting.
        package let summary: String

        package init(name: String, value: String?, defaultWords: String, origin: String, summary: String) {
            self.name = name
            self.value = value
            self.defaultWords = defaultWords
            self.origin = origin
            self.summary = summary
        }

        /// Whether the value is not the default.
        var isChanged: Bool { origin != "default" }
    }

    package let name = "Console"
    let authentication: ConsoleAuthentication
    let settings: Settings
    let origin: LinkOrigin
    let control: ControlCalls
    let views = ConsoleViews()
    let environment: FamilyEnvironment
    private let events = ConsoleEvents()
    let facts = ClinicalFacts(threads: .singleton)

    /// - Parameter control: The operator API, to which acts are passed on.
    init(_ environment: FamilyEnvironment, control: any Family, settings: Settings) {
        self.environment = environment
        self.settings = settings
        origin = environment.origin
        self.control = ControlCalls(family: control, token: environment.adminToken)
        authentication = ConsoleAuthentication(
            host: settings.host, token: environment.adminToken,
            clock: environment.clock, sessions: ConsoleSessions())
    }

    package func claim(on address: RequestAddress) -> RouteClaim? {
        address.begins(with: Self.root) ? .path(words: 1) : nil
    }

    package func namespaceUse(of address: RequestAddress) -> NamespaceUse { .control }

    package func credentials(of address: RequestAddress) -> OfferedCredentials { OfferedCredentials() }

    package func response(to error: any Error, of request: Request, _ context: ScribeContext) -> Response {
        ConsoleErrors().response(to: error, context)
    }

    package func respond(to request: Request, context: ScribeContext) async throws -> Response {
        let path = Array(RequestAddress(request).path.dropFirst())
        context.coreContext.endpointPath.value = "/\(Self.root)"
        var response: Response
        do {
            response = try await answer(to: path, request, context)
        } catch {
            // Errors after which the connection is unusable.
            if error is CancellationError { throw error }
            context.coreContext.endpointPath.value = "/\(Self.root)"
            response = ConsoleErrors().response(to: error, context)
        }
        context.coreContext.endpointPath.value = "/\(Self.root)"
        Self.protect(&response)
        return try await context.holding(response)
    }

    /// Headers of every answer.
    private static func protect(_ response: inout Response) {
        response.headers[.cacheControl] = response.headers.value(of: .cacheControl) ?? "no-store"
        response.headers[.contentTypeOptions] = "nosniff"
        response.headers[.referrerPolicy] = "no-referrer"
        response.headers[.crossOriginResourcePolicy] = "same-origin"
        response.headers[.crossOriginOpenerPolicy] = "same-origin"
        response.headers[.contentSecurityPolicy] =
            response.headers.value(of: .contentSecurityPolicy) ?? "default-src 'none'"
    }

    private func answer(to path: [Substring], _ request: Request, _ context: ScribeContext) async throws -> Response {
        let random = context.world.runtime.identifiers.random
        func authenticate(
            _ kind: ConsoleAuthentication.RequestKind
        ) throws(ConsoleError) -> ConsoleAuthentication.Verdict {
            try authentication.authenticate(request, for: kind, isSecure: isSecure(request, context), random)
        }
        switch path.first {
        case "style.css", "app.js", "player.js", "try.js", "templates.js", "recorder.js", "icon.svg":
            guard path.count == 1, request.method == .get || request.method == .head else {
                throw ConsoleError.notFound
            }
            _ = try authenticate(.asset)
            return views.asset(String(path[0]))
        case "sample.ogg" where request.method == .get && path.count == 1:
            _ = try authenticate(.asset)
            return ConsoleViews.sample
        case "found" where request.method == .get && path.count == 1:
            _ = try authenticate(.data)
            if let error = context.namespaceError { throw error }
            return try await found(request, context)
        case "login" where request.method == .post:
            return try await logIn(try authenticate(.login), request, context)
        case "logout" where request.method == .post:
            return logOut(try authenticate(.action), request)
        case "token" where request.method == .post:
            _ = try authenticate(.action)
            return try await token(request, context)
        case "note" where request.method == .post:
            _ = try authenticate(.action)
            return try await note(request, context)
        case "admin":
            _ = try authenticate(.action)
            if let error = context.namespaceError { throw error }
            return try await control.pass(request, to: path.dropFirst(), context)
        case "events" where request.method == .get:
            let verdict = try authenticate(.data)
            if let error = context.namespaceError { throw error }
            return try events.response(for: context.world, context) { isOpen(verdict) }
        case "audio":
            _ = try authenticate(.data)
            if let error = context.namespaceError { throw error }
            return try await audio(path.dropFirst(), request, context)
        default:
            do {
                let verdict = try authenticate(.page)
                // Models and templates take some milliseconds.
                return try await EventLoopOffload.run(bytes: .max) { @concurrent in
                    try await page(path, verdict, request, context)
                }
            } catch let error as ConsoleError where OperatorRequest(request).isNavigation {
                return views.page(
                    ConsoleViews.text("closed", ["reason": error.refusal.message]), nonce: "none",
                    status: error.refusal.status)
            }
        }
    }

    // MARK: Sessions

    /// Whether the session of an answer has not ended.
    private func isOpen(_ verdict: ConsoleAuthentication.Verdict) -> Bool {
        guard case .allowed(_, let id) = verdict else { return false }
        return authentication.sessions.session(id, at: environment.clock.now) != nil
    }

    func isSecure(_ request: Request, _ context: ScribeContext) -> Bool {
        origin.base(of: request, context).hasPrefix("https:")
    }

    private func logIn(
        _ verdict: ConsoleAuthentication.Verdict, _ request: Request, _ context: ScribeContext
    ) async throws -> Response {
        struct Login: Decodable { let token: String }
        guard request.isDeclaredAsJSON else { throw ConsoleError.notJSON }
        let offered = try await request.decodeJSON(as: Login.self, in: context).token
        guard let token = environment.adminToken else { throw ConsoleError.wrongToken }
        try await environment.operatorLogins.attempt(
            offered, of: LoginThrottle.operators, from: environment.proxies.client(of: request, context),
            orThrow: ConsoleError.wrongToken
        ) { OperatorRequest.areEqual(offered, token) ? () : nil }
        if case .loginRequired(_, let id) = verdict { authentication.sessions.end(id) }
        let random = context.world.runtime.identifiers.random
        let (id, _) = authentication.sessions.begin(isOpen: true, at: environment.clock.now, random)
        var response = Response(status: .noContent)
        ConsoleAuthentication.keep(id, of: request, isSecure: isSecure(request, context), in: &response)
        return response
    }

    private func logOut(_ verdict: ConsoleAuthentication.Verdict, _ request: Request) -> Response {
        var response = Response(status: .noContent)
        if case .allowed(_, let id) = verdict { authentication.sessions.end(id) }
        ConsoleAuthentication.keep("", of: request, isSecure: false, in: &response)
        return response
    }

    /// The client that tries a namespace out: its own one, or the demo's; nil for none.
    func usualClient(_ context: ScribeContext) -> ClientID? {
        guard let name = context.world.namespace else { return settings.demo }
        return context.directory?.control?.record(of: name)?.client
    }

    /// Issues a token of the public API, for the page that tries the server out.
    private func token(_ request: Request, _ context: ScribeContext) async throws -> Response {
        struct Wish: Decodable { let client: String? }
        guard request.isDeclaredAsJSON else { throw ConsoleError.notJSON }
        let wish = try await request.decodeJSON(as: Wish.self, in: context)
        if let error = context.namespaceError { throw error }
        let world = context.world
        guard let id = wish.client.map({ ClientID($0) }) ?? usualClient(context),
            let registered = world.authenticator.clients[id],
            let found = try await world.runtime.store.accounts.client(id)
        else { throw ConsoleError.unknownClient }
        let token = try await world.authenticator.tokens.issue(
            to: found.client, version: registered.version, lifetime: 3600,
            id: Hex.encode(world.runtime.identifiers.random.bytes(16)))
        return .json(
            .ok,
            [
                "access_token": .string(token), "client": .string(id.rawValue),
                "business": .string(registered.principal.business.rawValue),
            ])
    }
}
