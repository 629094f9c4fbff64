extension Diagnostic {
    /// Act of a tester that caused a problem, in the stored words.
    package enum Cause: String, Hashable, Sendable, CaseIterable {
        /// A fault rule about results.
        case faultRule = "fault_rule"
        /// A call of the operator API that ended the transaction.
        case operatorCall = "operator_call"
    }
}
