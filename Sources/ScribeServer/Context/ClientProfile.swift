/// Where clients of one API contradict each other, what this one needs (eka-v2.md sections 9.1 and 10).
///
/// Decided once per request and handed to the encoders; a further client is a further value.
struct ClientProfile: Hashable, Sendable {
    /// How errors and warnings of a result document are spelled.
    enum DiagnosticStyle: Hashable, Sendable {
        /// `{type, code, msg}` (C-41).
        case objects
        /// The message alone (C-42).
        case strings
    }

    let name: String
    /// The status when every document failed: 200 for clients that look into the documents (C-48), else 500.
    var allFailedStatus = 500
    /// The word for a failed document (C-50).
    var failureWord = "failure"
    /// Whether `partial_success` is a word that ends this client's polling.
    var knowsPartialSuccess = true
    var diagnosticStyle = DiagnosticStyle.objects

    static let generic = ClientProfile(name: "generic")
    static let ios = ClientProfile(name: "ios", allFailedStatus: 200)
    static let android = ClientProfile(name: "android", allFailedStatus: 200)
    static let legacyIOS = ClientProfile(name: "legacy-ios", knowsPartialSuccess: false)
    static let web = ClientProfile(name: "web")
    static let dotnet = ClientProfile(
        name: "dotnet", allFailedStatus: 200, failureWord: "failed", knowsPartialSuccess: false,
        diagnosticStyle: .strings
    )
    static let python = ClientProfile(name: "python")

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

    private init(
        name: String, allFailedStatus: Int = 500, failureWord: String = "failure", knowsPartialSuccess: Bool = true,
        diagnosticStyle: DiagnosticStyle = .objects
    ) {
        self.name = name
        self.allFailedStatus = allFailedStatus
        self.failureWord = failureWord
        self.knowsPartialSuccess = knowsPartialSuccess
        self.diagnosticStyle = diagnosticStyle
    }
}
