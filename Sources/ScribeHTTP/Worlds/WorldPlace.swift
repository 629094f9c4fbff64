package import ScribeDomain

/// Namespace and state of a world, which its credentials carry.
package struct WorldPlace: Hashable, Sendable {
    /// nil for the default world.
    package let namespace: NamespaceName?
    /// Number of the world's state: 1 at first, one more after each reset.
    package let state: Int

    package init(namespace: NamespaceName? = nil, state: Int = 1) {
        self.namespace = namespace
        self.state = state
    }

    /// Claim of credentials that a reset ends; nil for the first state, whose credentials have no such claim.
    var stateClaim: Int? { state == 1 ? nil : state }
}
