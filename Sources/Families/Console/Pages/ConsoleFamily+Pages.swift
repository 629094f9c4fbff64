import Basics
import Foundation
import HTTPTypes
import Hummingbird
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// Pages of the console: which one a path means, and the frame around it.
extension ConsoleFamily {
    /// A page, as its frame shows it.
    struct Page {
        /// Key of the page in the navigation.
        let key: String
        let title: String
        /// Template of its content.
        let template: String
        var model: ConsoleViews.Model = [:]
        var status = HTTPResponse.Status.ok
    }

    /// Request of a page, with its session.
    struct PageRequest {
        let request: Request
        let context: ScribeContext
        let session: ConsoleSessions.Session
        /// `?namespace=NAME` for links to other pages; empty for the default namespace.
        let query: String
        /// The world's time.
        var now: Date { context.world.runtime.clock.now }
    }

    func page(
        _ path: [Substring], _ verdict: ConsoleAuthentication.Verdict, _ request: Request, _ context: ScribeContext
    ) async throws -> Response {
        var response: Response
        let cookie: String
        let nonce = Hex.encode(context.world.runtime.identifiers.random.bytes(16))
        switch verdict {
        case .reload:
            let path = "/" + RequestAddress(request).path.joined(separator: "/")
            let query = request.uri.query.map { "?\($0)" } ?? ""
            return views.page(ConsoleViews.text("again", ["path": path + query]), nonce: nonce)
        case .loginRequired(let session, let id):
            cookie = id
            let model: ConsoleViews.Model = [
                "token": session.token, "host": request.authority, "version": settings.version, "nonce": nonce,
            ]
            response = views.page(ConsoleViews.text("login", model), nonce: nonce, status: .unauthorized)
        case .allowed(let session, let id):
            cookie = id
            let name = context.world.namespace?.rawValue
            let pageRequest = PageRequest(
                request: request, context: context, session: session,
                query: name.map { "?namespace=\($0)" } ?? "")
            let page = try await content(of: path, pageRequest)
            response = views.page(try await text(of: page, pageRequest, nonce), nonce: nonce, status: page.status)
        }
        ConsoleAuthentication.keep(cookie, of: request, isSecure: isSecure(request, context), in: &response)
        return request.method == .head ? response.createHeadResponse() : response
    }

    private func content(of path: [Substring], _ pageRequest: PageRequest) async throws -> Page {
        guard pageRequest.context.namespaceError == nil else {
            var page = Self.missing
            page.model["unknown"] = pageRequest.request.query.text("namespace") ?? ""
            return page
        }
        do {
            switch path.first {
            case nil: return try await recordings(pageRequest)
            case "consultations" where path.count == 3: return try await recording(path[1], path[2], pageRequest)
            case "requests" where path.count == 1: return try await requests(pageRequest)
            case "requests" where path.count == 2: return try await request(path[1], pageRequest)
            case "webhooks" where path.count == 1: return try await webhooks(pageRequest)
            case "bench" where path.count == 1: return try await bench(pageRequest)
            case "try" where path.count == 1: return tryOut(pageRequest)
            case "connect" where path.count == 1: return connect(pageRequest)
            case "templates" where path.count == 1: return try await templates(pageRequest)
            case "settings" where path.count == 1: return settingsPage(pageRequest)
            default: return Self.missing
            }
        } catch ConsoleError.notFound {
            return Self.missing
        }
    }

    private static var missing: Page { Page(key: "", title: "Not found", template: "missing", status: .notFound) }

