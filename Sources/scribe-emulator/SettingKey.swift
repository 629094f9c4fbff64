import Foundation

/// Everything that can be set, by the name that it has as a flag and in the YAML file.
enum SettingKey: String, CaseIterable {
    case host
    case port
    case readyFile = "ready-file"
    case dataDir = "data-dir"
    case ephemeral
    case transcriber
    case transcriberTimeLimit = "transcriber-time-limit"
    case transcriberConcurrency = "transcriber-concurrency"
    case fallbackTranscriber = "fallback-transcriber"
    case sttModel = "stt-model"
    case sttModelLite = "stt-model-lite"
    case sttPrompt = "stt-prompt"
    case sttLongest = "stt-longest"
    case sttKeyFile = "stt-key-file"
    case auth
    case allowUnverifiedTokens = "allow-unverified-tokens-from-network"
    case demoSeed = "demo-seed"
    case clients
    case fixtures
    case signingKeyFile = "signing-key-file"
    case accessTokenLifetime = "access-token-lifetime"
    case refreshTokenLifetime = "refresh-token-lifetime"
    case credentialsLifetime = "credentials-lifetime"
    case corsOrigins = "cors-origins"
    case clientProfiles = "client-profiles"
    case strictDocs = "strict-docs"
    case durability
    case longPoll = "long-poll"
    case objectWait = "object-wait"
    case storageQuota = "storage-quota"
    case openTransactionsQuota = "open-transactions-quota"
    case requestTimeout = "request-timeout"
    case logLevel = "log-level"

    /// The name of its environment variable, for example `SCRIBE_DATA_DIR`.
    var environmentName: String {
        Self.environmentPrefix + rawValue.uppercased().replacingOccurrences(of: "-", with: "_")
    }

    static let environmentPrefix = "SCRIBE_"
    /// The YAML file itself cannot be named in it.
    static let configName = "SCRIBE_CONFIG"
    /// The key as such is taken from the environment only: flags show in the process list.
    static let signingKeyName = "SCRIBE_SIGNING_KEY"
    /// The same goes for the key of the speech service.
    static let sttKeyName = "SCRIBE_STT_KEY"
    /// Set by `env`, for those who use the server.
    static let exportedNames = ["SCRIBE_BASE_URL", "SCRIBE_CLIENT_ID", "SCRIBE_CLIENT_SECRET"]
}
