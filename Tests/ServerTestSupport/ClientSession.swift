import Basics
import Eka
import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import S3
import ScribeHTTP
import ScribeServer
import TestSupport
import Testing

/// An SDK's connection to the API: the headers that it adds, and what it does about a 401.
package struct ClientSession: Sendable {
    package struct Tokens: Decodable, Sendable {
        package let accessToken: String
        package let refreshToken: String
        package let expiresIn: Int
        package let refreshExpiresIn: Int
    }

    /// How the session asks for new tokens.
    package enum Refresh: Sendable {
        /// Not at all.
        case none
        /// With both tokens, and the expired one in the headers.
        case withBothTokens
        /// By the older path, with nothing but the refresh token.
        case older
    }

    /// The server without any of the session's headers: the AWS SDKs send none of them.
    package let server: TestScribeClient
    package let clock: ManualClock
    package let tokens: Box<Tokens>
    /// How many times a refresh was asked for.
    package let refreshCount = Box(0)
    package let refresh: Refresh
    package let headers: @Sendable (Tokens) -> HTTPFields
    package var host = "api.eka.care"

    package init(
        _ server: TestScribeClient, _ clock: ManualClock, login: String, refresh: Refresh,
        headers: @escaping @Sendable (Tokens) -> HTTPFields
    ) async throws {
        let answer = try await server.send(
            .post, "/connect-auth/v1/account/login", host: "api.eka.care",
            headers: [.contentType: "application/json"], body: Data(login.utf8)
        )
        (self.server, self.clock, self.refresh, self.headers) = (server, clock, refresh, headers)
        tokens = Box(try answer.decoded(status: 200))
    }

    /// Sends what the SDK sends; after a 401 it refreshes once and tries again.
    package func send(
        _ method: HTTPRequest.Method, _ path: String, _ body: String? = nil, host: String? = nil,
        more: HTTPFields = [:]
    ) async throws -> TestAnswer {
        let answer = try await attempt(method, path, body, host, more)
        guard answer.status == 401, try await refreshTokens() else { return answer }
        return try await attempt(method, path, body, host, more)
    }

    /// Both tokens must be there, or the SDK takes the session for expired.
    package func refreshTokens() async throws -> Bool {
        let old = tokens.value
        let answer: TestAnswer
        refreshCount.set(refreshCount.value + 1)
        switch refresh {
        case .none:
            return false
        case .withBothTokens:
            answer = try await attempt(
                .post, "/connect-auth/v1/account/refresh-token",
                #"{"refresh_token":"\#(old.refreshToken)","access_token":"\#(old.accessToken)"}"#, nil, [:]
            )
        case .older:
            answer = try await server.send(
                .post, "/connect-auth/v1/account/refresh", host: host, headers: [.contentType: "application/json"],
                body: Data(#"{"refresh_token":"\#(old.refreshToken)"}"#.utf8)
            )
        }
        guard (200..<300).contains(answer.status) else { return false }
        let new: Tokens = try answer.decoded()
        try #require(!new.accessToken.isEmpty && !new.refreshToken.isEmpty)
        tokens.set(new)
        return true
    }

    private func attempt(
        _ method: HTTPRequest.Method, _ path: String, _ body: String?, _ host: String?, _ more: HTTPFields
    ) async throws -> TestAnswer {
        var fields = headers(tokens.value) + more
        if body != nil, fields[.contentType] == nil { fields[.contentType] = "application/json" }
        return try await server.send(
            method, path, host: host ?? self.host, headers: fields, body: body.map { Data($0.utf8) }
        )
    }
}

extension TestScribeClient {
    /// Sends to the server under any name, as clients do whose DNS leads here. Each request has its own connection,
    /// and the server must be on a socket.
    package func send(
        _ method: HTTPRequest.Method, _ uri: String, host: String, headers: HTTPFields = [:], body: Data? = nil
    ) async throws -> TestAnswer {
        let request = TestClient.Request(
            uri, method: method, authority: host, headers: self.headers + headers,
            body: body.map { ByteBuffer(bytes: $0) } ?? (method == .post ? ByteBuffer() : nil)
        )
        let port = try #require(port)
        let answer = try await TestClient.withClient(host: "127.0.0.1", port: port, configuration: .patient) {
            try await $0.answer(to: request)
        }
        ExchangeLog.append(method, uri, answer)
        return answer
    }
}

extension TestAnswer {
    /// The body as a client's type, whose properties are named after the fields.
    package func decoded<Value: Decodable>(as type: Value.Type = Value.self, status: Int? = nil) throws -> Value {
        if let status { try #require(self.status == status, "\(text)") }
        return try JSONDocument(body).decode(readsSnakeCase: true)
    }

    package var isSuccess: Bool { (200..<300).contains(status) }
}

extension HTTPFields {
    /// Headers by their names as clients write them.
    package init(_ pairs: [(String, String)]) {
        self.init()
        for (name, value) in pairs {
            guard let name = HTTPField.Name(name) else { preconditionFailure("\(name) is no header name") }
            append(HTTPField(name: name, value: value))
        }
    }
}

extension ManualClock {
    /// Performs a request that the server holds: as soon as it does, time passes.
    /// - Parameter hasJob: whether there is a job that waits for its time as well.
    package func letting(
        pass duration: Duration?, hasJob: Bool = true, _ request: () async throws -> TestAnswer
    ) async throws -> TestAnswer {
        guard let duration else { return try await request() }
        let passing = Task {
            try await waitFor(.heldPoll)
            if hasJob { try await waitFor(.jobRunner) }
            advance(by: duration)
        }
        // An answer that comes at once, or none at all, is no reason to wait for ever.
        defer { passing.cancel() }
        return try await request()
    }
}

extension String {
    /// The text behind strict base64: the standard alphabet, padded, in one line.
    package var base64Text: String? { Data(base64Encoded: self).flatMap { String(data: $0, encoding: .utf8) } }

    /// This text as clients put it into `data`.
    package var base64: String { Data(utf8).base64EncodedString() }
}
