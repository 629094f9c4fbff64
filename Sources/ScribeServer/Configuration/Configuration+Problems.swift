import ScribeHTTP

extension Configuration {
    /// Finds problems that would end a start, without opening ports or data: an address that is too open for the
    /// authentication mode, a missing program of a recogniser, an invalid clients or fixtures file, a signing key that
    /// is too short.
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
        check {
            guard seedValue == nil || isEphemeral else { throw StartupProblem.seedValueOfFolder }
        }
        check { try EngineMaker.check(transcriber, of: "transcriber") }
        check { try EngineMaker.check(fallbackTranscriber, of: "fallback-transcriber") }
        check { _ = try ConfiguredClients(self) }
        check {
            let files = try StartFiles(self, Composition(self))
            _ = try Seed.fixtures(overriddenBy: using(files).fixturesFile)
        }
        return problems
    }
}
