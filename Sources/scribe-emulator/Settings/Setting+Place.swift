import Eka
import Engines
import Foundation
import Listen
import Logging
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeServer

extension Setting {
    /// What it listens on, and where its data is.
    static let place: [Setting] = [
        Setting(
            "host",
            "The address to listen on.",
            .text,
            default: "127.0.0.1",
            page: "the address to listen on",
            to: \.configuration.host),
        Setting(
            "port",
            "The port to listen on; 0 picks a free one.",
            .integer(0...65535),
            default: "8087",
            page: "0 picks a free one",
            to: \.configuration.port),
        Setting(
            "ready-file",
            "A JSON file to write once the server is ready.",
            .text,
            valueName: "path",
            page: """
                a JSON file with `base_url` and `pid`, written whole once the server is ready and removed at its \
                end
                """,
            to: \.readyFile),
        Setting(
            "data-dir",
            "The folder that keeps all data.",
            .text,
            default: ".scribe",
            valueName: "path",
            page: "the folder that keeps all data; one server at a time",
            to: \.configuration.dataFolder),
        Setting(
            "ephemeral",
            "Keep the data in a temporary folder that is removed at the end.",
            .boolean,
            default: "false",
            page: "use a temporary folder and remove it at the end",
            to: \.configuration.isEphemeral),
    ]
}
