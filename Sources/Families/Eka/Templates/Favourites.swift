import ScribeDomain
import ScribeHTTP
import ScribeRuntime

/// The templates that a user has at hand (C-92): those chosen, or the first of all while nothing was chosen.
struct Favourites: Sendable {
    private let chosen: [TemplateID]
    private let catalogue: TemplateCatalogue
    private let own: [CustomTemplate]

    /// - Parameter preferences: the user's, with the ids of those chosen.
    init(_ preferences: JSONValue, catalogue: TemplateCatalogue, own: [CustomTemplate]) {
        if case .array(let ids) = preferences[.myTemplates] {
            chosen = ids.compactMap(\.stringValue).map { TemplateID($0) }
        } else {
            chosen = [catalogue.fallback.id]
        }
        self.catalogue = catalogue
        self.own = own
    }

    /// Own templates first, then those that everyone has.
    var allItems: [TemplateItem] {
        own.map { TemplateItem($0, isFavourite: chosen.contains($0.id)) }
            + catalogue.templates.map { TemplateItem($0, isFavourite: chosen.contains($0.id)) }
    }

    /// Those chosen and still there, in the order in which they were chosen.
    var items: [TemplateItem] {
        let all = allItems
        return chosen.removingDuplicates().compactMap { id in all.first { $0.id == id } }
    }
}
