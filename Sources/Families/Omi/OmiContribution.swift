package import ScribeDomain
package import ScribeHTTP
import ScribeRuntime

/// Registers Omi's conversations with a server: host names, routes and the end of silent conversations.
package struct OmiContribution: FamilyContribution {
    package let name = "Omi"
    package let hosts = [HostGroup(title: "Omi", names: OmiFamily.hostNames)]
    package let policies: [any RecordingPolicy] = [ConversationPolicy()]
    private let settings: OmiFamily.Settings

    package init(_ settings: OmiFamily.Settings) { self.settings = settings }

    /// Builds the family.
    /// - Throws: ``UnusableSetting`` for Firebase settings that contradict each other or cannot be used.
    package func compose(in environment: FamilyEnvironment) async throws -> ComposedFamily {
        let family = OmiFamily(environment: environment, firebase: try await firebase(environment), settings: settings)
        return ComposedFamily(family) { world in
            let runtime = world.runtime
            return [
                SilentConversations(
                    store: runtime.store, conversations: runtime.conversations, changes: world.changes,
                    clock: runtime.clock, logger: environment.logger)
            ]
        }
    }

    /// Builds the verifier of Firebase's tokens; nil if no keys are configured.
    private func firebase(_ environment: FamilyEnvironment) async throws -> ForeignTokens? {
        let keys: IssuerKeys
        switch (settings.jwks, settings.jwksURL, settings.project) {
        case (nil, nil, nil): return nil
        case (let set?, nil, _?): keys = .set(set)
        case (nil, let url?, _?): keys = .address(url)
        case (_?, _?, _): throw Self.unusable("firebase-jwks-file and firebase-jwks-url exclude each other")
        default:
            throw Self.unusable("firebase-project goes together with firebase-jwks-url or firebase-jwks-file")
        }
        do {
            return try await ForeignTokens(
                keys, PublishedKeys(outbound: environment.outbound, clock: environment.clock),
                project: settings.project ?? "", clock: environment.clock)
        } catch let problem as ForeignTokens.UnusableKeys {
            let setting = settings.jwks == nil ? "firebase-jwks-url" : "firebase-jwks-file"
            throw Self.unusable("\(setting): \(problem)")
        }
    }

    /// Error for Firebase settings that cannot be used.
    /// - Parameter reason: The problem, with the name of the setting.
    package static func unusable(_ reason: String) -> UnusableSetting {
        UnusableSetting("Firebase's tokens cannot be verified: \(reason)")
    }
}
