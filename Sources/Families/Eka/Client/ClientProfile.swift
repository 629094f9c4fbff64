/// Where clients of one API contradict each other, what this one needs (eka.md sections 9.1 and 10).
///
/// Decided once per request and handed to the encoders; a further client is a further value.
package struct ClientProfile: Hashable, Sendable {
    /// How errors and warnings of a result document are spelled.
    enum DiagnosticStyle: Hashable, Sendable {
        /// `{type, code, msg}` (C-41).
        case objects
        /// The message alone (C-42).
        case strings
    }

    /// What a change of the configuration or of a template is answered with.
    enum Acknowledgement: Hashable, Sendable {
        case object
        /// A bare JSON string (C-45).
        case string
    }

    /// The shape of the user's configuration.
    enum ConfigShape: Hashable, Sendable {
        /// Lists, and one map of how many of each may be chosen (C-91).
        case flat
        /// Each list with its own limit, and choices as objects (C-90).
        case nested
    }

    /// What it is called in the configuration.
    package let name: String
    /// The status when every document failed: 200 for clients that look into the documents (C-48), else 500.
    var allFailedStatus = 500
    /// The word for a failed document (C-50).
    var failureWord = "failure"
    /// Whether `partial_success` is a word that ends this client's polling.
    var knowsPartialSuccess = true
    var diagnosticStyle = DiagnosticStyle.objects
    var acknowledgement = Acknowledgement.object
    var configShape = ConfigShape.flat
    /// Whether `error` of a refused stop or commit is read as a text (C-27).
    var readsErrorAsText = false
    /// Whether an answer that has to wait holds empty lists; an older iOS client takes them for the end (C-44).
    var hasListsWhilePending = false

    static let generic = ClientProfile("generic")
    static let ios = ClientProfile("ios") {
        $0.allFailedStatus = 200
        $0.configShape = .nested
    }
    static let android = ClientProfile("android") {
        $0.allFailedStatus = 200
        $0.readsErrorAsText = true
    }
    static let legacyIOS = ClientProfile("legacy-ios") {
        $0.knowsPartialSuccess = false
        $0.acknowledgement = .string
    }
    static let web = ClientProfile("web")
    static let dotnet = ClientProfile("dotnet") {
        $0.allFailedStatus = 200
        $0.failureWord = "failed"
        $0.knowsPartialSuccess = false
        $0.diagnosticStyle = .strings
    }
    static let python = ClientProfile("python")
    /// What the documentation says, whoever asks.
    static let documented = ClientProfile("documented") {
        $0.diagnosticStyle = .strings
        $0.hasListsWhilePending = true
    }

    /// Those that a client id can be given in the configuration.
    package static let named: [ClientProfile] = [generic, ios, android, legacyIOS, web, dotnet, python]

    /// The profile that a `flavour` header names, nil for flavours that no SDK uses.
    init?(flavour: String) {
        switch flavour {
        case "ScribeIOS": self = .ios
        case "android", "scribe-android": self = .android
        case "io", "ip", "iOS-scribe", "iPad-scribe", "mac-scribe", "ios": self = .legacyIOS
        case "web", "extension": self = .web
        case _ where flavour.hasPrefix("ekascribe-"): self = .web
        default: return nil
        }
    }

    /// The profile that a `User-Agent` gives away.
    init?(userAgent: String) {
        let known: [(String, ClientProfile)] = [
            ("EkaCare-DotNet-SDK", .dotnet), ("python-requests", .python), ("okhttp", .android), ("Alamofire", .ios),
        ]
        guard let profile = known.first(where: { userAgent.contains($0.0) })?.1 else { return nil }
        self = profile
    }

    /// What a request says of its client: flavour first, then User-Agent; nil when neither is known.
    static func named(flavour: String?, userAgent: String?) -> ClientProfile? {
        flavour.flatMap(ClientProfile.init(flavour:)) ?? userAgent.flatMap(ClientProfile.init(userAgent:))
    }

    private init(_ name: String, _ adjust: (inout ClientProfile) -> Void = { _ in }) {
        self.name = name
        adjust(&self)
    }
}
