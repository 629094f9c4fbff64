import ArgumentParser
import Foundation
import NIOCore
import ScribeDomain
import ScribeServer
import ScribeStore

/// Client of the operator API, `/__admin`, of a running server. Commands about a running server use it and never
/// open the data folder.
struct ControlClient: Sendable {
    /// The error body of the operator API.
    private struct Problem: Decodable {
        let detail: String
    }

    let baseURL: String
    let token: String?
    /// Namespace that the requests are about; nil for the default world.
    var namespace: NamespaceName?

    /// Sends a request and decodes its answer.
    /// - Parameter path: The part behind `/__admin/`, with a query if there is one.
    /// - Throws: `ExitCode`, after it wrote the reason to standard error.
    func send<Answer: Decodable>(_ method: String = "GET", _ path: String, _ body: Data? = nil) async throws -> Answer {
        try read(try await data(method, path, body))
    }

    /// Decodes an answer.
    /// - Throws: `ExitCode`, after it wrote the reason to standard error.
    func read<Answer: Decodable>(_ data: Data) throws -> Answer {
        do {
            return try Self.decoded(data)
        } catch {
            StandardError.write(
                "scribe-emulator: the server at \(baseURL) is not a scribe-emulator; name another one with --url")
            throw ExitCode.failure
        }
    }

    /// An answer outside 2xx, or none at all.
    struct Refusal: Error {
        /// A sentence for the user.
        let reason: String
        /// The HTTP status; nil if no server answered.
        var status: Int?

        /// Whether the admin token is missing or wrong.
        var wantsToken: Bool { status == 401 }
    }

    private static let tokenStep =
        "name the server's data folder with --data-dir, or set SCRIBE_ADMIN_TOKEN to the content of its file admin-token"

    /// Sends a request and returns the answer's body undecoded.
    /// - Throws: `ExitCode`, after it wrote the reason to standard error.
    func data(_ method: String = "GET", _ path: String, _ body: Data? = nil) async throws -> Data {
        do {
            return try await answer(method, path, body)
        } catch let refusal as Refusal {
            StandardError.write("scribe-emulator: \(refusal.reason)")
            throw ExitCode.failure
        }
    }

    /// Sends a request and returns the answer's body undecoded. Callers report a failure themselves.
    /// - Throws: ``Refusal``; `ValidationError` if the base URL cannot be parsed.
    func answer(_ method: String = "GET", _ path: String, _ body: Data? = nil) async throws -> Data {
        let url = "\(baseURL)/__admin/\(path)"
        guard URL(string: url) != nil else { throw ValidationError("--url: \(baseURL)") }
        var headers: [String: String] = [:]
        if body != nil { headers["Content-Type"] = "application/json" }
        if let token { headers["Authorization"] = "Bearer \(token)" }
        if let namespace { headers["X-Scribe-Namespace"] = namespace.rawValue }
        guard
            let (status, data) = try? await OneRequest.answer(
                method, url, headers: headers, body: body, within: .seconds(30))
        else { throw Refusal(reason: "no server answers at \(baseURL); start one, or name another one with --url") }
        guard (200..<300).contains(status) else {
            let problem: Problem? = try? JSONDecoder().decode(Problem.self, from: data)
            let reason =
                problem?.detail
                ?? "\(baseURL) answers \(status) to /__admin/\(path); check that it is a scribe-emulator"
            guard status == 401 else { throw Refusal(reason: reason, status: status) }
            let what = token == nil ? "\(baseURL) requires its admin token" : "\(baseURL) has a different admin token"
            throw Refusal(reason: "\(what): \(Self.tokenStep)", status: status)
        }
        return data
    }

    static func decoded<Answer: Decodable>(_ data: Data) throws -> Answer {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(Answer.self, from: data)
    }
}

/// Flags that select a running server and the token for its operator API.
struct ControlOptions: ParsableArguments {
    @OptionGroup var target: TargetOptions

    @Option(help: "The server's data folder, where the server keeps its admin token.")
    var dataDir: String?

    @Option(help: "The admin token, if it is neither in the data folder nor in SCRIBE_ADMIN_TOKEN.")
    var adminToken: String?

    /// - Parameter namespace: nil for the default world.
    func client(in namespace: NamespaceName? = nil) throws -> ControlClient {
        let baseURL = try target.readyBaseURL()
        let configuration = try target.run().configuration
        let file = "\(dataDir ?? configuration.dataFolder)/\(DataFolder.adminToken)"
        let kept = FileManager.default.contents(atPath: file).map {
            String(decoding: $0, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        }
        return ControlClient(
            baseURL: baseURL, token: adminToken ?? configuration.adminToken ?? kept, namespace: namespace)
    }
}
