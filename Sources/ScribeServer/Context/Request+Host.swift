import Hummingbird

extension Request {
    /// The host that the client asked for, with its port if that is not the usual one.
    var authority: String { head.authority ?? "" }

    static let vendorDomain = ".eka.care"

    /// Whether the client has come by one of the vendor's names, which lead to the API and to no bucket.
    var isAtVendorHost: Bool { authority.prefix { $0 != ":" }.lowercased().hasSuffix(Self.vendorDomain) }
}
