/// The bucket for audio cannot be used.
package struct ObjectStorageProblem: Error, Hashable, CustomStringConvertible {
    let reason: String

    package var description: String { "The bucket of --objects cannot be used: \(reason)" }
}
