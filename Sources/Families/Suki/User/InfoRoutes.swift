import Foundation
import Hummingbird
import ScribeDomain
import ScribeHTTP

/// `/api/v1/info/…`: what can be chosen (suki.md 3.15).
struct InfoRoutes: Sendable {
    private struct Item: Encodable {
        let code: String
        var description: String?
    }

    func add(to router: RouterGroup<ScribeContext>) {
        list("encounter-types", "encounter_types", AmbientContext.encounterTypes.map { Item(code: $0) }, router)
        list("visit-types", "visit_types", AmbientContext.shownVisitTypes.map { Item(code: $0) }, router)
        list("provider-roles", "provider_roles", AmbientContext.shownRoles.map { Item(code: $0) }, router)
        list(
            "specialties", "specialties",
            AmbientSpecialty.all.map { Item(code: $0, description: Self.title(of: $0)) }, router)
        list("loincs", "loincs", AmbientSection.all.map { Item(code: $0.code, description: $0.title) }, router)
    }

    private func list(_ path: String, _ name: String, _ items: [Item], _ router: RouterGroup<ScribeContext>) {
        router.get(RouterPath("api/v1/info/\(path)")) { _, _ in try Response.json(.ok, [name: items]) }
    }

    private static func title(of code: String) -> String {
        code == "NA" ? "Not applicable" : code.split(separator: "_").map(\.capitalized).joined(separator: " ")
    }
}
