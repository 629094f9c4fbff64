import Basics
import Foundation
import ScribeDomain

/// Renders the page at `/`: one HTML document without scripts, pictures or links to other hosts, or a text.
struct FrontPageText {
    let version: String
    /// Base URL by which the client reached the server; nil in strict mode.
    let base: String?
    /// Base URL over TLS; nil without TLS.
    let tls: String?
    let demo: FrontPage.Demo?

    var html: String {
        var parts = ["<h1>scribe-emulator \(version.escapedForMarkup)</h1>"]
        parts.append(#"<p><a href="/__console">Console</a>: what clients did, and all switches</p>"#)
        let rows = self.rows
        if !rows.isEmpty {
            let cells = rows.map { "<tr><th>\($0.title)</th><td><code>\($0.value.escapedForMarkup)</code></td></tr>" }
            parts.append("<table>\(cells.joined())</table>")
        }
        if let base {
            parts.append("<p>Copy into a shell:</p>")
            parts.append("<pre>\(lines(base).joined(separator: "\n").escapedForMarkup)</pre>")
        }
        parts.append(
            """
            <ul><li><a href="/openapi.yaml">OpenAPI document</a> (<a href="/openapi.json">JSON</a>)</li>
            <li><a href="/readyz">Readiness</a></li></ul>
            """)
        return """
            <!doctype html>
            <html lang="en"><head><meta charset="utf-8"><title>scribe-emulator</title>
            <meta name="viewport" content="width=device-width">
            <style>body{font:16px/1.5 sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
            th{text-align:left;padding-right:1rem}pre{background:#eee;color:#111;padding:1rem;overflow:auto}</style>
            </head><body>
            \(parts.joined(separator: "\n"))
            </body></html>

            """
    }

    /// The page for a terminal.
    var plain: String {
        let rows =
            self.rows + [("Console", "/__console"), ("OpenAPI document", "/openapi.yaml"), ("Readiness", "/readyz")]
        let width = (rows.map(\.0.count).max() ?? 0) + 2
        let links = rows.map { title, value in
            let isPath = value.hasPrefix("/")
            return title.padding(toLength: width, withPad: " ", startingAt: 0) + (isPath ? base ?? "" : "") + value
        }
        let commands = base.map { ["", "Copy into a shell:"] + lines($0) } ?? []
        return (["scribe-emulator \(version)", ""] + links + commands).joined(separator: "\n") + "\n"
    }

    private var rows: [(title: String, value: String)] {
        var rows: [(title: String, value: String)] = []
        if let base { rows.append(("Base URL", base)) }
        if let tls { rows.append(("Over TLS", tls)) }
        if let demo { rows += [("Client id", demo.id), ("Client secret", demo.secret)] }
        return rows
    }

    /// Three commands to copy: with a demo client they log in and list its transactions.
    private func lines(_ base: String) -> [String] {
        guard let demo else {
            return ["BASE=\(base)", "curl -s $BASE/readyz", "curl -s $BASE/openapi.yaml -o openapi.yaml"]
        }
        let login = #"{"client_id":"\#(demo.id)","client_secret":"\#(demo.secret)"}"#
        return [
            "BASE=\(base)",
            "TOKEN=$(curl -s $BASE/connect-auth/v1/account/login -d '\(login)'"
                + #" | sed 's/.*"access_token": *"\([^"]*\)".*/\1/')"#,
            #"curl -s $BASE/voice/api/v2/transaction/history -H "Authorization: Bearer $TOKEN""#,
        ]
    }
}
