import Foundation
import Logging
import ScribeServer

/// One thing that can be set: its name, what it means, how its text is read and where it goes. Flag, environment variable,
/// key in the YAML file, `--help` and the table in `docs/configuration.md` all come from here; ``all`` lists them.
struct Setting: Sendable {
    /// What a run is told: the server's configuration, and the little that is the command's own.
    struct Run: Sendable {
        var configuration = Configuration()
        var readyFile: String?
        var logLevel = Logger.Level.info
        /// Nil: text on a terminal, JSON otherwise.
        var logFormat: LogFormat?
    }

    /// Why a text is no value of a setting: goes behind the setting and the text.
    struct Problem: Error {
        let what: String
    }

    /// How texts become values.
    struct Parser<Value: Sendable>: Sendable {
        var shape = Shape.text
        let read: @Sendable (String) throws(Problem) -> Value
    }

    /// As a flag and in the YAML file, such as `data-dir`.
    let name: String
    /// The name that it had before, which still counts.
    private(set) var formerName: String?
    /// One line for `--help`.
    let help: String
    /// What stands for the value in `--help`.
    let valueName: String
    /// The form of its values.
    let shape: Shape
    /// Whether `config print` masks its value.
    private(set) var isSecret = false
    /// As it would be written, empty where nothing is set; and as the page has it, where that says more.
    let defaultText: String
    let pageDefault: String
    /// What the page says of it, in Markdown.
    let page: String
    /// Reads a text and puts the value where it belongs.
    let apply: @Sendable (String, inout Run) throws(Problem) -> Void

    init<Value>(
        _ name: String, _ help: String, _ parser: Parser<Value>,
        default defaultText: String = "", valueName: String = "value", pageDefault: String? = nil, page: String,
        to path: any WritableKeyPath<Run, Value> & Sendable
    ) {
        self.init(name, help, parser, default: defaultText, valueName: valueName, pageDefault: pageDefault, page: page)
        { $1[keyPath: path] = $0 }
    }

    /// The same where a value is not set by default.
    init<Value>(
        _ name: String, _ help: String, _ parser: Parser<Value>, valueName: String = "value",
        pageDefault: String? = nil, page: String, to path: any WritableKeyPath<Run, Value?> & Sendable
    ) {
        self.init(name, help, parser, default: "", valueName: valueName, pageDefault: pageDefault, page: page) {
            $1[keyPath: path] = $0
        }
    }

    init<Value>(
        _ name: String, _ help: String, _ parser: Parser<Value>,
        default defaultText: String, valueName: String = "value", pageDefault: String? = nil, page: String,
        _ set: @escaping @Sendable (Value, inout Run) throws(Problem) -> Void
    ) {
        self.name = name
        self.help = help
        self.valueName = valueName
        shape = parser.shape
        self.defaultText = defaultText
        self.pageDefault = pageDefault ?? (defaultText.isEmpty ? "" : "`\(defaultText)`")
        self.page = page
        apply = { (text, run) throws(Problem) in try set(try parser.read(text), &run) }
    }

    /// The same setting, which is also found under the name that it had before.
    func formerly(_ name: String) -> Setting {
        var setting = self
        setting.formerName = name
        return setting
    }

    /// The same setting, whose value is a secret.
    func secret() -> Setting {
        var setting = self
        setting.isSecret = true
        return setting
    }

    /// Whether the flag goes without a value, and has a twin that begins with `no-`.
    var isSwitch: Bool { shape == .boolean }

    /// All names under which it is found; of values under several the last counts.
    var names: [String] { [formerName, name].compactMap(\.self) }

    /// The name of its environment variable, for example `SCRIBE_DATA_DIR`.
    var environmentName: String { Self.environmentName(of: name) }

    static func environmentName(of name: String) -> String {
        environmentPrefix + name.uppercased().replacingOccurrences(of: "-", with: "_")
    }

    static let environmentPrefix = "SCRIBE_"
    /// The YAML file itself cannot be named in it.
    static let configName = "SCRIBE_CONFIG"
    /// The key as such is taken from the environment only: flags show in the process list.
    static let signingKeyName = "SCRIBE_SIGNING_KEY"
    /// The same goes for the key of the speech service.
    static let sttKeyName = "SCRIBE_STT_KEY"
    /// Set by `env`, for those who use the server.
    static let exportedNames = [
        "SCRIBE_BASE_URL", "SCRIBE_CLIENT_ID", "SCRIBE_CLIENT_SECRET", "SCRIBE_API_KEY", "SCRIBE_LISTEN_URL",
        "SCRIBE_TLS_URL", "SCRIBE_CA_FILE",
    ]

    /// The table of `docs/configuration.md`.
    static var pageTable: String {
        (["| key | default | what it is |", "|---|---|---|"]
            + all.map { "| `\($0.name)` |\($0.pageDefault.isEmpty ? "" : " \($0.pageDefault)") | \($0.page) |" })
            .joined(separator: "\n")
    }
}
