import Basics
import ScribeDomain
import ScribeHTTP
import ScribeRuntime

/// A user's favourite templates (C-92): the chosen ones, or the default template until the user chooses.
struct Favourites: Sendable {
    private let chosen: [TemplateID]
    private let catalogue: TemplateCatalogue
    private let own: [CustomTemplate]

    /// - Parameter preferences: The user's preferences, with the ids of the chosen templates.
    init(_ preferences: JSONValue, catalogue: TemplateCatalogue, own: [CustomTemplate]) {
        if case .array(let ids) = preferences[.myTemplates] {
            chosen = ids.compactMap(\.stringValue).map { TemplateID($0) }
        } else {
            chosen = [catalogue.fallback.id]
        }
        self.catalogue = catalogue
        self.own = own
    }

    /// All templates: the business's own first, then the catalogue's.
    var allItems: [TemplateItem] {
        own.map {
            TemplateItem(
                id: $0.id, title: $0.title, desc: $0.summary, sectionIDs: $0.sectionIDs, isDefault: false,
                isFavourite: chosen.contains($0.id))
        }
            + catalogue.templates.map {
                TemplateItem(
                    id: $0.id, title: $0.name, desc: $0.summary, sectionIDs: $0.sectionIDs, isDefault: true,
                    isFavourite: chosen.contains($0.id))
            }
    }

    /// The chosen templates that still exist, in the user's order.
    var items: [TemplateItem] {
        let all = allItems
        return chosen.removingDuplicates().compactMap { id in all.first { $0.id == id } }
    }
}
