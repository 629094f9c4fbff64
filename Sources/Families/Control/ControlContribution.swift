import Foundation
import ScribeDomain
package import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// What the door for operators brings to a server.
package struct ControlContribution: FamilyContribution {
    private let settings: ControlFamily.Settings

    package init(_ settings: ControlFamily.Settings) { self.settings = settings }

    /// - Throws: what the data folder throws.
    package func compose(in environment: FamilyEnvironment) async throws -> ComposedFamily {
        ComposedFamily(ControlFamily(environment, token: try await token(environment), settings: settings))
    }

    private func token(_ environment: FamilyEnvironment) async throws -> String? {
        if let token = settings.token { return token }
        guard !settings.isLoopback else { return nil }
        let identifiers = environment.runtime.identifiers
        let token = try await environment.secretFiles(DataFolder.adminToken) {
            Array(Hex.encode(identifiers.bytes(32)).utf8)
        }
        return String(decoding: token, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
