package import Hummingbird

extension Request {
    /// The requested host, with its port unless that is the default.
    package var authority: String { head.authority ?? "" }
}
