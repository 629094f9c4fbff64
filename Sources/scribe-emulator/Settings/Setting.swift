import Foundation
import Logging
import ObjectStorage
import ScribeServer
import ScribeStore

/// Setting of the command: its name, its help, the parser of its text, and the property that it sets. Its flag,
/// environment variable and YAML key, `--help` and the table in `docs/configuration.md` come from it; ``all`` lists
/// the settings.
struct Setting: Sendable {
    /// Values of all settings: the server's configuration, and values for the command itself.
    struct Run: Sendable {
        var configuration = Configuration()
        var readyFile: String?
        var logLevel = Logger.Level.info
        /// Place of rows that several servers share.
        var database: PostgreSQLAddress?
        /// Place of audio that several servers share.
        var objects: S3Address?
        /// Part of the shared work that this server does.
        var role = SharedPlace.Role.all
        /// The format of the log. Nil means text on a terminal, else JSON.
        var logFormat: LogFormat?
    }

    /// Error for a text that is not a value of a setting.
    struct Problem: Error, CustomStringConvertible {
        /// The end of a sentence that begins with the setting and the text: "is not a size; write 50GB".
        let what: String

        var description: String { "it \(what)" }
    }

    /// Reads a path for flags and arguments of verbs.
    static let path = Parser<String>.path.read

    /// Parser of a setting's text.
    struct Parser<Value: Sendable>: Sendable {
        var valueType = ValueType.text
        let read: @Sendable (String) throws(Problem) -> Value
    }

    /// The name of the flag and of the YAML key, such as `data-dir`.
    let name: String
    /// The environment variable, for example `SCRIBE_DATA_DIR`.
    let environmentName: String
    /// One line for `--help`.
    let help: String
    /// The placeholder of the value in `--help`, such as `path`.
    let valueName: String
    /// The form of the values.
    let valueType: ValueType
    /// Whether `config print` and errors mask the value.
    private(set) var isSecret = false
    /// The text of the default; empty without a default.
    let defaultText: String
    /// The default for `docs/configuration.md`, in Markdown; it may say more than ``defaultText``.
    let pageDefault: String
    /// The description for `docs/configuration.md`, in Markdown.
    let page: String
    /// Parses a text and sets the value.
    let apply: @Sendable (String, inout Run) throws(Problem) -> Void

    /// - Parameters:
    ///   - defaultText: the text of the default; nil for `false` of a switch, and for no default of another setting.
    ///   - page: the description for `docs/configuration.md`; nil for the help.
    init<Value>(
        _ name: String, _ help: String, _ parser: Parser<Value>, default defaultText: String? = nil,
        valueName: String = "value", pageDefault: String? = nil, page: String? = nil,
        to path: any WritableKeyPath<Run, Value> & Sendable
    ) {
        self.init(name, help, parser, default: defaultText, valueName: valueName, pageDefault: pageDefault, page: page)
        { $1[keyPath: path] = $0 }
    }

    /// Makes a setting without a default, whose property is nil unless it is set.
    init<Value>(
        _ name: String, _ help: String, _ parser: Parser<Value>, valueName: String = "value",
        pageDefault: String? = nil, page: String? = nil, to path: any WritableKeyPath<Run, Value?> & Sendable
    ) {
        self.init(name, help, parser, default: "", valueName: valueName, pageDefault: pageDefault, page: page) {
            $1[keyPath: path] = $0
        }
    }

    init<Value>(
        _ name: String, _ help: String, _ parser: Parser<Value>, default defaultText: String? = nil,
        valueName: String = "value", pageDefault: String? = nil, page: String? = nil,
        _ set: @escaping @Sendable (Value, inout Run) throws(Problem) -> Void
    ) {
        self.name = name
        environmentName = Self.environmentName(of: name)
        self.help = help
        self.valueName = valueName
        valueType = parser.valueType
        let text = defaultText ?? (valueType == .boolean ? "false" : "")
        self.defaultText = text
        self.pageDefault = pageDefault ?? (text.isEmpty ? "" : "`\(text)`")
        self.page = page ?? help.prefix(1).lowercased() + help.dropFirst().dropLast()
        apply = { (text, run) throws(Problem) in try set(try parser.read(text), &run) }
    }

    /// Returns the setting with its value marked as a secret.
    func secret() -> Setting {
        var setting = self
        setting.isSecret = true
        return setting
    }

    /// Whether the flag takes no value. It then has an inverse that begins with `no-`.
    var isSwitch: Bool { valueType == .boolean }

    static func environmentName(of name: String) -> String {
        environmentPrefix + String(name.uppercased().map { $0 == "-" ? "_" : $0 })
    }

    static let environmentPrefix = "SCRIBE_"
    /// The environment variable with the path of the YAML file.
    static let configName = "SCRIBE_CONFIG"
    /// The environment variable with the signing key itself. It has no flag, since the process list shows flags.
    static let signingKeyName = "SCRIBE_SIGNING_KEY"
    /// The environment variable with the key of the speech service itself. It has no flag either.
    static let sttKeyName = "SCRIBE_STT_KEY"
    /// The environment variable with the key of the language model itself. It has no flag either.
    static let noteKeyName = "SCRIBE_NOTE_KEY"
    /// Environment variables with keys themselves.
    static let keyNames = [signingKeyName, sttKeyName, noteKeyName]
    /// Environment variables that are not settings: `env` prints them for clients, and tests read the last two.
    static let exportedNames = [
        "SCRIBE_BASE_URL", "SCRIBE_CLIENT_ID", "SCRIBE_CLIENT_SECRET", "SCRIBE_API_KEY", "SCRIBE_API_KEY_HEX",
        "SCRIBE_LISTEN_URL", "SCRIBE_TLS_URL", "SCRIBE_CA_FILE", "SCRIBE_BINARY", "SCRIBE_TRAP_ON_EVENT_LOOP",
    ]

    /// The table of `docs/configuration.md`.
    static var pageTable: String {
        (["| key | default | what it is |", "|---|---|---|"]
            + all.map { "| `\($0.name)` |\($0.pageDefault.isEmpty ? "" : " \($0.pageDefault)") | \($0.page) |" })
            .joined(separator: "\n")
    }
}
