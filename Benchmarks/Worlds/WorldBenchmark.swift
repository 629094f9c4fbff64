import Foundation
import Logging
import ScribeDomain
import ScribeRuntime
import ScribeServer

/// Measures what throw-away worlds cost: how long one takes to make and to close, and what an idle one holds.
@main
enum WorldBenchmark {
    private static let idleWorlds = 200
    private static let rounds = 1000

    static func main() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("worlds-\(getpid())").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var configuration = Configuration()
        configuration.port = 0
        configuration.dataFolder = folder
        let logger = Logger(label: "worlds") { _ in SwiftLogNoOpLogHandler() }
        let (emulator, _) = try await open(
            configuration, .init(clock: .system, identifiers: .random, logger: logger))

        let (making, closing) = try await times(emulator)
        print("| what | p50 | p99 | goal for p99 | met |\n|---|---|---|---|---|")
        row("making a world", making)
        row("closing a world", closing)

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

    private static func row(_ what: String, _ times: [Duration]) {
        func milliseconds(_ share: Double) -> Double { times[Int(Double(times.count) * share)] / .milliseconds(1) }
        let p99 = milliseconds(0.99)
        print(
            String(
                format: "| %@ | %.2f ms | %.2f ms | 5 ms | %@ |", what, milliseconds(0.5), p99, p99 < 5 ? "yes" : "no"))
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
