/// A fault rule cannot be added, changed or found.
package enum FaultProblem: Error, Hashable, Sendable {
    case exists(String)
    case unknown(String, nearest: String?)
    case tooMany(limit: Int)
    /// The named rule has the same conditions and always comes first.
    case shadowed(by: String)
}
