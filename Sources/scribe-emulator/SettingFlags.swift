import ArgumentParser
import Foundation

/// The flags of `serve`, each the twin of an environment variable and of a key in the YAML file.
struct SettingFlags: ParsableArguments {
    @Option(help: "A YAML file with any of these settings.")
    var config: String?

    @Option(help: "The address to listen on.")
    var host: String?

    @Option(help: "The port to listen on; 0 picks a free one.")
    var port: String?

    @Option(help: ArgumentHelp("A JSON file to write once the server is ready.", valueName: "path"))
    var readyFile: String?

    @Option(help: ArgumentHelp("The folder that keeps all data.", valueName: "path"))
    var dataDir: String?

    @Flag(inversion: .prefixedNo, help: "Keep the data in a temporary folder that is removed at the end.")
    var ephemeral: Bool?

    @Option(
        help: ArgumentHelp(
            "fake, openai:URL, deepgram:URL, or command:PROGRAM ARGUMENTS with {file}, {wav} and {language}."))
    var transcriber: String?

    @Option(help: "How long one recognition may take beyond the audio's own length, for example 120s.")
    var transcriberTimeLimit: String?

    @Option(help: "How many recognitions run at the same time.")
    var transcriberConcurrency: String?

    @Option(help: "A transcriber for what the first one fails at.")
    var fallbackTranscriber: String?

    @Option(help: "The speech service's model.")
    var sttModel: String?

    @Option(help: "The speech service's model for transactions that ask for lite.")
    var sttModelLite: String?

    @Option(help: "Words that the speech service is to expect.")
    var sttPrompt: String?

    @Option(help: "The longest recording that is sent to a speech service in one piece, for example 10m.")
    var sttLongest: String?

    @Option(help: ArgumentHelp("A file with the speech service's key.", valueName: "path"))
    var sttKeyFile: String?

    @Option(help: "Which tokens are accepted: lenient, open or strict.")
    var auth: String?

    @Flag(
        inversion: .prefixedNo,
        help: "Let lenient or open authentication be reached from beyond this machine."
    )
    var allowUnverifiedTokensFromNetwork: Bool?

    @Flag(inversion: .prefixedNo, help: "Whether the demo clients may log in; by default not in strict mode.")
    var demoSeed: Bool?

    @Option(help: ArgumentHelp("A YAML file with clients that may log in.", valueName: "path"))
    var clients: String?

    @Option(help: ArgumentHelp("A YAML file with fixtures for the fake transcriber.", valueName: "path"))
    var fixtures: String?

    @Option(help: ArgumentHelp("A file with the signing key, at least 32 bytes.", valueName: "path"))
    var signingKeyFile: String?

    @Option(help: "How long an access token can be used, for example 30m.")
    var accessTokenLifetime: String?

    @Option(help: "How long a refresh token can be used, for example 30d.")
    var refreshTokenLifetime: String?

    @Option(help: "How long S3 credentials can be used, for example 12h.")
    var credentialsLifetime: String?

    @Option(
        help:
            "Origins of web pages that may use the server, with commas between, or *; by default this machine's, in strict mode none."
    )
    var corsOrigins: String?

    @Option(help: "Which SDK a client id belongs to, where its requests do not say so: ID=PROFILE with commas between.")
    var clientProfiles: String?

    @Flag(
        inversion: .prefixedNo, help: "Answer as the vendor's documentation says where its clients need something else."
    )
    var strictDocs: Bool?

    @Option(help: "What acknowledged data survives: normal (a killed process) or full (a power cut).")
    var durability: String?

    @Option(help: "How long a status poll is held, for example 14s.")
    var longPoll: String?

    @Option(help: "How long after commit a listed file may still arrive, for example 10s.")
    var objectWait: String?

    @Option(help: "How much a business may store, for example 50GB; by default as much as there is.")
    var storageQuota: String?

    @Option(help: "How many transactions a client may have open at a time; by default any number.")
    var openTransactionsQuota: String?

    @Option(help: "How long the head of a request may take, and its body without going on, for example 10s.")
    var requestTimeout: String?

    @Option(help: "trace, debug, info, notice, warning, error or critical.")
    var logLevel: String?

    /// Those that were given.
    var given: [SettingKey: String] {
        let all: [(SettingKey, String?)] = [
            (.host, host), (.port, port), (.readyFile, readyFile), (.dataDir, dataDir),
            (.ephemeral, ephemeral?.description), (.transcriber, transcriber),
            (.transcriberTimeLimit, transcriberTimeLimit), (.transcriberConcurrency, transcriberConcurrency),
            (.fallbackTranscriber, fallbackTranscriber), (.sttModel, sttModel), (.sttModelLite, sttModelLite),
            (.sttPrompt, sttPrompt), (.sttLongest, sttLongest), (.sttKeyFile, sttKeyFile), (.auth, auth),
            (.allowUnverifiedTokens, allowUnverifiedTokensFromNetwork?.description),
            (.demoSeed, demoSeed?.description), (.clients, clients), (.fixtures, fixtures),
            (.signingKeyFile, signingKeyFile), (.accessTokenLifetime, accessTokenLifetime),
            (.refreshTokenLifetime, refreshTokenLifetime), (.credentialsLifetime, credentialsLifetime),
            (.corsOrigins, corsOrigins), (.clientProfiles, clientProfiles),
            (.strictDocs, strictDocs?.description), (.durability, durability), (.longPoll, longPoll),
            (.objectWait, objectWait), (.storageQuota, storageQuota),
            (.openTransactionsQuota, openTransactionsQuota), (.requestTimeout, requestTimeout), (.logLevel, logLevel),
        ]
        return Dictionary(uniqueKeysWithValues: all.compactMap { key, text in text.map { (key, $0) } })
    }

    /// - Throws: `ValidationError`, which ends the program with a usage message.
    func settings() throws -> Settings {
        do {
            return try Settings(
                flags: given, configFile: config, environment: ProcessInfo.processInfo.environment
            )
        } catch let problem as Settings.Problem {
            throw ValidationError(problem.description)
        }
    }
}
