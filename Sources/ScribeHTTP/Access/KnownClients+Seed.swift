import ScribeDomain
package import ScribeStore

extension KnownClients {
    /// Replaces the clients of the operator API by those in the store.
    package func replaceSeeded(with clients: [SeedRows.SeededClient]) {
        let registrations = clients.map { seeded in
            let principal = seeded.client.principal
            return (principal.client, Registration(principal: principal, secretHash: seeded.secretHash))
        }
        let keys = clients.flatMap { seeded in seeded.keyHashes.map { ($0, seeded.client.principal) } }
        replaceSeeded(
            Dictionary(registrations, uniquingKeysWith: { _, last in last }),
            keyHashes: Dictionary(keys, uniquingKeysWith: { first, _ in first }))
    }
}
