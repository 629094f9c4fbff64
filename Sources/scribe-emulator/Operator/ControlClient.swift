import ArgumentParser
import Basics
import DataFolder
import Foundation
import NIOCore
import NIOHTTP1
import ScribeDomain
import ScribeHTTP
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

    /// A copy for requests about the whole server, without a namespace.
    var ofServer: ControlClient { ControlClient(baseURL: baseURL, token: token) }

    /// Sends a request and decodes its answer.
    /// - Parameter path: The part behind `/__admin/`, with a query if there is one.
    /// - Throws: `ExitCode`, after it wrote the reason to standard error.
    func send<Answer: Decodable>(_ method: String = "GET", _ path: String, _ body: JSON? = nil) async throws -> Answer {
        try read(try await data(method, path, body))
    }

    /// Decodes an answer.
    /// - Throws: `ExitCode`, after it wrote the reason to standard error.
    func read<Answer: Decodable>(_ data: Data) throws -> Answer {
        do {
            return try Self.decoded(data)
        } catch {
            throw ExitCode.explained(
                "the server at \(baseURL) is not a scribe-emulator; name another one with --url")
        }
    }

    /// An answer outside 2xx, or none at all.
    struct Refusal: Error {
        /// A sentence for the user.
        let reason: String
        /// The HTTP status; nil if no server answered.
        var status: Int?
        /// The body of the answer.
        var body = Data()

        /// Writes the reason to standard error.
        /// - Returns: The exit code for it.
        func explained() -> ExitCode {
            ExitCode.explained(reason, as: status == nil ? .notReachable : .failure)
        }
    }

    private static let tokenStep =
        "name the server's data folder with --data-dir, or set SCRIBE_ADMIN_TOKEN to the content of its file admin-token"

    /// Sends a request and returns the answer's body undecoded.
    /// - Throws: `ExitCode`, after it wrote the reason to standard error.
    func data(
        _ method: String = "GET", _ path: String, _ body: JSON? = nil, within time: TimeAmount = .seconds(30)
    ) async throws -> Data {
        try await explained { try await answer(method, path, body, within: time) }
    }

    /// Writes an answer's body to a new file, as it comes.
    /// - Throws: `ExitCode`, after it wrote the reason to standard error.
    func download(_ path: String, to file: String) async throws {
        _ = try await transfer(path) { try await OneRequest.download($0, headers: headers, to: file, within: $1) }
    }

    /// Sends a file as the body of a request, and returns the answer's body undecoded.
    /// - Throws: `ExitCode`, after it wrote the reason to standard error.
    func upload(_ file: String, as type: String, by method: HTTPMethod = .PUT, _ path: String) async throws -> Data {
        try await transfer(path) {
            try await OneRequest.upload(file, as: type, by: method, $0, headers: headers, within: $1)
        }
    }

    /// Passes an answer's body on, as it comes. An answer that ends is no error.
    /// - Throws: `ExitCode`, after it wrote the reason to standard error.
    func stream(_ path: String, _ pass: (ByteBuffer) throws -> Void) async throws {
        _ = try await transfer(path) { try await OneRequest.stream($0, headers: headers, within: $1, pass) }
    }

    /// Runs a request of any length.
    /// - Parameter send: gets the URL, and the limit for the time without any byte.
    private func transfer(
        _ path: String, _ send: (String, TimeAmount) async throws -> OneRequest.Answer
    ) async throws -> Data {
        try await explained { try await checked(path) { try await send($0, .seconds(60)) } }
    }

    /// Runs a call, and writes the reason of a refusal to standard error.
    private func explained(_ call: () async throws -> Data) async throws -> Data {
        do {
            return try await call()
        } catch let refusal as Refusal {
            throw refusal.explained()
        } catch let problem as FileSystem.Failure {
            throw ExitCode.explained("\(problem)")
        }
    }

    /// Sends a request and returns the answer's body undecoded. Callers report a failure themselves.
    /// - Throws: ``Refusal``; `ValidationError` if the base URL cannot be parsed.
    func answer(
        _ method: String = "GET", _ path: String, _ body: JSON? = nil, within time: TimeAmount = .seconds(30)
    ) async throws -> Data {
        var headers = headers
        if body != nil { headers["Content-Type"] = "application/json" }
        return try await checked(path) { [headers] in
            try await OneRequest.answer(method, $0, headers: headers, body: body?.bytes, within: time)
        }
    }

    private var headers: [String: String] {
        var headers: [String: String] = [:]
        if let token { headers["Authorization"] = "Bearer \(token)" }
        if let namespace { headers["X-Scribe-Namespace"] = namespace.rawValue }
        return headers
    }

    /// Sends a request and checks its answer.
    /// - Parameter send: gets the URL.
    private func checked(
        _ path: String, _ send: (String) async throws -> OneRequest.Answer
    ) async throws -> Data {
        let url = "\(baseURL)/__admin/\(path)"
        guard URL(string: url) != nil else { throw ValidationError("--url: \(baseURL)") }
        let (status, data): (Int, Data)
        do {
            (status, data) = try await send(url)
        } catch let problem as FileSystem.Failure {
            throw problem
        } catch {
            throw Refusal(reason: "no server answers at \(baseURL); start one, or name another one with --url")
        }
        guard (200..<300).contains(status) else {
            let problem: Problem? = try? JSONDocument(data).decode(Problem.self)
            // The server names its own ways to choose a namespace.
            let detail = problem?.detail.replacing(NamespaceUse.controlWays, with: "--namespace NAME")
            let reason =
                detail
                ?? "\(baseURL) answers \(status) to /__admin/\(path); check that it is a scribe-emulator"
            guard status == 401 else { throw Refusal(reason: reason, status: status, body: data) }
            let what = token == nil ? "\(baseURL) requires its admin token" : "\(baseURL) has a different admin token"
            throw Refusal(reason: "\(what): \(Self.tokenStep)", status: status)
        }
        return data
    }

    static func decoded<Answer: Decodable>(_ data: Data) throws -> Answer {
        try JSONDocument(data).decode(readsSnakeCase: true)
    }
}

extension ExitCode {
    /// No server answers.
    static let notReachable = ExitCode(3)
    /// The command line is wrong.
    static let usage = ExitCode(2)
}

/// Flags that select a running server and the token for its operator API.
struct ControlOptions: ParsableArguments {
    @OptionGroup var target: TargetOptions

    @Option(help: "The server's data folder, where the server keeps its admin token.", transform: Setting.path)
    var dataDir: String?

    @Option(help: "The admin token, if it is neither in the data folder nor in SCRIBE_ADMIN_TOKEN.")
    var adminToken: String?

    /// - Parameter namespace: nil for that of the base URL, else the default world.
    func client(in namespace: NamespaceName? = nil) throws -> ControlClient {
        let place = try target.readyPlace()
        let configuration = try target.run().configuration
        let file = "\(dataDir ?? configuration.dataFolder)/\(DataFolder.adminToken)"
        let kept = FileManager.default.contents(atPath: file).map {
            String(decoding: $0, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        }
        return ControlClient(
            baseURL: place.server, token: adminToken ?? configuration.adminToken ?? kept,
            namespace: namespace ?? place.namespace)
    }
}
