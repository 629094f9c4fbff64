import ArgumentParser
import Basics
import Foundation
import ScribeServer

struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Send a spoken visit, and print its transcript and its note.",
        discussion: """
            Asks the running server. Without one, or with a setting of serve, it starts a server of its own, which keeps \
            nothing.
              scribe-emulator demo
              scribe-emulator demo --transcriber openai:http://127.0.0.1:9000/v1
            """
    )

    @Option(help: "The base URL of the running server.")
    var url: String?

    @OptionGroup var flags: SettingFlags

    /// Flags of the server that also find a running one.
    private static let ofRunningServer: Set<String> = ["ready-file"]

    func validate() throws {
        guard url != nil, let name = flags.given.keys.sorted().first(where: { !Self.ofRunningServer.contains($0) })
        else { return }
        throw ValidationError("--url names a running server; leave out --\(name)")
    }

    func run() async throws {
        var target = TargetOptions()
        (target.url, target.readyFile, target.config) = (url, flags.given["ready-file"], flags.config)
        let mayAsk = Set(flags.given.keys).isSubset(of: Self.ofRunningServer)
        if mayAsk, let place = try target.place() {
            let demo = DemoConsultation(baseURL: place.url, client: try Self.client())
            do {
                try await told { try await demo.run() }
                return print("\nMore at \(place.server)/__console")
            } catch DemoConsultation.Problem.unreachable where url == nil && !place.isOfVariable {
                print("no server runs at \(place.url): this one is the demo's own\n")
            } catch let problem as DemoConsultation.Problem {
                throw ExitCode.explained("\(problem)", as: .notReachable)
            }
        }
        let code = try await OwnServer(flags).run { banner, _ in
            try await told { try await DemoConsultation(baseURL: banner.baseURL, client: Self.client()).run() }
            return 0
        }
        if code != 0 { throw ExitCode(code) }
    }

    /// Writes why the demo failed to standard error.
    private func told(_ work: () async throws -> Void) async throws {
        do {
            try await work()
        } catch let problem as DemoConsultation.Problem {
            if case .unreachable = problem { throw problem }
            throw ExitCode.explained("\(problem)")
        }
    }

    /// The client that logs in: that of `SCRIBE_CLIENT_ID`, as in a command of exec, or the demo's.
    private static func client() throws -> (id: String, secret: String) {
        let environment = Invocation.current.environment
        if let id = environment["SCRIBE_CLIENT_ID"], let secret = environment["SCRIBE_CLIENT_SECRET"] {
            return (id, secret)
        }
        let demo = try DemoCredentials.first()
        return (demo.clientID, demo.clientSecret)
    }
}
