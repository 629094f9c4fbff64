package import Basics
package import HTTPTypes
package import Hummingbird
package import ScribeDomain
import ScribeRuntime

/// One emulated API: claims its requests, and answers them.
///
/// A family knows the layers below, and no other family.
package protocol Family: Sendable {
    /// Name of the family in the documentation.
    var name: String { get }

    /// Beginnings of the family's paths, of at most three components.
    var beginnings: [[Substring]] { get }
    /// Suffixes of the family's hosts, such as `.eka.care`.
    var hostSuffixes: [String] { get }

    /// Strength of the claim of a family without ``beginnings``; nil without a claim.
    func claim(on address: RequestAddress) -> RouteClaim?

    /// Answers a request. All errors are rendered in the family's format, unknown routes too.
    /// - Throws: Only errors after which the connection is unusable.
    func respond(to request: Request, context: ScribeContext) async throws -> Response

    /// Use of namespaces by a request.
    func namespaceUse(of address: RequestAddress) -> NamespaceUse

    /// Credentials of a request that may name a namespace.
    func credentials(of address: RequestAddress) -> OfferedCredentials

    /// Principal that a request names; nil without a valid credential. Only fault rules ask.
    func principal(of request: Request, in world: World) async -> Principal?

    /// Operation that a request's path alone does not tell; nil where it does.
    func operation(of request: Request, _ context: ScribeContext) -> String?

    /// Whether a request may name its namespace in its body or first message.
    func namesWorldLate(_ request: Request) -> Bool

    /// Refuses a request, as its handler would refuse it with this error.
    /// - Throws: As ``respond(to:context:)``.
    func response(to error: any Error, of request: Request, _ context: ScribeContext) async throws -> Response
}

extension Family {
    package var beginnings: [[Substring]] { [] }
    package var hostSuffixes: [String] { [] }
    package func claim(on address: RequestAddress) -> RouteClaim? { nil }
    package func principal(of request: Request, in world: World) async -> Principal? { nil }
    package func operation(of request: Request, _ context: ScribeContext) -> String? { nil }
    package func namesWorldLate(_ request: Request) -> Bool { false }
}

/// The parts of a request that families claim by: host, path, method, signature.
package struct RequestAddress: Sendable {
    /// The requested host, with its port unless that is the default.
    package let authority: String
    /// Components of the path, still percent-encoded.
    package let path: [Substring]
    package let request: Request

    package init(_ request: Request) {
        self.request = request
        authority = request.authority
        path = request.uri.path.split(ascii: "/")
    }

    /// The requested host without a port, in small letters; nil without one.
    var host: String? { authority.split(ascii: ":", maxSplits: 1).first?.lowercased() }

    package var method: HTTPRequest.Method { request.method }

    /// Whether the request carries an AWS signature, valid or not, in a header or in the query.
    package var isSigned: Bool {
        if let authorization = request.headers.value(of: .authorization), SigningScope.isSignature(authorization) {
            return true
        }
        return request.uri.queryParameters.contains { SigningScope.isSignatureParameter($0.key) }
    }

    /// Whether the client accepts HTML explicitly, as browsers do.
    package var acceptsHTML: Bool { request.headers.value(of: .accept)?.contains("text/html") ?? false }

    /// Whether the client takes any text and says so, as browsers, curl and HTTP libraries do. SDKs of S3 name nothing
    /// that they take.
    package var acceptsText: Bool {
        request.headers.value(of: .accept).map { $0.contains("text/") || $0.contains("*/*") } ?? false
    }

    /// Whether the host alone names a bucket.
    package var isOfBucket: Bool { AudioLocation.bucket(ofVirtualHost: authority) != nil }

    /// Whether a component is the path's first.
    package func begins(with word: String) -> Bool { path.first.map { $0 == word } ?? false }
}

/// Strength of a family's claim on a request. The strongest claim wins; of equal ones, the first family's.
package enum RouteClaim: Comparable, Sendable {
    /// The family takes requests that no other family claims.
    case rest
    /// The path begins with one component of the family's paths, such as `v1`, which many vendors use.
    case word
    /// The host is one of the family's.
    case host
    /// The path begins with this many components of the family's paths.
    case path(words: Int)
    /// The host alone decides, whatever the path.
    case address
}

/// Dispatches each request to the family with the strongest claim.
package struct FamilyResponder: HTTPResponder {
    package typealias Context = ScribeContext

    package let families: [any Family]
    private let table: FamilyTable
    private let directory: WorldDirectory
    private let memory: MemoryBudget
    private let faults: FaultSettings
    private let acceptsGzip: Bool
    private let contractMode: ContractMode

    /// - Parameters:
    ///   - families: One of them must claim every request.
    ///   - directory: Worlds of the requests.
    ///   - memory: Budget for bytes held for clients, shared by all requests.
    ///   - acceptsGzip: Whether JSON may come compressed.
    ///   - contractMode: Whether requests are checked against the contract.
    package init(
        families: [any Family], directory: WorldDirectory, memory: MemoryBudget, faults: FaultSettings = .init(),
        acceptsGzip: Bool = false, contractMode: ContractMode = .off
    ) {
        self.families = families
        table = FamilyTable(families)
        self.directory = directory
        self.memory = memory
        self.faults = faults
        self.acceptsGzip = acceptsGzip
        self.contractMode = contractMode
    }

    package func respond(to request: Request, context: ScribeContext) async throws -> Response {
        context.directory = directory
        context.chosenWorld = directory.main
        context.faultSettings = faults
        context.acceptsGzip = acceptsGzip
        context.contractMode = contractMode
        context.memory = MemoryShare(of: memory)
        let address = context.place(of: request)
        guard let best = table.family(of: address) else { return Response(status: .notFound) }
        context.explanation?.note(family: best.family.name, best.claim)
        let (world, read): (World, Request)
        do {
            (world, read) = try await NamespaceChoice(directory: directory, family: best.family)
                .world(of: address, context)
        } catch  where !error.isBrokenRequest {
            let named = context.namespacePrefix?.name.flatMap { directory[$0] }
            context.record(in: named ?? context.world, best.family, request)
            context.coreContext.endpointPath.value = "no namespace"
            return try await best.family.response(to: error, of: request, context)
        }
        context.chosenWorld = world
        context.record(in: world, best.family, read)
        world.use.begin()
        defer { world.use.end() }
        let identifiers = world.runtime.identifiers
        let faults = RequestFaults(world: world, family: best.family, settings: faults)
        guard identifiers.seed != nil, context.usesNamespaces else {
            return try await faults.respond(to: read, context, next: best.family.respond)
        }
        context.requestID = identifiers.uuid(.request)
        var response = try await faults.respond(to: read, context, next: best.family.respond)
        response.headers[.requestID] = context.requestID
        return response
    }
}
