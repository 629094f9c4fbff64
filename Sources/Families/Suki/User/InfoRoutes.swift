import Basics
import Foundation
import Hummingbird
import ScribeHTTP

/// `/api/v1/info/…`: lists the options for a context (suki.md 3.15).
enum InfoRoutes {
    static func add(to router: RouteGroup) {
        list("encounter-types", "encounter_types", AmbientContext.encounterTypes.map { ["code": .string($0)] }, router)
        list("visit-types", "visit_types", AmbientContext.shownVisitTypes.map { ["code": .string($0)] }, router)
        list("provider-roles", "provider_roles", AmbientContext.shownRoles.map { ["code": .string($0)] }, router)
        list(
            "specialties", "specialties",
            AmbientSpecialty.all.map { ["code": .string($0), "description": .string(title(of: $0))] }, router)
        list(
            "loincs", "loincs",
            AmbientSection.all.map { ["code": .string($0.code), "description": .string($0.title)] }, router)
    }

    private static func list(_ path: String, _ name: String, _ items: [JSON], _ router: RouteGroup) {
        router.get("api/v1/info/\(path)") { _, _ in Response.json(.ok, [name: .array(items)]) }
    }

    private static func title(of code: String) -> String {
        guard code != "NA" else { return "Not applicable" }
        return code.split(separator: "_").map { $0.prefix(1) + $0.dropFirst().lowercased() }.joined(separator: " ")
    }
}
