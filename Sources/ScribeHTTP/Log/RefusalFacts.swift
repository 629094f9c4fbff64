import Basics

/// Collects facts about one request for the log line that explains its refusal. Each layer adds its own.
package final class RefusalFacts: Sendable {
    package struct Facts: Sendable {
        /// Name of the family that took the request.
        package var family: String?
        package var claim: RouteClaim?
        /// Message of the refusal.
        package var reason: String?
        /// Origin of a page that may not read the answer.
        package var foreignOrigin: String?
        /// Whether the path contains an object's key, which may hold a patient's name.
        package var holdsKey = false

        package init() {}
    }

    private let collected = LockedValue(Facts())

    package init() {}

    package var facts: Facts { collected.withLock { $0 } }

    package func note(family: String, _ claim: RouteClaim) {
        collected.withLock { facts in
            facts.family = family
            facts.claim = claim
        }
    }

    package func note(reason: String) {
        // A field path below a list item may contain a client's key, such as a file name.
        let shown = reason.replacing(/'([^'.]+\.\d+)\.[^']*'/) { "'\($0.1).…'" }
            // An unknown value is the client's too.
            .replacing(/is called '[^']*'/, with: "is called '…'")
        collected.withLock { $0.reason = shown }
    }

    package func note(foreignOrigin: String) { collected.withLock { $0.foreignOrigin = foreignOrigin } }

    package func noteKey() { collected.withLock { $0.holdsKey = true } }
}
