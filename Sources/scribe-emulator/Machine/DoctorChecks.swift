import Basics
import Certificates
import Engines
import Foundation
import NIOCore
import Outbound
import ScribeDomain

/// Checks of `doctor`, each after those that it depends on, and their findings.
struct DoctorChecks {
    /// Result of one check.
    enum Finding {
        case well(String)
        case problem(String, advice: String)
        /// A risk that the SDK's own settings do not cause.
        case warning(String, advice: String)
        /// The check is impossible on this machine, as for trust on a phone.
        case unseen(String)

        var isProblem: Bool { if case .problem = self { true } else { false } }

        var line: String {
            switch self {
            case .well(let what): "ok       \(what)"
            case .problem(let what, let advice): "PROBLEM  \(what)\n         -> \(advice)"
            case .warning(let what, let advice): "WARNING  \(what)\n         -> \(advice)"
            case .unseen(let what): "?        \(what)"
            }
        }
    }

    let baseURL: String
    /// The base URL for SDKs: with the namespace, if there is one.
    let clientURL: String
    /// The port for TLS: of the ready file or the settings, until the server itself has told it.
    private(set) var tlsPort: Int?
    let sdkPort: Int
    let authority: String?
    let sdk: SDK?
    /// Whether the SDK takes the server's base URL. Otherwise its own hosts must resolve to the server.
    let givesBaseURL: Bool
    let environment: [String: String]
    let clock: WallClock
    var findings: [Finding] = []

    mutating func addWell(_ what: String) { findings.append(.well(what)) }
    mutating func addProblem(_ what: String, advice: String) { findings.append(.problem(what, advice: advice)) }
    mutating func addWarning(_ what: String, advice: String) { findings.append(.warning(what, advice: advice)) }
    mutating func addUnseen(_ what: String) { findings.append(.unseen(what)) }

