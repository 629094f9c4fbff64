package import Hummingbird
import ScribeDomain

extension Request {
    /// The requested host, with its port unless that is the default.
    package var authority: String { head.authority ?? "" }
}

extension String {
    /// Whether the text is a host, with or without a port, that ends in one of the suffixes.
    package func isHost(endingIn suffixes: [String]) -> Bool {
        guard !suffixes.isEmpty, let host = split(ascii: ":", maxSplits: 1).first?.lowercased() else { return false }
        return suffixes.contains { host.hasSuffix($0) }
    }
}
