import ScribeHTTP

extension Configuration {
    /// Problems that would end a start, as far as they can be found without opening ports and data: the address against
    /// the authentication, the clients file, the fixtures file, and the length of the signing key.
    package func problems() -> [String] {
        var problems: [String] = []
        func check(_ body: () throws -> Void) {
            do { try body() } catch { problems.append("\(error)") }
        }
        check {
            guard authMode == .strict || isLoopback || allowsUnverifiedTokensFromNetwork else {
                throw StartupProblem.unverifiedTokensFromNetwork(host: host, mode: authMode)
            }
        }
        check { if let key = signingKey, key.count < 32 { throw StartupProblem.signingKeyTooShort } }
        check { _ = try Logins(self) }
        check { _ = try Seed.fixtures(overriddenBy: fixturesFile) }
        return problems
    }
}
