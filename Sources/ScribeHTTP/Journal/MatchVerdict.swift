/// Whether a condition holds for an exchange of the journal.
enum MatchVerdict: Hashable, Sendable {
    case holds
    /// The exchange has another value, or none.
    case fails(found: String)
    /// The journal has not kept what would tell.
    case unknown(why: String)

    /// - Parameter found: Value of an exchange for which the condition does not hold.
    init(_ holds: Bool, found: @autoclosure () -> String) { self = holds ? .holds : .fails(found: found()) }

    /// The verdict on both conditions.
    func and(_ other: @autoclosure () -> MatchVerdict) -> MatchVerdict {
        switch self {
        case .holds: return other()
        case .fails: return self
        case .unknown:
            if case .fails = other() { return other() }
            return self
        }
    }

    /// Makes a failure unknown where what is not kept might hold.
    /// - Parameter why: Reason that the rest is not known; nil if all of it is.
    func unless(_ why: @autoclosure () -> String?) -> MatchVerdict {
        guard case .fails = self, let why = why() else { return self }
        return .unknown(why: why)
    }

    static let masked = "credentials in it are masked"
}
