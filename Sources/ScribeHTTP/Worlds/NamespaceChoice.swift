import Basics
import Foundation
import HTTPTypes
import Hummingbird
package import ScribeDomain

/// Use of namespaces by a family.
package enum NamespaceUse: Hashable, Sendable {
    /// An emulated API: requests choose their namespace by path prefix, header or credential.
    case all
    /// The operator API: calls choose their namespace by header or query.
    case control
    /// The server itself: requests choose none.
    case none

    /// Ways in which a call of the operator API chooses its namespace, in words.
    package static let controlWays = "X-Scribe-Namespace or ?namespace="
}

/// Credentials of a request that may name a namespace. They select a world; the world's keys verify them later.
package struct OfferedCredentials: Sendable {
    /// Credentials in the head of the request.
    package var head: [String]
    /// Fields of a JSON body with credentials; empty for requests whose body has none.
    package var bodyFields: [String]
    /// Longest such body, in bytes.
    package var bodyLimit: Int

    package init(head: [String?] = [], bodyFields: [String] = [], bodyLimit: Int = Request.jsonBodyLimit) {
        self.head = head.compactMap { $0.flatMap { $0.isEmpty ? nil : $0 } }
        self.bodyFields = bodyFields
        self.bodyLimit = bodyLimit
    }
}

/// Finds the world of a request.
struct NamespaceChoice {
    let directory: WorldDirectory
    let family: any Family

    /// The world of a request, and the request; a body that was read for its credentials is in memory then.
    /// - Throws: ``HTTPProblem/namespaceNotFound``, ``HTTPProblem/unauthenticated(reason:)`` where two ways disagree,
    ///   ``HTTPProblem/routeNotFound(hint:)`` below the prefix for paths of the server itself, and errors of
    ///   ``Request/collectedBody(upTo:in:)``.
    func world(of address: RequestAddress, _ context: ScribeContext) async throws -> (World, Request) {
        let request = address.request
        switch family.namespaceUse(of: address) {
        case .none:
            try refusePrefix(context)
            return (directory.main, request)
        case .control:
            try refusePrefix(context)
            do {
                return (try controlled(by: request), request)
            } catch {
                context.namespaceError = error
                return (directory.main, request)
            }
        case .all:
            context.usesNamespaces = true
            return try await emulated(address, context)
        }
    }

    private func refusePrefix(_ context: ScribeContext) throws(HTTPProblem) {
        guard context.namespacePrefix != nil else { return }
        throw .routeNotFound(hint: "No such route below a namespace; leave the prefix out")
    }

    private func controlled(by request: Request) throws -> World {
        let names = [request.headers.value(of: .scribeNamespace), request.query["namespace"].map(String.init)]
            .compactMap(\.self)
        let worlds = try names.map { name in
            name == NamespaceName.ofDefaultWorld ? directory.main : try world(named: NamespaceName(name))
        }
        guard let first = worlds.first else { return directory.main }
        guard worlds.allSatisfy({ $0 === first }) else {
            throw NamespaceProblem.ambiguous
        }
        return first
    }

    private func emulated(
        _ address: RequestAddress, _ context: ScribeContext
    ) async throws -> (World, Request) {
        var request = address.request
        let offered = family.credentials(of: address)
        var explicit = context.namespacePrefix.map { [$0.name] } ?? []
        if let header = request.headers.value(of: .scribeNamespace) {
            if request.headers.value(of: .origin) != nil, offered.head.isEmpty {
                throw HTTPProblem.unauthenticated(reason: "A page chooses a namespace only with a token")
            }
            explicit.append(NamespaceName(header))
        }
        for name in explicit { _ = try world(named: name) }
        let chosen = explicit.first ?? nil
        guard explicit.allSatisfy({ $0 == chosen }) else { throw HTTPProblem.namespacesDisagree }
        var claimed = offered.head.compactMap(namespace(of:))
        if !offered.bodyFields.isEmpty {
            let input = try await request.collectedJSON(upTo: offered.bodyLimit, in: context)
            context.holdsBody = true
            request = request.replacing(input)
            let texts = await input.read { Self.texts(offered.bodyFields, in: $0) }
            claimed += texts.compactMap(namespace(of:))
        }
        guard let first = claimed.first else {
            return (chosen.flatMap { directory[$0] } ?? directory.main, request)
        }
        guard claimed.allSatisfy({ $0 == first }), chosen == nil || chosen == first else {
            throw HTTPProblem.namespacesDisagree
        }
        guard let world = directory[first] else {
            throw HTTPProblem.unauthenticated(reason: "The namespace of this credential does not exist any more")
        }
        return (world, request)
    }

    private func world(named name: NamespaceName?) throws(HTTPProblem) -> World {
        guard let world = name.flatMap({ directory[$0] }) else { throw .namespaceNotFound }
        return world
    }

    private func namespace(of credential: String) -> NamespaceName? { directory.namespace(claimedBy: credential) }

    private static func texts(_ fields: [String], in body: ByteBuffer) -> [String] {
        guard body.readableBytes > 0,
            let object = JSONDocument.untrusted(Data(body.readableBytesView), as: JSONValue.self), object.isObject
        else { return [] }
        return fields.compactMap { object[$0]?.stringValue }
    }
}

extension Request {
    /// The request with a body that was read and decoded.
    fileprivate func replacing(_ input: LargeInput<ByteBuffer>) -> Request {
        var head = head
        head.headerFields[.contentEncoding] = nil
        return Request(head: head, body: input.body)
    }
}

extension WorldDirectory {
    /// The namespace that a credential names, unverified; nil for a credential of the default world, or of another
    /// server.
    package func namespace(claimedBy credential: String) -> NamespaceName? {
        if let marked = NamespaceName(markedIn: credential) { return marked }
        guard hasHadAny, credential.utf8.count <= 16_384 else { return nil }
        guard let token = UnverifiedToken(credential) else { return namespace(ofKey: credential) }
        return token.namespace.flatMap { NamespaceName($0) }
    }
}

extension HTTPProblem {
    static var namespacesDisagree: HTTPProblem {
        .unauthenticated(reason: "The request's path, header and credential name different namespaces")
    }
}
