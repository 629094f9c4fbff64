import Foundation
import Hummingbird
import ScribeDomain
import ScribeHTTP

/// Pages about the server itself: how to connect, its settings, and a page that tries it out.
extension ConsoleFamily {
    func tryOut(_ pageRequest: PageRequest) -> Page {
        let clients = pageRequest.context.world.authenticator.clients
        let usual = usualClient(pageRequest.context)
        let ids = usual.map { [$0] } ?? clients.ids
        return Page(
            key: "try", title: "Try it", template: "try",
            model: [
                "clients": Self.options(ids.prefix(200).map { ($0.rawValue, $0.rawValue) }, chosen: usual?.rawValue),
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
        return Page(
            key: "connect", title: "Connect", template: "connect",
            model: [
                "base": base, "tls": tls, "hasTLS": !tls.isEmpty,
                "socket": base.replacing("http://", with: "ws://").replacing("https://", with: "wss://"),
                "live": base.replacing("http://", with: "ws://").replacing("https://", with: "wss://") + "/v1/listen",
                "client": isDefault ? settings.demo?.rawValue ?? "" : "",
                "secret": isDefault ? settings.demoSecret ?? "" : "",
                "hasDemo": isDefault && settings.demoSecret != nil,
            ])
    }

    func settingsPage() -> Page {
        Page(
            key: "settings", title: "Settings", template: "settings",
            model: [
                "rows": settings.settings.map {
                    ["setting": $0.name, "value": $0.value, "origin": $0.origin, "isSet": $0.origin != "default"]
                } as [ConsoleViews.Model]
            ])
    }
}
