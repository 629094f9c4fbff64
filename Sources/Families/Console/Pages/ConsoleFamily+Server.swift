import Basics
import Foundation
import HTTPTypes
import Hummingbird
import ScribeDomain
import ScribeHTTP
import ScribeRuntime

/// Pages about the server itself: how to connect, its settings, and a page that tries it out.
extension ConsoleFamily {
    func tryOut(_ pageRequest: PageRequest) -> Page {
        let clients = pageRequest.context.world.authenticator.clients
        let usual = usualClient(pageRequest.context)
        let runtime = pageRequest.context.world.runtime
        let ids = usual.map { [$0] } ?? clients.ids
        return Page(
            key: "try", title: "Try it", template: "try",
            model: [
                "url": commandURL(pageRequest), "inventsWords": runtime.fixtureBehaviour.hasTexts,
                "fixtures": runtime.fixtureBehaviour.names.prefix(200).map { ["value": $0] as ConsoleViews.Model },
                "templates": Self.options(
                    runtime.templates.templates.map { ($0.id.rawValue, $0.name) }, chosen: "soap"),
                "clients": Self.clientOptions(ids, chosen: usual),
                "choosesClient": usual == nil,
                "prefix": pageRequest.context.world.namespace?.path ?? "",
            ])
    }

    func connect(_ pageRequest: PageRequest) -> Page {
        let base =
            origin.base(of: pageRequest.request, pageRequest.context)
            + (pageRequest.context.world.namespace?.path ?? "")
        let place = HostAndPort(pageRequest.request.authority)
        let tls = settings.tlsPort().flatMap { port in place.map { "https://\($0.host):\(port)" } } ?? ""
        let isDefault = pageRequest.context.world.namespace == nil
        let client = usualClient(pageRequest.context)?.rawValue
        return Page(
            key: "connect", title: "Connect", template: "connect",
            model: [
                "base": base, "tls": tls, "hasTLS": !tls.isEmpty,
                "socket": base.replacing("http://", with: "ws://").replacing("https://", with: "wss://"),
                "live": base.replacing("http://", with: "ws://").replacing("https://", with: "wss://") + "/v1/listen",
                "client": client ?? "",
                "key": isDefault ? settings.demoKey ?? "" : "", "isNamespace": !isDefault,
                "partner": pageRequest.context.world.namespace.flatMap {
                    pageRequest.context.directory?.control?.record(of: $0)?.partner
                } ?? "",
                "login": Self.login(of: client, isDefault ? settings.demoSecret : nil, at: base),
                "url": commandURL(pageRequest),
                "secret": isDefault ? settings.demoSecret ?? "" : "",
                "hasDemo": isDefault && settings.demoSecret != nil,
            ])
    }

    /// The port that a setting of 0 has picked; empty for any other setting.
    private func picked(_ setting: Setting, _ pageRequest: PageRequest) -> String {
        guard setting.value == "0" else { return "" }
        let port =
            switch setting.name {
            case "port": HostAndPort(pageRequest.request.authority)?.port
            case "tls-port": settings.tlsPort()
            default: Int?.none
            }
        return port.map { "picked \($0)" } ?? ""
    }

    func settingsPage(_ pageRequest: PageRequest) -> Page {
        let query = pageRequest.request.query
        let only = query.text("only") ?? ""
        let search = pageRequest.request.searchText.lowercased()
        let shown = settings.settings.filter { setting in
            (only != "changed" || setting.isChanged)
                && (search.isEmpty || "\(setting.name) \(setting.summary)".lowercased().contains(search))
        }
        return Page(
            key: "settings", title: "Settings", template: "settings",
            model: [
                "rows": shown.map {
                    [
                        "setting": $0.name, "value": $0.value ?? "",
                        "words": $0.value == nil ? $0.defaultWords : picked($0, pageRequest),
                        "origin": $0.origin, "isSet": $0.isChanged, "summary": $0.summary,
                    ]
                } as [ConsoleViews.Model],
                "isNone": shown.isEmpty, "search": search,
                "choices": [("", "All"), ("changed", "Changed")].map { value, title -> ConsoleViews.Model in
                    let href = Self.link("/settings", query, ["only": value], pageRequest)
                    return ["title": title, "isChosen": value == only, "href": href]
                },
            ])
    }
}
