import ArgumentParser
import Basics
import ScribeDomain

struct ClockCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clock",
        abstract: "Show, set and advance the clock of a running server or of a namespace.",
        discussion: """
            By this clock sessions, conversations, jobs and webhooks are due. Tokens and signatures use the machine's.
            """,
        subcommands: [ShowClock.self, SetClock.self, FreezeClock.self, AdvanceClock.self])
}

/// Clock in an answer of the server.
private struct ShownClock: Decodable {
    struct Sleeper: Decodable {
        let what: String
        let due: String
        let advance: String
    }

    let mode: String
    let now: String
    let waiting: [Sleeper]
    let isDone: Bool?
    let running: [String: Int]?
}

extension OperatorOptions<WorldClock> {
    /// Sends a call and prints the clock of its answer.
    /// - Throws: `ExitCode` for a clock that has still something to do.
    fileprivate func show(_ method: String, _ path: String, _ body: JSON? = nil) async throws {
        let client = try client()
        let data = try await client.data(method, path, body)
        let clock: ShownClock = try client.read(data)
        if json {
            print(String(decoding: data, as: UTF8.self))
        } else {
            print("\(clock.now)  \(clock.mode)")
            for sleeper in clock.waiting {
                print("waiting  \(sleeper.what)  due \(sleeper.due)  clock advance \(sleeper.advance)")
            }
        }
        guard clock.isDone == false else { return }
        let running = (clock.running ?? [:]).filter { $0.value > 0 }.sorted { $0.key < $1.key }
        let what = running.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        throw ExitCode.explained("the clock stopped, for this still runs: \(what)")
    }
}

struct ShowClock: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Print the time, and what waits for it.")

    @OptionGroup var options: OperatorOptions<WorldClock>

    func run() async throws { try await options.show("GET", "clock") }
}

struct SetClock: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Set the clock to a time, from which it runs on; or back to the machine's.")

    @OptionGroup var options: OperatorOptions<WorldClock>

    @Argument(help: "A time such as 2030-01-01T00:00:00Z; system for the machine's; running to release a frozen clock.")
    var time: String

    func run() async throws {
        let body: JSON =
            ["system", "running"].contains(time)
            ? ["mode": .string(time)] : ["mode": "moved", "now": .string(time)]
        try await options.show("PUT", "clock", body)
    }
}

struct FreezeClock: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "freeze", abstract: "Stop the clock.")

    @OptionGroup var options: OperatorOptions<WorldClock>

    @Argument(help: "The time to stop at; by default the present one.")
    var time: String?

    func run() async throws {
        try await options.show("PUT", "clock", ["mode": "frozen", "now": time.map(JSON.string)])
    }
}

struct AdvanceClock: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "advance",
        abstract: "Move the clock forward, and return when everything that became due is done.")

    @OptionGroup var options: OperatorOptions<WorldClock>

    @Argument(help: "A duration such as 90s, 1h or 30d; idle until nothing is due.")
    var duration: String

    @Option(help: "How long to wait at most for what became due, by the machine's clock.")
    var timeout: String?

    func run() async throws {
        let target: (String, JSON) = duration == "idle" ? ("until", "idle") : ("by", .string(duration))
        try await options.show(
            "POST", "clock/advance", .object([target] + (timeout.map { [("timeout", .string($0))] } ?? [])))
    }
}
