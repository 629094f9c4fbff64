package import HTTPTypes

extension HTTPField.Name {
    /// `Host` as clients send it, which HTTPTypes knows as the authority alone.
    package static let host = {
        guard let name = HTTPField.Name("host") else { preconditionFailure("host is a header name") }
        return name
    }()
}
