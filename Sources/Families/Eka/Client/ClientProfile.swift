/// Differences between the SDKs of the EkaScribe API, for one SDK (eka.md sections 9.1 and 9.2).
///
/// Chosen once per request and given to the encoders. Another SDK is another value of this type.
package struct ClientProfile: Hashable, Sendable {
    /// The profile's name in the server's configuration.
    package let name: String
    /// HTTP status if every document failed: 200 for SDKs that read the documents' own status (C-48), else 500.
    var allFailedStatus = 500
    /// Status word of a failed document (C-50).
    var failureWord = "failure"
    /// Whether `partial_success` ends this SDK's polling.
    var knowsPartialSuccess = true
    /// Whether errors and warnings of a document are their messages alone (C-42), not `{type, code, msg}` (C-41).
    var tellsDiagnosticsAsText = false
    /// Whether the answer to a change of the configuration or of a template is a bare JSON string (C-45).
    var wantsBareAcknowledgement = false
    /// Whether each list of the configuration has its own limit, and choices are objects (C-90). Else the lists are
    /// plain, and one map has the limit of each (C-91).
    var hasNestedConfig = false
    /// Whether the SDK reads `error` of a refused stop or commit as a text (C-27).
    var readsErrorAsText = false
    /// Whether the SDK declares integers with 32 bits, and refuses an answer with a larger one (C-121).
    var hasNarrowIntegers = false
    /// Whether a pending answer holds empty lists; an older iOS SDK takes empty lists for the end (C-44).
    var hasListsWhilePending = false

    static let generic = ClientProfile("generic")
    package static let ios = ClientProfile("ios") {
        $0.allFailedStatus = 200
        $0.hasNestedConfig = true
    }
    package static let android = ClientProfile("android") {
        $0.allFailedStatus = 200
        $0.readsErrorAsText = true
        $0.hasNarrowIntegers = true
    }
    package static let legacyIOS = ClientProfile("legacy-ios") {
        $0.knowsPartialSuccess = false
        $0.wantsBareAcknowledgement = true
    }
    package static let web = ClientProfile("web")
    package static let dotnet = ClientProfile("dotnet") {
        $0.allFailedStatus = 200
        $0.failureWord = "failed"
        $0.knowsPartialSuccess = false
        $0.tellsDiagnosticsAsText = true
    }
    package static let python = ClientProfile("python")
    /// The vendor's documentation, for every SDK.
    static let documented = ClientProfile("documented") {
        $0.tellsDiagnosticsAsText = true
        $0.hasListsWhilePending = true
    }

    /// Profiles that the configuration may assign to a client id.
    package static let named: [ClientProfile] = [generic, ios, android, legacyIOS, web, dotnet, python]

    /// The profile for a `flavour` header; nil for a flavour that no SDK sends.
    package init?(flavour: String) {
        switch flavour {
        case "ScribeIOS": self = .ios
        case "android", "scribe-android": self = .android
        case "io", "ip", "iOS-scribe", "iPad-scribe", "mac-scribe", "ios": self = .legacyIOS
        case "web", "extension": self = .web
        case _ where flavour.hasPrefix("ekascribe-"): self = .web
        default: return nil
        }
    }

    /// The profile for a `User-Agent`; nil for an unknown one.
    init?(userAgent: String) {
        let known: [(String, ClientProfile)] = [
            ("EkaCare-DotNet-SDK", .dotnet), ("python-requests", .python), ("okhttp", .android), ("Alamofire", .ios),
        ]
        guard let profile = known.first(where: { userAgent.contains($0.0) })?.1 else { return nil }
        self = profile
    }

    /// The profile for a request's headers: by flavour, else by User-Agent; nil if both are unknown.
    package static func named(flavour: String?, userAgent: String?) -> ClientProfile? {
        flavour.flatMap(ClientProfile.init(flavour:)) ?? userAgent.flatMap(ClientProfile.init(userAgent:))
    }

    /// Tells whether the SDK can decode an integer: Gson refuses a whole answer with an integer beyond Kotlin's `Int`.
    ///
    /// Only a patient's age can be so large; the other integers that the Android SDK declares as `Int` are small.
    func canDecode(_ value: Int64) -> Bool { !hasNarrowIntegers || Int32(exactly: value) != nil }

    private init(_ name: String, _ adjust: (inout ClientProfile) -> Void = { _ in }) {
        self.name = name
        adjust(&self)
    }
}
