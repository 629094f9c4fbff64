import ScribeServer
import ServerTestSupport
import Testing

@testable import Console

/// Settings of the server, on their page of the console.
struct ConsoleSettingsTests {
    @Test("the settings page has a value or a default for each setting, its description, a search and the changed ones")
    func settings() async throws {
        var server = try TestServer()
        server.configuration.shown = [
            .init(name: "port", value: "9000", defaultWords: "8087", origin: "--port", summary: "The port."),
            .init(name: "tls-port", value: "0", defaultWords: "8443", origin: "--tls-port", summary: "With TLS."),
            .init(name: "publish", value: nil, defaultWords: "none", origin: "default", summary: "A <b>host</b>."),
        ]
        try await server.run { client in
            let visitor = try await ConsoleVisitor(client)
            let all = try await visitor.page("/settings").text
            #expect(all.contains("9000") && all.contains("The port.") && all.contains("A &lt;b&gt;host&lt;/b&gt;."))
            #expect(all.contains("<span class=\"t3\">none</span>"))
            let changed = try await visitor.page("/settings?only=changed").text
            #expect(changed.contains("9000") && !changed.contains("publish"))
            #expect(changed.contains("<a href=\"/__console/settings?only=changed\" aria-current=\"true\">Changed</a>"))
            let found = try await visitor.page("/settings", search: "HOST").text
            #expect(!found.contains("9000") && found.contains("publish"))
            #expect(try await visitor.page("/settings", search: "nonesuch").text.contains("Nothing matches."))
        }
    }
}
