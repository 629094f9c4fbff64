import Basics
import Foundation
import HTTPTypes
import Hummingbird
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// `/__admin/clock`: shows, sets, stops and advances the clock of a namespace.
struct ClockRoutes: Sendable {
    let world: World

    /// Most sleepers in an answer.
    private static let maxShown = 100
    /// Longest wait for the work of one step, unless the call says another.
    private static let defaultWait: Duration = .seconds(30)
    /// Times that a clock can have: some centuries around now, which every format of the APIs can write.
    private static let times = Date(timeIntervalSince1970: 0)...Date(timeIntervalSince1970: 7_258_118_400)

    static func add(to router: WorldRoutes<Self>) {
        router.get("clock", use: show)
        router.put("clock", use: set)
        router.post("clock/advance", use: advance)
    }

    private var clock: WorldClock { world.runtime.clock }

    @Sendable private func show(_ request: Request, _ context: ScribeContext) async throws -> Response {
        .json(.ok, json)
    }

    @Sendable private func set(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let body = try await request.fields(["mode", "now"], context: context)
        let time = try Self.time("now", body)
        try requirePermission()
        return try await ClockUse.alone(with: world) {
            switch body["mode"]?.stringValue {
            case "frozen": clock.freeze(at: time)
            case "moved":
                guard let time else { throw ScribeError.invalidRequest(field: "now", problem: "is missing") }
                clock.run(withMachine: true)
                clock.set(to: time)
            case "running":
                guard time == nil else { throw Self.noTime }
                clock.run(withMachine: false)
            case "system":
                guard time == nil else { throw Self.noTime }
                clock.run(withMachine: true)
            default:
                throw ScribeError.invalidRequest(field: "mode", problem: "must be frozen, moved, running or system")
            }
            return .json(.ok, json)
        }
    }

    private static let noTime = ScribeError.invalidRequest(field: "now", problem: "belongs to frozen and moved only")

    @Sendable private func advance(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let body = try await request.fields(["by", "to", "until", "timeout"], context: context)
        let target = try target(of: body)
        let limit = try body.duration("timeout", upTo: "600s") ?? Self.defaultWait
        try requirePermission()
        let outcome = try await ClockUse.alone(with: world) {
            try await ClockAdvance(world.runtime, atMost: limit).run(to: target)
        }
        let running = outcome.running
        return .json(
            .ok,
            json.adding([
                "steps": .integer(outcome.steps), "is_done": .bool(running.isEmpty),
                "running": [
                    "jobs": .integer(running.jobs), "deliveries": .integer(running.deliveries),
                    "sessions": .integer(running.sessions), "conversations": .integer(running.conversations),
                ],
            ]))
    }

    private func target(of body: JSONFields) throws(ScribeError) -> ClockAdvance.Target {
        guard ["by", "to", "until"].count(where: body.has) == 1 else {
            throw body.problem("by", "or 'to' or 'until' must be there, and one of them only")
        }
        if let until = body["until"] {
            guard until.stringValue == "idle" else { throw body.problem("until", "must be idle") }
            return .idle
        }
        if let time = try Self.time("to", body) {
            guard time >= clock.now else {
                throw body.problem("to", "is past; PUT /__admin/clock sets the clock back")
            }
            return .time(time)
        }
        let time = clock.now.addingTimeInterval((try body.duration("by") ?? .zero) / .seconds(1))
        guard Self.times.contains(time) else { throw body.problem("by", "leads beyond the year 2199") }
        return .time(time)
    }

    private static func time(_ name: String, _ body: JSONFields) throws(ScribeError) -> Date? {
        guard let value = body[name] else { return nil }
        guard let time = value.stringValue.flatMap(Date.init(iso8601:)), times.contains(time) else {
            throw body.problem(name, "must be a time from 1970 to 2199, such as 2030-01-01T00:00:00Z")
        }
        return time
    }

    private static func text(_ time: Date) -> String { time.iso8601Milliseconds }

    /// - Throws: ``NamespaceProblem/clockOfFolder``.
    private func requirePermission() throws {
        guard world.mayMoveClock else { throw NamespaceProblem.clockOfFolder }
    }

    private var json: JSON {
        let (now, offset, isFrozen) = (clock.now, clock.offset, clock.isFrozen)
        let sleepers = clock.sleepers
        let mode = isFrozen ? "frozen" : abs(offset) < 0.0005 ? "system" : "moved"
        let waiting = JSON.array(sleepers.prefix(Self.maxShown)) { sleeper in
            [
                "what": .string(sleeper.name.rawValue), "due": .string(Self.text(sleeper.due)),
                "advance": .string(ClockDuration.text(sleeper.due.timeIntervalSince(now))),
            ]
        }
        return [
            "namespace": .string(world.namespace?.rawValue ?? NamespaceName.ofDefaultWorld), "mode": .string(mode),
            "now": .string(Self.text(now)), "machine": .string(Self.text(clock.wall.now)), "waiting": waiting,
            "waiting_count": .integer(sleepers.count),
        ]
    }
}

/// Lets one call at a time move a clock.
final class ClockUse: Sendable {
    private let isBusy = LockedValue(false)

    /// - Throws: ``NamespaceProblem/busy`` while another call moves the clock of the world.
    static func alone<Value>(with world: World, _ work: () async throws -> Value) async throws -> Value {
        let isBusy = world.part { _ in ClockUse() }.isBusy
        let isFree = isBusy.withLock { isBusy in
            defer { isBusy = true }
            return !isBusy
        }
        guard isFree else { throw NamespaceProblem.busy }
        defer { isBusy.withLock { $0 = false } }
        return try await work()
    }
}
