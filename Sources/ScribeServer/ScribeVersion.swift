/// The version of this program, as `CHANGELOG.md` lists it.
package enum ScribeVersion {
    package static let current = "0.1.0"
}
