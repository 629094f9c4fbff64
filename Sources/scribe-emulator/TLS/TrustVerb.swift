import ArgumentParser
import Certificates
import Foundation
import ScribeDomain
import ScribeRuntime
import ScribeServer

/// Which certificate a verb is about.
struct CertificateOptions: ParsableArguments {
    @Option(help: "The YAML file that the server is started with.")
    var config: String?

    @Option(help: ArgumentHelp("The folder that keeps this machine's authority.", valueName: "path"))
    var tlsDir: String?

    @Option(help: ArgumentHelp("Names for the certificate, as for serve.", valueName: "list"))
    var tlsName: String?

    /// The settings that a server would be started with here.
    func run() throws -> Setting.Run {
        var flags: [String: String] = [:]
        flags["tls-dir"] = tlsDir
        flags["tls-name"] = tlsName
        return try Settings.found(flags: flags, configFile: config)
    }

    func certificates() throws -> DevelopmentCertificates {
        try run().configuration.developmentCertificates(.random)
    }
}

struct Trust: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print this machine's authority, and how each kind of client comes to trust it."
    )

    @OptionGroup var options: CertificateOptions

    @Flag(help: "Print the authority's certificate, as PEM, and nothing else.")
    var pem = false

    @Option(
        name: .customLong("for"),
        help: "Print the steps for one kind of client alone, on a machine that fetches the authority from the server.")
    var client: TrustSteps.Client?

    func validate() throws {
        if pem, client != nil { throw ValidationError("--pem and --for exclude each other") }
    }

    func run() throws {
        if let client {
            let port = try options.run().configuration.port
            let url = "http://127.0.0.1:\(port)/ca.pem"
            print(TrustSteps(path: "scribe-ca.pem").text(for: client, fetchedFrom: url), terminator: "")
            return
        }
        let certificates = try options.certificates()
        let text: String
        do {
            text = try certificates.authorityPEM(at: WallClock.system.now)
        } catch let problem as CertificateProblem {
            StandardError.write("scribe-emulator: \(problem)")
            throw ExitCode.failure
        }
        print(pem ? text : TrustSteps(path: certificates.authorityPath).text, terminator: "")
    }
}
