import Foundation
import HTTPTypes
import ScribeHTTP
import ScribeServer
import Suki
import TestSupport
import Testing

/// Suki's API as its clients speak it (suki.md).
extension TestScribeClient {
    package static let ambient = "/api/v1/ambient/session"

    /// A token that says who it is and that nobody has signed.
    package static func partnerToken(_ subject: String?, header: String = #"{"alg":"RS256","kid":"partner"}"#) -> String
    {
        let claims = subject.map { #"{"sub":"\#($0)","exp":4102444800}"# } ?? #"{"exp":4102444800}"#
        return "\(Base64URL.encode(Data(header.utf8))).\(Base64URL.encode(Data(claims.utf8))).c2ln"
    }

    package func register(_ subject: String, of partner: String = "demo-partner", _ more: String = "") async throws
        -> TestAnswer
    {
        try await post(
            "/api/v1/auth/register",
            #"{"partner_id":"\#(partner)","partner_token":"\#(Self.partnerToken(subject))","provider_name":"Dr","provider_org_id":"demo-org"\#(more)}"#
        )
    }

    package func logIn(_ subject: String, of partner: String = "demo-partner") async throws -> TestAnswer {
        try await post(
            "/api/v1/auth/login",
            #"{"partner_id":"\#(partner)","partner_token":"\#(Self.partnerToken(subject))"}"#)
    }

    /// Somebody who has registered and logged in.
    package func clinician(_ subject: String = "dr-rao", of partner: String = "demo-partner") async throws
        -> TestScribeClient
    {
        try #require([201, 409].contains(try await register(subject, of: partner).status))
        let answer = try await logIn(subject, of: partner)
        try #require(answer.status == 200, "\(answer.text)")
        var copy = self
        copy.headers[.sukiToken] = try answer["suki_token"]
        return copy
    }

    /// - Returns: the id of a new session.
    package func ambientSession(_ body: String = "{}") async throws -> String {
        let answer = try await post("\(Self.ambient)/create", body)
        try #require(answer.status == 201, "\(answer.text)")
        return try answer["ambient_session_id"]
    }

    package func ambient(_ id: String, _ path: String) async throws -> TestAnswer {
        try await get("\(Self.ambient)/\(id)/\(path)")
    }

    package func ambientStatus(_ id: String) async throws -> String { try await ambient(id, "status")["status"] }

    /// A stretch that was recorded offline.
    package func record(
        _ id: String, at time: String = "2026-05-10T09:12:33Z", _ audio: Data = TestAudio.wav(seconds: 2, rate: 16_000),
        hash: String? = nil
    ) async throws -> TestAnswer {
        var headers: HTTPFields = [.startTime: time]
        headers[.encryptionHash] = hash
        return try await send(.post, "\(Self.ambient)/\(id)/audio", headers: headers, body: audio)
    }

    package func endAmbient(_ id: String) async throws -> TestAnswer { try await post("\(Self.ambient)/\(id)/end", "") }

    /// Ends it, and waits until something has become of it.
    /// - Returns: what.
    package func finishAmbient(_ id: String) async throws -> String {
        try #require(try await endAmbient(id).status == 200)
        var status = "running"
        while status == "running" { status = try await ambientStatus(id) }
        return status
    }

    /// A whole visit of as many stretches of twenty seconds.
    package func visit(_ body: String = "{}", context: String = "{}", seconds: Double = 100) async throws -> String {
        let id = try await ambientSession(body)
        let answer = try await send(.patch, "\(Self.ambient)/\(id)/context", body: Data(context.utf8))
        try #require(answer.status == 200, "\(answer.text)")
        try #require(
            try await record(id, at: "2026-05-10T09:12:33Z", TestAudio.wav(seconds: seconds, rate: 16_000)).status
                == 200)
        try #require(try await finishAmbient(id) == "completed")
        return id
    }

    package func feedback(_ id: String, _ body: String, on entity: String = "content") async throws -> TestAnswer {
        try await post("\(Self.ambient)/\(id)/\(entity)/feedback", body)
    }
}

extension TestServer {
    /// One in which any recording is long enough.
    package static func ambient() throws -> TestServer {
        var server = try TestServer()
        server.configuration.suki.minimumDuration = .zero
        return server
    }
}

extension TestAnswer {
    /// What the message of a refusal begins with.
    package var errorID: String? { (try? self["message"]).map { String($0.prefix { $0 != ":" }) } }
}
