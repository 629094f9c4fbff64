/// The key files of all families in a data folder, for verbs that open no server.
package enum FamilySecrets {
    package static var names: [String] { Composition(Configuration()).secrets }
}
