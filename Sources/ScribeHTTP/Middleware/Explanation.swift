import ScribeDomain

/// Facts about one request for the log line that explains its refusal. Each layer adds what it knows while the request
/// is served.
package final class Explanation: Sendable {
    package struct Facts: Sendable {
        /// The family that took the request.
        package var family: String?
        package var claim: Claim?
        /// The text of the refusal.
        package var reason: String?
        /// The origin of a web page that may not read the answer.
        package var foreignOrigin: String?
        /// Whether the path names an object: its key may hold a patient's name.
        package var holdsKey = false

        package init() {}
    }

    private let collected = LockedValue(Facts())

    package init() {}

    package var facts: Facts { collected.withLock { $0 } }

    package func note(family: String, _ claim: Claim) {
        collected.withLock { facts in
            facts.family = family
            facts.claim = claim
        }
    }

    package func note(reason: String) {
        // The path of a field below a list's entry may hold a key of the client's, such as the name of a file.
        let shown = reason.replacing(/'([^'.]+\.\d+)\.[^']*'/) { "'\($0.1).…'" }
        collected.withLock { $0.reason = shown }
    }

    package func note(foreignOrigin: String) { collected.withLock { $0.foreignOrigin = foreignOrigin } }

    package func noteKey() { collected.withLock { $0.holdsKey = true } }
}
