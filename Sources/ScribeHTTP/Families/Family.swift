package import HTTPTypes
package import Hummingbird
package import ScribeDomain

/// One of the APIs that are served: which requests are its own, and how they are answered. A family knows the layers
/// below and no other family.
package protocol Family: Sendable {
    /// As the documentation calls it.
    var name: String { get }

    /// Why a request is this family's, nil when it is not.
    func claim(on address: RequestAddress) -> Claim?

    /// Answers a request. Every error is rendered in the family's own style, also that there is no such route.
    /// - Throws: only what makes the connection useless.
    func respond(to request: Request, context: ScribeContext) async throws -> Response
}

/// By what it is told whose a request is.
package struct RequestAddress: Sendable {
    /// The host that the client asked for, with its port if that is not the usual one.
    package let authority: String
    /// The path's words, still percent-encoded.
    package let path: [Substring]
    private let request: Request

    package init(_ request: Request) {
        self.request = request
        authority = request.authority
        path = request.uri.path.split(ascii: "/")
    }

    package var method: HTTPRequest.Method { request.method }

    /// Whether the request has a signature of AWS's, good or bad, in a header or in its query.
    package var isSigned: Bool {
        if let authorization = request.headers[.authorization], SigningScope.isSignature(authorization) { return true }
        return request.uri.queryParameters.contains { SigningScope.isSignatureParameter($0.key) }
    }

    /// Whether the client asks for a web page by name, as browsers do.
    package var acceptsHTML: Bool { request.headers[.accept]?.contains("text/html") ?? false }

    /// Whether the path begins with a word.
    package func begins(with word: String) -> Bool { path.first.map { $0 == word } ?? false }
}

/// Why a request belongs to a family. The strongest claim wins, and of equal ones the first.
package enum Claim: Comparable, Sendable {
    /// Nobody else wants it.
    case rest
    /// It came by one of the family's host names.
    case host
    /// Its path begins as the family's do, with so many words.
    case path(words: Int)
    /// It came by a host name that means one thing only, whatever the path is.
    case address
}

/// Hands each request to the family whose it is.
package struct FamilyResponder: HTTPResponder {
    package typealias Context = ScribeContext

    package let families: [any Family]
    private let world: World
    private let memory: MemoryBudget

    /// - Parameters:
    ///   - families: one of them claims whatever comes.
    ///   - world: that requests are for.
    ///   - memory: for what is held for clients, which all share.
    package init(families: [any Family], world: World, memory: MemoryBudget) {
        self.families = families
        self.world = world
        self.memory = memory
    }

    package func respond(to request: Request, context: ScribeContext) async throws -> Response {
        var context = context
        context.chosenWorld = world
        context.memory = MemoryShare(of: memory)
        var best: (family: any Family, claim: Claim)?
        let address = RequestAddress(request)
        for family in families {
            if let claim = family.claim(on: address), best.map({ $0.claim < claim }) ?? true { best = (family, claim) }
        }
        guard let best else { return Response(status: .notFound) }
        context.explanation?.note(family: best.family.name, best.claim)
        return try await best.family.respond(to: request, context: context)
    }
}
