import Basics

/// Queue of this process's writes, by scope: two writes of one scope take a connection at a time.
///
/// PostgreSQL lets one of them work. The other one has its connection ready, and more would only wait there: one
/// transaction or business would occupy all connections of the process.
final class ScopeQueue: Sendable {
    private static let width = 2

    private struct Line {
        var running = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let lines = LockedValue<[WriteScope: Line]>([:])

    /// Runs `body` when it is its turn in each of its scopes.
    func run<Value: Sendable>(in scopes: [WriteScope], _ body: () async throws -> Value) async throws -> Value {
        // One order for all writes, so that no two wait for each other.
        let names = Set(scopes).subtracting([.none])
        // Hardly a write has two. The text of a scope takes longer than the rest.
        let ordered = names.count < 2 ? Array(names) : names.sorted { "\($0)" < "\($1)" }
        for scope in ordered { await enter(scope) }
        defer { for scope in ordered { leave(scope) } }
        return try await body()
    }

    private func enter(_ scope: WriteScope) async {
        await withCheckedContinuation { continuation in
            let isFree = lines.withLock { lines in
                if lines[scope, default: Line()].running < Self.width {
                    lines[scope, default: Line()].running += 1
                    return true
                }
                lines[scope, default: Line()].waiting.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    private func leave(_ scope: WriteScope) {
        let next = lines.withLock { lines -> CheckedContinuation<Void, Never>? in
            guard var line = lines[scope] else { return nil }
            guard line.waiting.isEmpty else {
                let next = line.waiting.removeFirst()
                lines[scope] = line
                return next
            }
            line.running -= 1
            lines[scope] = line.running == 0 ? nil : line
            return nil
        }
        next?.resume()
    }
}
