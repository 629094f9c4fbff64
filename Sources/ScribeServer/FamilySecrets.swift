/// Names of the families' key files in a data folder, for `backup` and `restore`.
package enum FamilySecrets {
    package static var names: [String] { Composition(Configuration()).secrets }
}
