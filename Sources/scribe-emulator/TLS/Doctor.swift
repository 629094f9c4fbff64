import ArgumentParser
import Certificates
import Engines
import Foundation
import ScribeDomain
import ScribeRuntime
import ScribeServer

struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Find out what stands between an SDK and the server, and say what to do; exit code 0 says: nothing.",
        discussion: "Without --sdk it looks at the server, its certificate, its clock and whom it lets in."
    )

    @OptionGroup var control: ControlOptions

    @Option(help: ArgumentHelp("The folder that keeps this machine's authority.", valueName: "path"))
    var tlsDir: String?

    @Option(help: "Which SDK: \(SDK.allCases.map(\.rawValue).joined(separator: ", ")).")
    var sdk: SDK?

    @Option(help: ArgumentHelp("The port on which the SDK asks.", valueName: "port"))
    var port = 443

    func run() async throws {
        var flags: [String: String] = [:]
        flags["tls-dir"] = tlsDir
        flags["ready-file"] = control.target.readyFile
        let run = try Settings.found(flags: flags, configFile: control.target.config)
        let ready = run.readyFile.flatMap { ReadyFile(path: $0).read() }
        guard let baseURL = try control.target.baseURL() else { throw ValidationError("the server is not ready yet") }
        let tlsPort =
            ready?.tls_url.flatMap { URL(string: $0)?.port } ?? (ready == nil ? run.configuration.tls.port : nil)
        var examination = Examination(
            baseURL: baseURL, tlsPort: tlsPort, sdkPort: port,
            authority: run.configuration.tls.certificate == nil
                ? run.configuration.developmentCertificates(.random).authorityPath : nil,
            sdk: sdk, environment: ProcessInfo.processInfo.environment, clock: .system)
        try await examination.look(asking: control.client())
        print(examination.findings.map(\.line).joined(separator: "\n"))
        if examination.findings.contains(where: { $0.isProblem }) { throw ExitCode.failure }
    }
}
