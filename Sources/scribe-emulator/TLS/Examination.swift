import ArgumentParser
import Certificates
import Engines
import Foundation
import ScribeDomain
import ScribeRuntime
import ScribeServer

/// What is looked at, in the order in which one thing needs the other, and what was found.
struct Examination {
    /// Something that is well, something that is not, or something that cannot be seen from here.
    enum Finding {
        case well(String)
        case problem(String, advice: String)
        case unseen(String)

        var isProblem: Bool { if case .problem = self { true } else { false } }

        var line: String {
            switch self {
            case .well(let what): "ok       \(what)"
            case .problem(let what, let advice): "PROBLEM  \(what)\n         -> \(advice)"
            case .unseen(let what): "?        \(what)"
            }
        }
    }

    let baseURL: String
    /// Where TLS is looked for: what the ready file or the settings say, then what the server itself says.
    private(set) var tlsPort: Int?
    let sdkPort: Int
    let authority: String?
    let sdk: SDK?
    /// Whether the SDK is given the server's address, rather than led here from its own host.
    let givesBaseURL: Bool
    let environment: [String: String]
    let clock: WallClock
    private(set) var findings: [Finding] = []

    init(
        baseURL: String, tlsPort: Int?, sdkPort: Int, authority: String?, sdk: SDK?, givesBaseURL: Bool,
        environment: [String: String], clock: WallClock
    ) {
        self.baseURL = baseURL
        self.tlsPort = tlsPort
        self.sdkPort = sdkPort
        self.authority = authority
        self.sdk = sdk
        self.givesBaseURL = givesBaseURL
        self.environment = environment
        self.clock = clock
    }

    mutating func look(asking control: ControlClient) async throws {
        guard await lookAtServer() else { return }
        await lookAtAuthentication(control)
        if let step = sdk?.baseURLStep(baseURL), givesBaseURL || tlsPort == nil {
            return findings.append(.well("no TLS and no hosts are needed: \(step)"))
        }
        guard await lookAtTLS() else { return }
        guard let sdk else { return await lookAtSystemTrust("https://localhost:\(tlsPort ?? 443)/readyz") }
        lookAtNames(of: sdk)
        guard !sdk.isElsewhere else { return await lookAtTrust(of: sdk) }
        var isReached = true
        for host in [sdk.hosts[0]] + sdk.bucketHosts.suffix(1) where isReached {
            isReached = await lookAtPort(of: host)
        }
        if isReached { await lookAtTrust(of: sdk) }
    }

    private mutating func lookAtServer() async -> Bool {
        switch await Probe.ask("\(baseURL)/readyz", trusting: nil) {
        case .answered(200, let server, let date) where server.hasPrefix("scribe-emulator"):
            findings.append(.well("\(server) answers at \(baseURL)"))
            lookAtClock(date)
            return true
        case .answered(503, let server, _) where server.hasPrefix("scribe-emulator"):
            findings.append(
                .problem("the server at \(baseURL) is not ready", advice: "curl \(baseURL)/readyz says why"))
        case .answered(_, let server, _):
            findings.append(
                .problem(
                    "another server answers at \(baseURL)" + (server.isEmpty ? "" : " (\(server))"),
                    advice: "start ours on a port of its own, --port, and name it here with --url"))
        case .untrusted, .refused:
            findings.append(
                .problem(
                    "no server answers at \(baseURL)",
                    advice: "scribe-emulator serve --tls; if it runs elsewhere: --url http://HOST:PORT"))
        }
        return false
    }

    private mutating func lookAtClock(_ date: Date?) {
        guard let date else { return }
        let seconds = Int(abs(date.timeIntervalSince(clock.now)))
        findings.append(
            seconds < 300
                ? .well("the clocks agree")
                : .problem(
                    "this machine's clock and the server's are \(seconds) s apart; signatures of S3 are good for 900",
                    advice: "set both by NTP"))
    }

    private mutating func lookAtAuthentication(_ control: ControlClient) async {
        let data: Data
        do {
            data = try await control.answer("GET", "info")
        } catch {
            let reason = (error as? ControlClient.Refusal)?.reason ?? "its answer is not understood"
            return findings.append(.unseen("whom it lets in: \(reason)"))
        }
        guard let info: ServerInfo = try? ControlClient.decoded(data), let mode = info.settings["auth"] else {
            return findings.append(.unseen("whom it lets in: its answer is not understood"))
        }
        switch mode {
        case "strict":
            findings.append(
                .well("authentication is strict: only tokens of this server, of clients in its clients.yaml"))
        default: findings.append(.well("authentication is \(mode): any token will do, from this machine"))
        }
        // An earlier version may not say its port.
        if info.tlsPort != nil || info.knowsDemoClient != nil { tlsPort = info.tlsPort }
    }

    private mutating func lookAtTLS() async -> Bool {
        guard var tlsPort else {
            findings.append(
                .problem("the server listens for plain HTTP only", advice: "scribe-emulator serve --tls"))
            return false
        }
        if let authority, !FileManager.default.fileExists(atPath: authority) {
            findings.append(
                .problem(
                    "there is no authority in \(authority)",
                    advice: "name the server's folder with --tls-dir, or fetch it from there: curl \(baseURL)/ca.pem"))
            return false
        }
        if tlsPort != 443, case .refused = await Probe.ask(url(tlsPort), trusting: authority, at: serverAddress),
            case .answered(_, let server, _) = await Probe.ask(url(443), trusting: authority, at: serverAddress),
            server.hasPrefix("scribe-emulator")
        {
            // A server that does not say its port, started as `hosts` advises.
            tlsPort = 443
            self.tlsPort = 443
        }
        let port = tlsPort
        return await look(
            at: url(port), port: port,
            well: "TLS is spoken on port \(port), with a certificate that \(issuer) vouches for",
            adviceOnAnother: "--tls-port for ours",
            untrusted: .problem(
                "the certificate on port \(port) is not of \(issuer)",
                advice: authority == nil
                    ? "have it signed by somebody whom this machine trusts"
                    : "restart the server, or name its folder here with --tls-dir"),
            refused: { reason in
                .problem("nobody speaks TLS on port \(port): \(reason)", advice: "scribe-emulator serve --tls")
            })
    }

