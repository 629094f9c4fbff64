import Basics
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import ScribeDomain
import ScribeHTTP
import ScribeRuntime

/// `GET /voice/v1/sessions/{id}/audio`: issues a link to a session's whole audio as one MP3, and serves that link
/// (medscribe.md 2.12).
struct CombinedAudioRoutes: Sendable {
    private static let purpose = "session audio"

    let world: World
    let origin: LinkOrigin

    static func add(to authenticated: WorldRoutes<Self>, links: WorldRoutes<Self>) {
        authenticated.get("voice/v1/sessions/{txn_id}/audio", use: find)
        links.get("voice/v1/audio/{ticket}", use: play)
    }

    @Sendable private func find(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let key = try context.requireSession()
        let expiry = try await explained { try await world.runtime.sessionAudio.expiry(of: key) }
        let left = max(1, expiry.timeIntervalSince(world.runtime.clock.now).rounded())
        let ticket = try world.tickets.issue(
            Self.purpose, for: key.id.rawValue, to: try context.requirePrincipal(), lifetime: left)
        return .json(
            .ok,
            [
                "session_id": .string(key.id.rawValue), "status": "success",
                "audio_url": "\(origin.base(of: request, context))/voice/v1/audio/\(ticket)",
                "expires_in": .integer(Int(left)),
                // Seconds since 1970.
                "expires_at": .integer(
                    Int(saturating: world.runtime.clock.wall.now.addingTimeInterval(left).timeIntervalSince1970)),
            ])
    }

    @Sendable private func play(_ request: Request, _ context: ScribeContext) async throws -> Response {
        guard let ticket = context.text(of: "ticket"),
            let (subject, principal) = world.tickets.redeem(ticket, Self.purpose)
        else { throw AllianceError.unknownLink }
        let key = Transaction.Key(business: principal.business, id: TransactionID(subject))
        _ = try await explained { try await world.runtime.sessionAudio.expiry(of: key) }
        let body = ResponseBody { [audio = world.runtime.sessionAudio] writer in
            try await audio.encode(key) { try await writer.write($0) }
            try await writer.finish(nil)
        }
        var headers: HTTPFields = [.contentType: "audio/mpeg", .cacheControl: "no-store"]
        headers.sandboxLink(for: request.headers.value(of: .origin))
        return Response(status: .ok, headers: headers, body: body)
    }

    private func explained<Value>(_ work: () async throws -> Value) async throws -> Value {
        do {
            return try await work()
        } catch let absence as SessionAudio.Unavailable {
            switch absence {
            case .notEnabled: throw AllianceError.audioNotEnabled
            case .notAvailable: throw AllianceError.audioNotAvailable
            }
        }
    }
}
