import Engines
import Outbound
import ScribeDomain

/// Checks of the addresses to which the SDKs' hosts resolve: another address than the server's gets the audio.
extension DoctorChecks {
    /// A host with its addresses, in the resolver's order; empty for an unknown host.
    private struct ResolvedHost {
        let name: String
        let addresses: [String]
    }

    /// Checks the hosts of one SDK.
    mutating func lookAtNames(of sdk: SDK) async {
        guard !sdk.isElsewhere else {
            return addUnseen(
                "cannot check the address of \(sdk.hosts[0]) on the device; run `scribe-emulator trust` for the steps")
        }
        let hosts = await Self.resolved(sdk.hosts)
        let (away, unknown) = (leadingAway(hosts), hosts.filter { $0.addresses.isEmpty }.map(\.name))
        if !away.isEmpty {
            addProblem(
                "the SDK would send audio away from this server, to \(away.joined(separator: ", "))",
                advice: "do not record before they lead to this server: \(writeStep)")
        }
        if !unknown.isEmpty {
            addProblem("\(unknown.joined(separator: ", ")) do not resolve to this server", advice: writeStep)
        }
        if away.isEmpty, unknown.isEmpty {
            addWell("\(sdk.hosts.joined(separator: ", ")) resolve to this server")
        }
        await lookAtRegions(of: [sdk])
    }

    /// Warns of the hosts of all SDKs that lead to other servers.
    mutating func lookAtNames() async {
        let sdks = SDK.allCases.filter { !$0.isElsewhere }
        let away = leadingAway(await Self.resolved(sdks.flatMap(\.hosts).removingDuplicates()))
        if !away.isEmpty {
            addWarning(
                "an SDK with these hosts compiled in would send audio away from this server: "
                    + away.joined(separator: ", "), advice: "\(writeStep), or give the SDK the server's base URL")
        }
        await lookAtRegions(of: sdks)
    }

    /// Warns of region hosts that lead to S3 itself. The verb `hosts` leaves them alone, as the machine's own buckets
    /// are there.
    private mutating func lookAtRegions(of sdks: [SDK]) async {
        let away = leadingAway(await Self.resolved(sdks.flatMap(\.regionHosts).removingDuplicates()))
        guard !away.isEmpty else { return }
        addWarning(
            "a client that names its bucket in the path would send audio to S3 itself: " + away.joined(separator: ", "),
            advice: "let clients name the bucket in the host, as the SDKs do; `hosts` leaves these hosts alone")
    }

    /// The hosts with an address that is not the server's, each with its first such address.
    private func leadingAway(_ hosts: [ResolvedHost]) -> [String] {
        let own = serverAddresses
        return hosts.compactMap { host in
            host.addresses.first { !own.contains($0) }.map { "\(host.name) (\($0))" }
        }
    }

    /// Resolves hosts, several at a time: a lookup may block for 30 seconds.
    private static func resolved(_ hosts: [String]) async -> [ResolvedHost] {
        let resolver = HostResolver()
        return await withTaskGroup { group in
            for (index, host) in hosts.enumerated() {
                group.addTask {
                    let addresses = (try? await resolver.lookUp(host, for: host)) ?? []
                    return (index, ResolvedHost(name: host, addresses: addresses.map(\.description)))
                }
            }
            return await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    private var writeStep: String {
        let address = serverAddresses.first ?? "127.0.0.1"
        return HostsFile.writeStep + (address == "127.0.0.1" ? "" : " --address \(address)")
    }
}