    /// Asks a URL over TLS and notes what answers on its port.
    /// - Parameters:
    ///   - well: The finding when this server answers.
    ///   - adviceOnAnother: What to do when another server answers.
    ///   - untrusted: The finding for a certificate that the authority did not sign.
    ///   - refused: The finding for no answer, by the reason.
    /// - Returns: Whether this server answers.
    private mutating func look(
        at url: String, port: Int, well: String, adviceOnAnother: String, untrusted: Finding,
        refused: (String) -> Finding
    ) async -> Bool {
        switch await Probe.ask(url, trusting: authority, at: serverAddress) {
        case .answered(_, let server, _) where server.hasPrefix("scribe-emulator"):
            findings.append(.well(well))
            return true
        case .answered(_, let server, _):
            findings.append(
                .problem("another server (\(server)) answers on port \(port)", advice: adviceOnAnother))
        case .untrusted: findings.append(untrusted)
        case .refused(let reason): findings.append(refused(reason))
        }
        return false
    }

    private func url(_ port: Int) -> String { "https://localhost:\(port)/readyz" }

    private var issuer: String {
        authority == nil ? "an authority that this machine trusts" : "this machine's authority"
    }

    /// Where the server is, as the plain port is reached.
    private var serverAddress: String? {
        URL(string: baseURL)?.host().map { $0.trimmingCharacters(in: ["[", "]"]) }.flatMap { host in
            if case .address? = CertificateName(host) { host } else { Probe.addresses(of: host).first }
        }
    }

    private mutating func lookAtSystemTrust(_ url: String) async {
        guard authority != nil else { return }
        if case .answered = await Probe.ask(url, trusting: nil, at: serverAddress) {
            findings.append(.well("this machine trusts the authority"))
        } else {
            findings.append(
                .unseen("this machine does not trust the authority; `scribe-emulator trust` says how each client may"))
        }
    }

    private mutating func lookAtNames(of sdk: SDK) {
        guard !sdk.isElsewhere else {
            findings.append(
                .unseen("where \(sdk.hosts[0]) leads there; `scribe-emulator trust` says how to lead it here"))
            return
        }
        let own = Set([serverAddress].compactMap(\.self))
        let astray = sdk.hosts.filter { host in
            let addresses = Probe.addresses(of: host)
            return addresses.isEmpty || !addresses.allSatisfy { own.contains($0) }
        }
        guard let first = astray.first else {
            findings.append(.well("\(sdk.hosts.joined(separator: ", ")) lead here"))
            return
        }
        let real = sdk.bucketHosts.filter { Probe.addresses(of: $0).contains(where: OutboundRules.isPublic) }
        if let bucket = real.first {
            findings.append(
                .problem(
                    "\(bucket) leads to the real S3: that is where the SDK would send what it records",
                    advice: "do not record before it leads here"))
        }
        let where_ = Probe.addresses(of: first).first ?? "nowhere"
        findings.append(
            .problem(
                "\(astray.joined(separator: ", ")) do not lead here (\(first) leads to \(where_))",
                advice: HostsFile.writeStep
                    + (serverAddress.map { $0 == "127.0.0.1" ? "" : " --address \($0)" } ?? "")))
    }

    private mutating func lookAtPort(of host: String) async -> Bool {
        let path = AudioLocation.bucket(ofVirtualHost: host) == nil ? "/readyz" : "/"
        let url = "https://\(host)\(sdkPort == 443 ? "" : ":\(sdkPort)")\(path)"
        let port = sdkPort
        return await look(
            at: url, port: port, well: "port \(port), on which the SDK asks \(host), leads to the server",
            adviceOnAnother: "end it, then look again",
            untrusted: .problem(
                "what answers on port \(port) shows a certificate that is not for \(host)",
                advice: "is it another server, or ours with another --tls-dir?"),
            refused: { reason in
                .problem(
                    "port \(port), on which the SDK asks, does not lead to the server: \(reason)",
                    advice: "`scribe-emulator hosts` says how it will")
            })
    }

    private mutating func lookAtTrust(of sdk: SDK) async {
        let url = "https://\(sdk.hosts[0])\(sdkPort == 443 ? "" : ":\(sdkPort)")/readyz"
        switch sdk.trust {
        case .unseen(let place):
            findings.append(
                .unseen("whether the authority is trusted \(place); `scribe-emulator trust` says how it will be"))
        case .file(let names, let orSystem):
            if orSystem || authority == nil, case .answered = await Probe.ask(url, trusting: nil, at: serverAddress) {
                return findings.append(.well("this machine trusts the certificate"))
            }
            guard let authority else {
                return findings.append(
                    .problem(
                        "this machine does not trust the certificate",
                        advice: "have it signed by somebody whom it trusts"))
            }
            let set = names.first { environment[$0].map { !$0.isEmpty } ?? false }
            if let set, let file = environment[set],
                case .answered = await Probe.ask(url, trusting: file, at: serverAddress)
            {
                findings.append(.well("\(set) names a file with the authority"))
            } else {
                findings.append(
                    .problem(
                        set.map { "\($0) is set to a file without the authority" } ?? "\(names[0]) is not set",
                        advice: "export \(names[0])=\(authority)"))
            }
        }
    }
}
