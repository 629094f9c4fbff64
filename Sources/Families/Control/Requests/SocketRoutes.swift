import Basics
import Connections
import Foundation
import Hummingbird
import ScribeDomain
import ScribeHTTP

/// `/__admin/sockets`: lists and closes the open sockets of a namespace.
struct SocketRoutes: Sendable {
    let world: World

    private static let longestReason = 123
    private static let usualCode = 1001

    static func add(to router: WorldRoutes<Self>) {
        router.get("sockets", use: list)
        router.post("sockets/{id}/close", use: close)
    }

    @Sendable private func list(_ request: Request, _ context: ScribeContext) async throws -> Response {
        try await .longJSON(.ok, ["sockets": .array(world.openSockets.all) { $0.json }])
    }

    @Sendable private func close(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let body = try await request.fields(["code", "reason", "reset"], context: context)
        let code = try body.integer("code", from: 1000, to: 4999)
        let reason = try body.text("reason", upTo: Self.longestReason)
        let resets = try body.flag("reset")
        if resets, code != nil || reason != nil {
            throw body.problem("reset", "excludes 'code' and 'reason': the client gets no close frame")
        }
        guard WebSocketClosure.isSendable(UInt16(code ?? Self.usualCode)) else {
            throw body.problem("code", "is none that a server sends; some are 1001, 1011 and 4000 to 4999")
        }
        guard let number = Int(try context.parameters.require("id")), let socket = world.openSockets[number] else {
            throw ControlError.notFound("such open socket")
        }
        let json = socket.json
        if resets {
            await socket.reset()
        } else {
            socket.close(WebSocketClosure(UInt16(code ?? Self.usualCode), reason ?? ""))
        }
        return .json(.ok, json)
    }
}

extension OpenSocket {
    fileprivate var json: JSON {
        let (principal, counts) = (principal, counts)
        return [
            "id": .integer(number), "path": .string(path), "operation": operation.map(JSON.string),
            "business": (principal?.business.rawValue).map(JSON.string),
            "client": (principal?.client.rawValue).map(JSON.string),
            "opened_at": .string(openedAt.iso8601Milliseconds), "sent": .integer(counts.sent),
            "received": .integer(counts.received), "fault": rule.map(JSON.string),
            "request_id": .string(requestID),
        ]
    }
}
