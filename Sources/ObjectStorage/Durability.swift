/// Durability of acknowledged writes.
package enum Durability: String, Sendable, CaseIterable {
    /// Writes survive the death of the process, by any signal.
    case normal
    /// Writes also survive a power cut: files and log are synced before the answer.
    case full

    /// Maximum size of a file access on the caller's own thread, in bytes; 0 if each write waits for the disk.
    ///
    /// The kernel copies this much to or from its memory at once. A thread of the pool would have to be woken twice
    /// for the access. See docs/decisions/performance.md.
    package var callersThreadLimit: Int { self == .normal ? 64 << 10 : 0 }
}
