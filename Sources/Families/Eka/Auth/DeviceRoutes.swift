import Basics
import Foundation
import HTTPTypes
import Hummingbird
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// `/connect-auth/v1/device`: device login of the vendor's desktop app (`deviceLoginManager.ts`; reference-backend.md
/// section 8).
struct DeviceRoutes: Sendable {
    private static let bodyLimit = 16 << 10
    private static let activation = "auth/activate"

    let tokenIssuer: TokenIssuer
    let environment: FamilyEnvironment

    private var logins: DeviceLogins {
        DeviceLogins(store: tokenIssuer.store, identifiers: tokenIssuer.identifiers, clock: tokenIssuer.clock)
    }

    /// The client that devices act for without approval; nil in strict mode.
    ///
    /// Other modes accept a token that was not issued here, so they need no approval either.
    private var approver: ClientID? {
        environment.mode == .strict ? nil : tokenIssuer.clients.demoPrincipal.client
    }

    static func add(to open: WorldRoutes<Self>, authenticated: WorldRoutes<Self>) {
        open.post("connect-auth/v1/device/code", use: begin)
        open.post("connect-auth/v1/device/token", use: redeem)
        open.get(Self.activation, use: explain)
        authenticated.post("connect-auth/v1/device/approve", use: decide)
    }

    private struct CodeRequest: Decodable {
        let redirect: String?

        enum CodingKeys: String, CodingKey { case redirect = "redirect_uri" }
    }

    @Sendable private func begin(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let body = try await request.decodeOptionalJSON(as: CodeRequest.self, in: context)
        let redirect = body?.redirect.flatMap { $0.isEmpty ? nil : $0 }
        guard redirect.map(Self.isOfApp) != false else { throw DeviceLogins.Refusal.invalidRedirect }
        let deviceCode = tokenIssuer.namespace.mark(tokenIssuer.identifiers.secret())
        let userCode = try await logins.begin(
            deviceCode: deviceCode, redirect: redirect, approvedBy: approver,
            from: environment.proxies.client(of: request, context))
        guard let userCode else { throw HTTPProblem.tooManyAttempts(retryAfter: 60) }
        // A browser opens the address, and sends no header.
        let path = context.linkPath.isEmpty ? tokenIssuer.namespace?.path ?? "" : ""
        let address = "\(environment.origin.base(of: request, context))\(path)/\(Self.activation)"
        return .json(
            .ok,
            [
                "device_code": .string(deviceCode), "user_code": .string(userCode),
                "verification_uri": .string(address), "verification_uri_complete": "\(address)?user_code=\(userCode)",
                "expires_in": .integer(Int(DeviceLogins.lifetime)), "interval": .integer(Int(DeviceLogins.interval)),
            ])
    }

    /// Whether a redirect leads to the app's own scheme or to a port of the same machine.
    ///
    /// A page elsewhere could pass for the app.
    private static func isOfApp(_ text: String) -> Bool {
        guard text.utf8.count <= 2048, text.isPlain, let url = URLComponents(string: text) else { return false }
        switch url.scheme?.lowercased() {
        case "vaarta": return true
        case "http": return ["127.0.0.1", "localhost", "[::1]", "::1"].contains(url.host?.lowercased())
        default: return false
        }
    }

    private struct Decision: Decodable {
        let userCode: String
        let action: String?

        enum CodingKeys: String, CodingKey {
            case action
            case userCode = "user_code"
        }
    }

    @Sendable private func decide(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let principal = try context.requirePrincipal()
        if context.credential != .header { try environment.pages.requireLogin(request, context) }
        let body: Decision = try await request.decodeJSON(upTo: Self.bodyLimit, in: context)
        guard let isApproved = ["approve": true, "deny": false][body.action ?? "approve"] else {
            throw ScribeError.invalidRequest(field: "action", problem: "must be approve or deny")
        }
        let redirect = try await logins.decide(body.userCode, for: isApproved ? principal.client : nil)
        return .json(
            .ok,
            [
                "status": "success", "result": isApproved ? "approved" : "denied",
                "redirect_uri": redirect.map(JSON.string),
            ])
    }

    private struct TokenRequest: Decodable {
        let deviceCode: String

        enum CodingKeys: String, CodingKey { case deviceCode = "device_code" }
    }

    @Sendable private func redeem(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let body: TokenRequest = try await request.decodeJSON(upTo: Self.bodyLimit, in: context)
        let id = try await logins.redeem(body.deviceCode)
        let known = try await tokenIssuer.store.accounts.client(id)
        guard let client = known?.client else { throw DeviceLogins.Refusal.denied }
        return try await tokenIssuer.answer(to: client)
    }

    /// Explains how to approve the code with curl. The server has no page to log in on.
    @Sendable private func explain(_ request: Request, _ context: ScribeContext) throws -> Response {
        let base = environment.origin.base(of: request, context)
        let approval =
            approver == nil
            ? "Approve it with an access token of the client that it is to act for:"
            : "Nobody needs to approve it: it acts for the demo client. Go back to the device. In strict mode it takes:"
        let text = """
            A device wants to log in. Its code is shown on it, and in the address of this page.

            \(approval)

              curl -X POST \(base)/connect-auth/v1/device/approve \\
                -H "Authorization: Bearer $ACCESS_TOKEN" -H "Content-Type: application/json" \\
                -d '{"user_code": "…"}'

            """
        return Response(
            status: .ok, headers: [.contentType: "text/plain; charset=utf-8", .cacheControl: "no-store"],
            body: .init(byteBuffer: .init(string: text)))
    }
}
