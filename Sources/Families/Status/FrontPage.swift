import Basics
import Documents
import HTTPTypes
package import Hummingbird
import NIOCore
package import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// Answers the addresses that people and load balancers try first.
///
/// These are `/` in a browser or by curl, `/docs`, `/health`, `/healthz`, `/openapi.json` and `/favicon.ico`. Signed
/// requests go to S3, and so does `/docs` once a bucket has that name. No bucket takes the other addresses.
package struct FrontPage: Family {
    /// Content of the front page.
    package struct Settings: Sendable {
        let version: String
        let isStrict: Bool
        let tlsPort: @Sendable () -> Int?
        let demo: @Sendable () -> Demo?

        /// - Parameters:
        ///   - isStrict: Shows only the version and links.
        ///   - tlsPort: The TLS port, once open.
        ///   - demo: A client that may log in.
        package init(
            version: String, isStrict: Bool, tlsPort: @escaping @Sendable () -> Int?,
            demo: @escaping @Sendable () -> Demo?
        ) {
            self.version = version
            self.isStrict = isStrict
            self.tlsPort = tlsPort
            self.demo = demo
        }
    }

    /// A client of the demo seed.
    package struct Demo: Hashable, Sendable {
        let id: String
        let secret: String

        package init(id: String, secret: String) {
            self.id = id
            self.secret = secret
        }
    }

    private enum Path: String {
        case docs, health, healthz
        case document = "openapi.json"
        case icon = "favicon.ico"
    }

    package let name = "Front page"
    private let origin: LinkOrigin
    private let objects: any Family
    private let settings: Settings

    /// - Parameter objects: The S3 family, which answers `/docs` if a bucket has that name.
    init(_ environment: FamilyEnvironment, objects: any Family, settings: Settings) {
        origin = environment.origin
        self.objects = objects
        self.settings = settings
    }

    package func claim(on address: RequestAddress) -> RouteClaim? {
        guard address.path.count <= 1, !address.isSigned else { return nil }
        guard let word = address.path.first else {
            let isAsked = address.acceptsHTML || address.acceptsText && !address.isOfBucket
            return isAsked && [.get, .head].contains(address.method) ? .path(words: 0) : nil
        }
        guard address.method == .get, Path(rawValue: String(word)) != nil else { return nil }
        // Weaker than a host claim, so that the SDKs' hosts keep their families.
        return .rest
    }

    package func namespaceUse(of address: RequestAddress) -> NamespaceUse { .none }

    package func credentials(of address: RequestAddress) -> OfferedCredentials { OfferedCredentials() }

    package func response(to error: any Error, of request: Request, _ context: ScribeContext) -> Response {
        StatusErrors().response(to: error, context)
    }

    package func respond(to request: Request, context: ScribeContext) async throws -> Response {
        let word = RequestAddress(request).path.first.map(String.init)
        if word == Path.docs.rawValue,
            (try? await context.world.runtime.store.audio.hasBucket(Path.docs.rawValue)) ?? false
        {
            return try await objects.respond(to: request, context: context)
        }
        context.coreContext.endpointPath.value = "/\(word ?? "")"
        do {
            return try await answer(to: word.flatMap(Path.init(rawValue:)), request, context)
        } catch let problem as HTTPProblem {
            return StatusErrors().response(to: problem, context)
        }
    }

    private func answer(to path: Path?, _ request: Request, _ context: ScribeContext) async throws -> Response {
        switch path {
        case nil:
            let page = page(request, context)
            return request.method == .head ? page.createHeadResponse() : page
        case .docs: return Response(status: .found, headers: [.location: "/", .cacheControl: "no-store"])
        case .health, .healthz: return .json(.ok, ["status": "alive"])
        case .document:
            return Response(
                status: .ok, headers: [.contentType: "application/json"], body: ResponseBody(document_scribe_json))
        case .icon: return Response(status: .noContent, headers: [.cacheControl: "max-age=86400"])
        }
    }

    private func page(_ request: Request, _ context: ScribeContext) -> Response {
        let base = origin.base(of: request, context)
        // The host is client input: copyable commands contain it only if it is a valid host.
        let shown = settings.isStrict || WebOrigin(base) == nil ? nil : base
        let text = FrontPageText(
            version: settings.version, base: shown, tls: shown.flatMap { _ in tlsURL(request) },
            demo: settings.isStrict ? nil : settings.demo())
        guard RequestAddress(request).acceptsHTML else {
            return Response(
                status: .ok,
                headers: [
                    .contentType: "text/plain; charset=utf-8", .cacheControl: "no-store",
                    .contentTypeOptions: "nosniff",
                ], body: ResponseBody(byteBuffer: ByteBuffer(string: text.plain)))
        }
        return Response(
            status: .ok,
            headers: [
                .contentType: "text/html; charset=utf-8", .cacheControl: "no-store", .contentTypeOptions: "nosniff",
                .contentSecurityPolicy:
                    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; "
                    + "form-action 'none'",
            ],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text.html)))
    }

    private func tlsURL(_ request: Request) -> String? {
        guard let port = settings.tlsPort(), let place = HostAndPort(request.authority) else { return nil }
        return "https://\(place.host.contains(":") ? "[\(place.host)]" : place.host):\(port)"
    }
}
