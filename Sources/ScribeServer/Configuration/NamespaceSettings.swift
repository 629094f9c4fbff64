/// Settings of namespaces.
package struct NamespaceSettings: Hashable, Sendable {
    /// Whether namespaces may be made; nil means in all modes but strict.
    package var isAllowed: Bool?
    /// Most namespaces at a time.
    package var limit = 1000
    /// Time without request and socket after which a namespace is removed.
    package var idleTime: Duration = .seconds(3600)
    /// Most bytes that the rows of all namespaces may take together.
    package var memory = 1_000_000_000

    package init() {}
}
