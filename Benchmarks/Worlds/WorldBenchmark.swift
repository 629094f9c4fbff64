import Foundation
import Logging
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeServer

/// Measures what throw-away worlds cost: how long one takes to make and to close, and what an idle one holds. Measures
/// resets, in memory and in a data folder.
@main
enum WorldBenchmark {
    private static let idleWorlds = 200
    private static let rounds = 1000

    /// Opens a server without ports in a folder of its own.
    private static func opened(
        _ name: String, _ change: (inout Configuration) -> Void = { _ in }
    ) async throws -> (emulator: Emulator, directory: WorldDirectory, folder: String) {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("worlds-\(getpid())-\(name)").path
        var configuration = Configuration()
        configuration.port = 0
        configuration.dataFolder = folder
        change(&configuration)
        let logger = Logger(label: "worlds") { _ in SwiftLogNoOpLogHandler() }
        let (emulator, directory, _) = try await open(
            configuration, .init(clock: .system, identifiers: .random, logger: logger))
        return (emulator, directory, folder)
    }

    static func main() async throws {
        let (emulator, _, folder) = try await opened("idle")
        defer { try? FileManager.default.removeItem(atPath: folder) }

        let (making, closing) = try await times(emulator)
        print("| what | p50 | p99 | goal for p99 | met |\n|---|---|---|---|---|")
        row("making a world", making, goal: 5)
        row("closing a world", closing, goal: 5)
        row("reset in memory", try await resets("memory", rounds: 300, pause: .zero) { $0.isEphemeral = true }, goal: 5)
        row("reset on disk", try await resets("disk", rounds: 300) { $0.allowsReset = true }, goal: 20)
        row(
            "reset on disk, one after the other",
            try await resets("again", rounds: 100, pause: .zero) { $0.allowsReset = true }, goal: 20)
        row("advancing an empty world by 365 days", try await advances(emulator), goal: 50)

        let before = (memory: kilobytes("VmRSS"), threads: number("Threads"), descriptors: descriptors)
        var worlds: [RunningWorld] = []
        for _ in 0..<idleWorlds { worlds.append(try await emulator.temporaryWorld()) }
        try await Task.sleep(for: .seconds(2))
        let each = (kilobytes("VmRSS") - before.memory) / idleWorlds
        print("\n| an idle world holds | measured | goal | met |\n|---|---|---|---|")
        print("| memory | \(each) KB | 1,024 KB | \(each <= 1024 ? "yes" : "no") |")
        let threads = number("Threads") - before.threads
        print("| threads, of \(idleWorlds) together | \(threads) | 0 | \(threads <= 0 ? "yes" : "no") |")
        let opened = descriptors - before.descriptors
        print("| descriptors, of \(idleWorlds) together | \(opened) | 0 | \(opened <= 0 ? "yes" : "no") |")
        for world in worlds { await world.close() }
    }

    /// Resets the default world, as a test suite does between two tests.
    private static func resets(
        _ name: String, rounds: Int, pause: Duration = .milliseconds(50), _ change: (inout Configuration) -> Void
    ) async throws -> [Duration] {
        let (_, directory, folder) = try await opened(name, change)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let clock = ContinuousClock()
        var times: [Duration] = []
        for round in -5..<rounds {
            try await Task.sleep(for: pause)
            let start = clock.now
            _ = try await directory.control?.reset(nil)
            if round >= 0 { times.append(clock.now - start) }
        }
        return times.sorted()
    }

    /// Advances the clock of a world without rows by a year, again and again.
    private static func advances(_ emulator: Emulator) async throws -> [Duration] {
        let world = try await emulator.temporaryWorld()
        let clock = ContinuousClock()
        var times: [Duration] = []
        for _ in 0..<100 {
            let runtime = world.world.runtime
            let start = clock.now
            let end = runtime.clock.now.addingTimeInterval(365 * 86_400)
            _ = try await ClockAdvance(runtime, atMost: .seconds(30)).run(to: .time(end))
            times.append(clock.now - start)
        }
        await world.close()
        return times.sorted()
    }

    /// Makes and closes one after the other, the first ones unmeasured.
    private static func times(_ emulator: Emulator) async throws -> (making: [Duration], closing: [Duration]) {
        let clock = ContinuousClock()
        var (making, closing): ([Duration], [Duration]) = ([], [])
        for round in -20..<rounds {
            let start = clock.now
            let world = try await emulator.temporaryWorld()
            let made = clock.now
            await world.close()
            guard round >= 0 else { continue }
            making.append(made - start)
            closing.append(clock.now - made)
        }
        return (making.sorted(), closing.sorted())
    }

    private static func row(_ what: String, _ times: [Duration], goal: Double) {
        func milliseconds(_ share: Double) -> Double { times[Int(Double(times.count) * share)] / .milliseconds(1) }
        let p99 = milliseconds(0.99)
        print(
            String(
                format: "| %@ | %.2f ms | %.2f ms | %.0f ms | %@ |", what, milliseconds(0.5), p99, goal,
                p99 < goal ? "yes" : "no"))
    }

    /// A line of `/proc/self/status`.
    private static func number(_ name: String) -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("\(name):") } ?? ""
        return line.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) } ?? 0
    }

    private static func kilobytes(_ name: String) -> Int { number(name) }

    private static var descriptors: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
    }
}
