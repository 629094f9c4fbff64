package import Hummingbird
import ScribeDomain

extension Request {
    /// The host that the client asked for, with its port if that is not the usual one.
    package var authority: String { head.authority ?? "" }
}

extension String {
    /// Whether this is a host, perhaps with a port, whose name ends in one of these.
    package func isHost(endingIn suffixes: [String]) -> Bool {
        guard !suffixes.isEmpty, let host = split(ascii: ":", maxSplits: 1).first?.lowercased() else { return false }
        return suffixes.contains { host.hasSuffix($0) }
    }
}