    mutating func look(asking control: ControlClient) async throws {
        guard await lookAtServer() else { return }
        await lookAtAuthentication(control)
        if let step = sdk?.baseURLStep(clientURL), givesBaseURL || tlsPort == nil {
            return addWell("no TLS and no hosts are needed: \(step)")
        }
        guard await lookAtTLS() else { return }
        guard let sdk else {
            await lookAtNames()
            return await lookAtSystemTrust()
        }
        await lookAtNames(of: sdk)
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
            addWell("\(server) answers at \(baseURL)")
            lookAtClock(date)
            await lookAtDurability()
            return true
        case .answered(503, let server, _) where server.hasPrefix("scribe-emulator"):
            addProblem("the server at \(baseURL) is not ready", advice: "run curl \(baseURL)/readyz to find out why")
        case .answered(_, let server, _):
            addProblem(
                "another server answers at \(baseURL)" + (server.isEmpty ? "" : " (\(server))"),
                advice: "start scribe-emulator on another port with --port, and name it here with --url")
        case .untrusted, .refused:
            addProblem(
                "no server answers at \(baseURL)",
                advice: "run scribe-emulator serve --tls; if it runs elsewhere, add --url http://HOST:PORT")
        }
        return false
    }

    private mutating func lookAtClock(_ date: Date?) {
        guard let date else { return }
        let seconds = Int(saturating: abs(date.timeIntervalSince(clock.now)))
        guard seconds >= 300 else { return addWell("the clocks agree") }
        addProblem(
            "the clocks of this machine and the server are \(seconds) s apart; S3 uploads fail from 900 s on",
            advice: "set both clocks by NTP")
    }

    /// Adds warnings about the settings of a shared database.
    private mutating func lookAtDurability() async {
        guard let answer = try? await OneRequest.answer("GET", "\(baseURL)/readyz", within: .seconds(10)),
            let components = try? JSONDocument(answer.body).decode(Readiness.self).components
        else { return }
        if let durability = components["durability"] {
            findings.append(
                durability == "ready"
                    ? .well("PostgreSQL keeps what the server acknowledges")
                    : .problem(durability, advice: "see docs/scale-out.md, \"What is promised\""))
        }
        if components["storage"] == "unreachable" {
            addProblem("the object store does not answer", advice: "check the S3 service and its credentials")
        }
    }

    private mutating func lookAtAuthentication(_ control: ControlClient) async {
        let data: Data
        do {
            data = try await control.answer("GET", "info")
        } catch {
            let reason = (error as? ControlClient.Refusal)?.reason ?? "its answer cannot be read"
            return addUnseen("cannot check the authentication mode: \(reason)")
        }
        guard let info: ServerInfo = try? ControlClient.decoded(data), let mode = info.settings["auth"] else {
            return addUnseen("cannot check the authentication mode: its answer cannot be read")
        }
        let accepted =
            mode == "strict"
            ? "only tokens that this server gave to clients of its clients file" : "any token is accepted"
        addWell("authentication is \(mode): \(accepted)")
        tlsPort = info.tlsPort
    }

    private mutating func lookAtTLS() async -> Bool {
        guard var tlsPort else {
            addProblem("the server listens for plain HTTP only", advice: "run scribe-emulator serve --tls")
            return false
        }
        if let authority, !FileManager.default.fileExists(atPath: authority) {
            addProblem(
                "the certificate authority \(authority) does not exist",
                advice: "name the server's folder with --tls-dir, or fetch the file: curl \(baseURL)/ca.pem")
            return false
        }
        if tlsPort != 443, case .refused = await Probe.ask(url(tlsPort), trusting: authority, at: serverAddress),
            case .answered(_, let server, _) = await Probe.ask(url(443), trusting: authority, at: serverAddress),
            server.hasPrefix("scribe-emulator")
        {
            // A server that does not tell its port, started as `hosts` advises.
            tlsPort = 443
            self.tlsPort = 443
        }
        let port = tlsPort
        return await look(
            at: url(port), port: port,
            well: "TLS works on port \(port), with a certificate from \(issuer)",
            adviceOnAnother: "start scribe-emulator on another port with --tls-port",
            untrusted: .problem(
                "the certificate on port \(port) is not from \(issuer)",
                advice: authority == nil
                    ? "use a certificate from an authority that this machine trusts"
                    : "restart the server, or name its folder here with --tls-dir"),
            refused: { reason in
                .problem("port \(port) does not answer over TLS: \(reason)", advice: "run scribe-emulator serve --tls")
            })
    }

    /// Requests a URL over TLS and adds the finding for its port.
    /// - Parameters:
    ///   - well: The finding when this server answers.
    ///   - adviceOnAnother: Advice for the case that another server answers.
    ///   - untrusted: The finding for a certificate that the authority did not sign.
    ///   - refused: The finding for no answer, by the reason.
    /// - Returns: Whether this server answers.
    private mutating func look(
        at url: String, port: Int, well: String, adviceOnAnother: String, untrusted: Finding,
        refused: (String) -> Finding
    ) async -> Bool {
        switch await Probe.ask(url, trusting: authority, at: serverAddress) {
        case .answered(_, let server, _) where server.hasPrefix("scribe-emulator"):
            addWell(well)
            return true
        case .answered(_, let server, _):
            addProblem("another server (\(server)) answers on port \(port)", advice: adviceOnAnother)
        case .untrusted: findings.append(untrusted)
        case .refused(let reason): findings.append(refused(reason))
        }
        return false
    }

    private func url(_ port: Int) -> String { "https://localhost:\(port)/readyz" }

    private func sdkURL(_ host: String) -> String { "https://\(host)\(sdkPort == 443 ? "" : ":\(sdkPort)")" }

    private var issuer: String {
        authority == nil ? "an authority that this machine trusts" : "this machine's authority"
    }

    /// The server's IP addresses, from the base URL; empty if its host is unknown.
    var serverAddresses: [String] {
        guard let host = URL(string: baseURL)?.host()?.trimmingCharacters(in: ["[", "]"]) else { return [] }
        return HostResolver.addresses(of: host)
    }

    private var serverAddress: String? { serverAddresses.first }

    private mutating func lookAtSystemTrust() async {
        guard authority != nil else { return }
        if case .answered = await Probe.ask(url(tlsPort ?? 443), trusting: nil, at: serverAddress) {
            addWell("this machine trusts the authority")
        } else {
            addUnseen(
                "this machine does not trust the authority; run `scribe-emulator trust` for the steps of each client")
        }
    }

    private mutating func lookAtPort(of host: String) async -> Bool {
        let path = AudioLocation.bucket(ofVirtualHost: host) == nil ? "/readyz" : "/"
        let port = sdkPort
        return await look(
            at: sdkURL(host) + path, port: port,
            well: "port \(port), which the SDK uses for \(host), reaches the server",
            adviceOnAnother: "stop it, then run doctor again",
            untrusted: .problem(
                "the certificate on port \(port) is not for \(host)",
                advice: "check that it is scribe-emulator, and that --tls-dir is the same as the server's"),
            refused: { reason in
                .problem(
                    "port \(port), which the SDK uses, does not reach the server: \(reason)",
                    advice: "run `scribe-emulator hosts` for the steps")
            })
    }

    private mutating func lookAtTrust(of sdk: SDK) async {
        let url = sdkURL(sdk.hosts[0]) + "/readyz"
        switch sdk.trust {
        case .unseen(let place):
            addUnseen(
                "cannot check whether the authority is trusted \(place); run `scribe-emulator trust` for the steps")
        case .file(let names, let orSystem):
            if orSystem || authority == nil, case .answered = await Probe.ask(url, trusting: nil, at: serverAddress) {
                return addWell("this machine trusts the certificate")
            }
            guard let authority else {
                return addProblem(
                    "this machine does not trust the certificate",
                    advice: "use a certificate from an authority that it trusts")
            }
            let set = names.first { environment[$0] != nil }
            if let set, let file = environment[set],
                case .answered = await Probe.ask(url, trusting: file, at: serverAddress)
            {
                addWell("\(set) names a file with the authority")
            } else {
                addProblem(
                    set.map { "\($0) is set to a file without the authority" } ?? "\(names[0]) is not set",
                    advice: "export \(names[0])=\(authority)")
            }
        }
    }
}
