import Testing

/// The behaviours clients rely on that a test asserts: rows of `Tests/fidelity.yaml`. It changes nothing about how the
/// test runs; `scripts/fidelity` reads it in the source.
package struct Covers: TestTrait, SuiteTrait {
    package let rows: [String]
}

extension Trait where Self == Covers {
    /// What the test asserts, for example `.covers("C-01", "C-02")`. Literals only: nothing is run to read them.
    package static func covers(_ rows: String...) -> Self { Covers(rows: rows) }
}