    /// Renders a page with its frame.
    private func text(of page: Page, _ pageRequest: PageRequest, _ nonce: String) async throws -> String {
        let (request, context) = (pageRequest.request, pageRequest.context)
        let isKnown = context.namespaceError == nil
        let name = context.world.namespace?.rawValue ?? NamespaceName.ofDefaultWorld
        let faults = isKnown ? try await control.read("faults", for: request, context).body["faults"] : nil
        let on = (faults?.arrayValue ?? []).count(where: Self.isOn)
        let clock = isKnown ? try await control.read("clock", for: request, context).body : .null
        let names = try await control.read("namespaces", for: request, context).body["namespaces"]?.arrayValue ?? []
        let place = commandPlace(pageRequest)
        let mode = clock["mode"]?.stringValue ?? "system"
        var notices: [String] = []
        if on > 0 { notices.append(on == 1 ? "1 fault is on" : "\(on) faults are on") }
        if mode != "system" { notices.append(mode == "frozen" ? "The clock is frozen" : "The clock was moved") }
        let entries = Self.navigation.map { entry -> ConsoleViews.Model in
            [
                "href": "/\(Self.root)\(entry.path)\(pageRequest.query)\(entry.fragment)", "icon": entry.icon,
                "label": entry.title, "isCurrent": entry.key == page.key && entry.fragment.isEmpty,
                "heading": entry.heading ?? "", "hasHeading": entry.heading != nil,
                "badge": entry.key == "bench" && entry.fragment.isEmpty && on > 0 ? "\(on) on" : "",
                "isTab": entry.isTab, "short": entry.short ?? entry.title,
            ]
        }
        var model: ConsoleViews.Model = [
            "clockOffset": Int(saturating: context.world.runtime.clock.offset * 1000),
            "isClockFrozen": mode == "frozen",
            "title": page.title, "token": pageRequest.session.token, "nonce": nonce, "version": settings.version,
            "host": request.authority, "about": settings.about, "query": pageRequest.query, "root": "/\(Self.root)",
            "namespace": name, "at": place,
            "isElsewhere": !page.key.isEmpty
                && !entries.contains { $0["isTab"] as? Bool == true && $0["isCurrent"] as? Bool == true },
            "canLogOut": environment.adminToken != nil,
            "namespaces": ([NamespaceName.ofDefaultWorld] + names.compactMap { $0["name"]?.stringValue }).map {
                ["value": $0, "isChosen": $0 == name] as ConsoleViews.Model
            },
            "entries": entries, "tabs": entries.filter { $0["isTab"] as? Bool == true },
            "notices": notices.joined(separator: ". "), "hasNotices": !notices.isEmpty && page.key != "bench",
            "showsWords": settings.showsWords,
        ]
        // A page's content may use the values of the frame, too.
        let main = ConsoleViews.text(page.template, model.merging(page.model) { $1 })
        model["main"] = ConsoleViews.Markup(renderText: main)
        return ConsoleViews.text("frame", model)
    }

    /// Options with which a command of the page reaches this server and namespace; empty for the usual ones.
    private func commandPlace(_ pageRequest: PageRequest) -> String {
        let name = pageRequest.context.world.namespace
        return commandURL(pageRequest, isScoped: false) + (name.map { " --namespace \($0.rawValue)" } ?? "")
    }

    /// Option with which a command reaches this server; empty for the usual address.
    /// - Parameter isScoped: Whether the address is that of the namespace.
    func commandURL(_ pageRequest: PageRequest, isScoped: Bool = true) -> String {
        let path = isScoped ? pageRequest.context.world.namespace?.path ?? "" : ""
        let base = origin.base(of: pageRequest.request, pageRequest.context) + path
        return ["http://127.0.0.1:8087", "http://localhost:8087"].contains(base) ? "" : " --url \(base)"
    }

    /// Whether a fault rule may still apply.
    static func isOn(_ rule: JSONValue) -> Bool {
        let isUsedUp =
            rule["times"]?.integerValue.map { times in (rule["applied"]?.integerValue ?? 0) >= times } ?? false
        return rule["is_on"] == .bool(true) && !isUsedUp
    }

    private struct Entry {
        let key: String
        let path: String
        var fragment = ""
        let icon: String
        let title: String
        /// Title in the narrow bar, if it is a shorter one.
        var short: String?
        var heading: String?
        var isTab = false
    }

    private static let navigation = [
        Entry(key: "consultations", path: "", icon: "cons", title: "Consultations", isTab: true),
        Entry(key: "requests", path: "/requests", icon: "req", title: "Live requests", short: "Requests", isTab: true),
        Entry(key: "webhooks", path: "/webhooks", icon: "hook", title: "Webhooks"),
        Entry(key: "bench", path: "/bench", icon: "bolt", title: "Faults", heading: "Test bench", isTab: true),
        Entry(key: "bench", path: "/bench", fragment: "#clock", icon: "clock", title: "Clock"),
        Entry(key: "bench", path: "/bench", fragment: "#namespaces", icon: "ns", title: "Namespaces"),
        Entry(key: "bench", path: "/bench", fragment: "#snapshots", icon: "snap", title: "Snapshots"),
        Entry(key: "try", path: "/try", icon: "mic", title: "Try it", heading: "Start here", isTab: true),
        Entry(key: "connect", path: "/connect", icon: "plug", title: "Connect"),
        Entry(key: "templates", path: "/templates", icon: "tpl", title: "Templates", heading: "Server"),
        Entry(key: "settings", path: "/settings", icon: "set", title: "Settings"),
    ]
}
