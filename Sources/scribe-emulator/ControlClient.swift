import ArgumentParser
import Foundation
import NIOCore
import ScribeServer
import ScribeStore

/// Asks a running server at its door for operators. Verbs that are about a running server open nothing of its data.
struct ControlClient: Sendable {
    /// What the server answers instead of what was asked for.
    private struct Problem: Decodable {
        let detail: String
    }

    let baseURL: String
    let token: String?

    /// - Parameter path: behind `/__admin/`, perhaps with a query.
    /// - Throws: `ExitCode`, after it has said why.
    func send<Answer: Decodable>(_ method: String = "GET", _ path: String, _ body: Data? = nil) async throws -> Answer {
        try read(try await data(method, path, body))
    }

    /// What an answer says.
    /// - Throws: `ExitCode`, after it has said why.
    func read<Answer: Decodable>(_ data: Data) throws -> Answer {
        do {
            return try Self.decoded(data)
        } catch {
            StandardError.write(
                "scribe-emulator: \(baseURL) does not answer as a scribe-emulator does; name another server with --url")
            throw ExitCode.failure
        }
    }

    /// Why there is no answer.
    struct Refusal: Error {
        let reason: String
        /// Nil where no server answers.
        var status: Int?

        /// Whether a token is missing, or is not the server's.
        var wantsToken: Bool { status == 401 }
    }

    private static let tokenStep =
        "name the server's data folder with --data-dir, or set SCRIBE_ADMIN_TOKEN to what its file admin-token holds"

    /// The answer as it came.
    /// - Throws: `ExitCode`, after it has said why.
    func data(_ method: String = "GET", _ path: String, _ body: Data? = nil) async throws -> Data {
        do {
            return try await answer(method, path, body)
        } catch let refusal as Refusal {
            StandardError.write("scribe-emulator: \(refusal.reason)")
            throw ExitCode.failure
        }
    }

    /// The same for those who know what to say.
    /// - Throws: ``Refusal``.
    func answer(_ method: String = "GET", _ path: String, _ body: Data? = nil) async throws -> Data {
        let url = "\(baseURL)/__admin/\(path)"
        guard URL(string: url) != nil else { throw ValidationError("--url: \(baseURL)") }
        var headers: [String: String] = [:]
        if body != nil { headers["Content-Type"] = "application/json" }
        if let token { headers["Authorization"] = "Bearer \(token)" }
        guard
            let (status, data) = try? await OneRequest.answer(
                method, url, headers: headers, body: body, within: .seconds(30))
        else { throw Refusal(reason: "no server answers at \(baseURL); start one, or name another with --url") }
        guard (200..<300).contains(status) else {
            let problem: Problem? = try? JSONDecoder().decode(Problem.self, from: data)
            let reason = problem?.detail ?? "\(baseURL) answers \(status) to /__admin/\(path): is it a scribe-emulator?"
            guard status == 401 else { throw Refusal(reason: reason, status: status) }
            let what = token == nil ? "the admin token of \(baseURL) is needed" : "\(baseURL) has another admin token"
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

/// Which server's door a verb is to ask at.
struct ControlOptions: ParsableArguments {
    @OptionGroup var target: TargetOptions

    @Option(help: "The server's data folder, which may hold the token.")
    var dataDir: String?

    @Option(help: "The token, where it is not in the data folder or in SCRIBE_ADMIN_TOKEN.")
    var adminToken: String?

    func client() throws -> ControlClient {
        let baseURL = try target.readyBaseURL()
        let configuration = try target.run().configuration
        let file = "\(dataDir ?? configuration.dataFolder)/\(DataFolder.adminToken)"
        let kept = FileManager.default.contents(atPath: file).map {
            String(decoding: $0, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        }
        return ControlClient(baseURL: baseURL, token: adminToken ?? configuration.adminToken ?? kept)
    }
}
