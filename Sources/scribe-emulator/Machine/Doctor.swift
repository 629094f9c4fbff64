import ArgumentParser
import Certificates
import Engines
import Foundation
import ScribeRuntime
import ScribeServer

struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract:
            "Find out why an SDK cannot reach the server, and what to do. Exits 0 if no problem was found, else 1.",
        discussion: """
            Without --sdk it checks the server, its certificate, its clock and its authentication, and warns of SDKs' hosts \
            that lead to other servers. An SDK that takes a base URL (dotnet, deepgram) needs no TLS: add --base-url, \
            which is the default if the server has no TLS.
            """
    )

    @OptionGroup var control: ControlOptions

    @Option(
        help: ArgumentHelp("The folder of this machine's certificate authority.", valueName: "path"),
        transform: Setting.path)
    var tlsDir: String?

    @Option(help: "The SDK to check: \(SDK.allCases.map(\.rawValue).joined(separator: ", ")).")
    var sdk: SDK?

    @Option(help: ArgumentHelp("The port that the SDK uses.", valueName: "port"))
    var port = 443

    @Flag(
        name: .customLong("base-url"),
        help: "You give the SDK the server's base URL, so check neither TLS nor hosts: dotnet and deepgram.")
    var givesBaseURL = false

    func validate() throws {
        guard (1...65535).contains(port) else {
            throw ValidationError("--port: '\(port)' is not a number from 1 to 65535")
        }
        guard givesBaseURL, sdk?.baseURLStep("") == nil else { return }
        let takers = SDK.allCases.filter { $0.baseURLStep("") != nil }.map(\.rawValue).joined(separator: ", ")
        throw ValidationError(
            "--base-url goes with --sdk and one of \(takers)"
                + (sdk.map { "; \($0.rawValue) has its hosts compiled in" } ?? ""))
    }

    func run() async throws {
        var flags: [String: String] = [:]
        flags["tls-dir"] = tlsDir
        flags["ready-file"] = control.target.readyFile
        let run = try Settings.found(flags: flags, configFile: control.target.config)
        let ready = run.readyFile.flatMap { ReadyFile(path: $0).read() }
        let place = try control.target.readyPlace()
        let tlsPort =
            ready?.tls_url.flatMap { URL(string: $0)?.port } ?? (ready == nil ? run.configuration.tls.port : nil)
        var examination = DoctorChecks(
            baseURL: place.server, clientURL: place.url, tlsPort: tlsPort, sdkPort: port,
            authority: run.configuration.tls.certificate == nil
                ? run.configuration.developmentCertificates(.random).authorityPath : nil,
            sdk: sdk, givesBaseURL: givesBaseURL, environment: Invocation.current.environment, clock: .system)
        try await examination.look(asking: control.client())
        print(examination.findings.map(\.line).joined(separator: "\n"))
        if examination.findings.contains(where: { $0.isProblem }) { throw ExitCode.failure }
    }
}
