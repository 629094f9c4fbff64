import ArgumentParser
import Basics
import Certificates
import Foundation
import ScribeDomain
import ScribeRuntime
import ScribeServer

/// Flags that select the development authority and its certificate.
struct CertificateOptions: ParsableArguments {
    @Option(help: "The YAML file with the server's settings.", transform: Setting.path)
    var config: String?

    @Option(
        help: ArgumentHelp("The folder of this machine's certificate authority.", valueName: "path"),
        transform: Setting.path)
    var tlsDir: String?

    @Option(help: ArgumentHelp("Further names in the certificate, as for serve.", valueName: "list"))
    var tlsName: String?

    /// The settings that `serve` would use here.
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
        commandName: "trust",
        abstract: "Print the steps by which each kind of client trusts this machine's certificate authority."
    )

    @OptionGroup var options: CertificateOptions

    @Flag(help: "Print only the authority's certificate, as PEM.")
    var pem = false

    @Option(
        name: .customLong("for"),
        help: "Print only the steps for one kind of client, on a machine that downloads the authority from the server.")
    var client: TrustSteps.Client?

    func validate() throws {
        if pem, client != nil { throw ValidationError("--pem and --for cannot be used together; leave one out") }
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
            throw ExitCode.explained("\(problem)")
        }
        print(pem ? text : TrustSteps(path: certificates.authorityPath).text, terminator: "")
    }
}
