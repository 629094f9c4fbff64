import Basics
import Foundation
import Hummingbird
import NIOCore
import ScribeDomain
import ScribeHTTP

/// `/__admin/playbacks`: recordings that the next sockets of their routes get.
struct PlaybackRoutes: Sendable {
    let world: World

    static func add(to router: WorldRoutes<Self>) {
        router.get("playbacks", use: list)
        router.post("playbacks", use: add)
        router.delete("playbacks", use: removeAll)
        router.delete("playbacks/{id}", use: remove)
    }

    @Sendable private func list(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let all = world.playbacks.all
        return try await .longJSON(
            .ok, ["playbacks": .array(all) { $0.json }, "max": .integer(Playbacks.limit)])
    }

    @Sendable private func add(_ request: Request, _ context: ScribeContext) async throws -> Response {
        var members = Dictionary(
            request.query.filter { $0.key != "namespace" }.map { (String($0.key), JSONValue.string(String($0.value))) },
            uniquingKeysWith: { first, _ in first })
        let isFast = try JournalRoutes.flag("fast", &members)
        let mustMatch = try JournalRoutes.flag("match", &members)
        var times = 1
        if let text = members.removeValue(forKey: "times")?.stringValue {
            guard let number = Int(text), (1...1_000_000).contains(number) else {
                throw ScribeError.invalidRequest(field: "times", problem: "must be a whole number from 1 to 1000000")
            }
            times = number
        }
        if let unknown = members.keys.sorted().first {
            let near = nearestName(to: String(unknown.prefix(64)), among: ["fast", "match", "times"])
            throw ScribeError.invalidRequest(field: near, problem: "is the nearest known name; another is not known")
        }
        let recording = try await request.collectedBody(upTo: SocketRecording.sizeLimit, in: context)
            .read { try SocketRecording(Data($0.readableBytesView)) }
        let index = OperationIndex.documented
        if let operation = recording.operation, index[operation] == nil {
            let near = nearestName(to: String(operation.prefix(64)), among: index.ids)
            throw ScribeError.invalidRequest(
                field: "line 1", problem: "has an unknown operation; the nearest is \(near)")
        }
        let playback = try world.playbacks.add(recording, isFast: isFast, mustMatch: mustMatch, times: times)
        return .json(.created, playback.json)
    }

    @Sendable private func removeAll(_ request: Request, _ context: ScribeContext) async throws -> Response {
        world.playbacks.removeAll()
        return Response(status: .noContent)
    }

    @Sendable private func remove(_ request: Request, _ context: ScribeContext) async throws -> Response {
        guard world.playbacks.remove(try context.parameters.require("id")) else {
            throw ControlError.notFound("such playback")
        }
        return Response(status: .noContent)
    }
}

extension Playbacks.Playback {
    fileprivate var json: JSON {
        [
            "id": .string(id), "operation": recording.operation.map(JSON.string), "path": .string(recording.path),
            "frames": .integer(recording.frames.count), "fast": .bool(isFast), "match": .bool(mustMatch),
            "left": .integer(left), "played": .integer(played),
        ]
    }
}
