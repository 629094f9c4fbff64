import ScribeDomain

/// Reasons for which the operator API refuses acts, as sentences beside the disabled buttons; nil for an act that it
/// takes.
struct ActRefusals: Hashable, Sendable {
    /// For acts that change this server alone: faults, namespaces, snapshots, and results of the operator's choice.
    let ofOneServer: String?
    /// For a reset, a restore and acts of the clock.
    let ofState: String?

    /// - Parameters:
    ///   - sharesData: Whether several servers share the data.
    ///   - mayChangeState: Whether the namespace's data may be reset, and its clock moved.
    init(sharesData: Bool, mayChangeState: Bool) {
        ofOneServer =
            sharesData ? "With --database several servers share the data: this would change one of them alone." : nil
        ofState =
            ofOneServer
            ?? (mayChangeState
                ? nil : "A data folder needs --ephemeral or --allow-reset for this. A namespace of your own takes it.")
    }

    /// Reason for which a recording cannot be ended by hand.
    /// - Parameter isChosen: Whether the operator chooses the results.
    func ofEnding(_ facts: RecordingState.Facts, isChosen: Bool = false) -> String? {
        if facts.userStatus.isOpen {
            if facts.rules.isExpired { return Self.expiry }
            if facts.rules.endsByOwnAPIOnly { return "Such a recording ends by its own API only." }
        }
        return isChosen ? ofOneServer : nil
    }

    /// Reason for which a recording cannot be cancelled.
    func ofCancelling(_ facts: RecordingState.Facts) -> String? { facts.rules.isExpired ? Self.expiry : nil }

    private static let expiry = "The recording has expired: it takes nothing more."
}
