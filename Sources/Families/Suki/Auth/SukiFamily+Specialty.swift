package import ScribeDomain
package import ScribeHTTP

extension SukiFamily {
    /// The specialty of a new clinician of a partner.
    /// - Parameter wanted: A specialty of the API; nil for the default one.
    /// - Throws: ``ScribeError/invalidRequest(field:problem:)`` for an unknown partner or specialty.
    @Sendable package static func specialty(
        _ partner: String, _ wanted: String?, _ world: World
    ) throws(ScribeError) -> String {
        guard world.part({ _ in KnownPartners([]) })[partner] != nil else {
            throw .invalidRequest(field: "partner_id", problem: "is no partner of this namespace")
        }
        return try AmbientSpecialty.chosen(wanted)
    }
}
