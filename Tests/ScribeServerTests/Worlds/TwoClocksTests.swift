import Basics
import Foundation
import HTTPTypes
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ServerTestSupport
import TestSupport
import Testing

@testable import ScribeServer

/// What a client compares with its own clock is the machine's time, and what we issue ends by either clock.
struct TwoClocksTests {
    private let fixture: TemporaryWorldFixture

    init() throws { fixture = try TemporaryWorldFixture() }

    /// Far behind the machine's clock, and far ahead of it.
    private static let years = [1980, 2030, 2090]

    /// Sets the world's clock to the beginning of a year.
    private static func set(_ clock: WorldClock, to year: Int) throws {
        let date = try Date("\(year)-01-01T00:00:00Z", strategy: .iso8601)
        clock.move(by: date.timeIntervalSince(clock.now))
    }

    @Test("logins, uploads and links work whatever year the world's clock shows", arguments: years)
    func anyTime(year: Int) async throws {
        let manual = fixture.server.manual
        try await fixture.run { anonymous, world in
            try Self.set(world.runtime.clock, to: year)
            let client = try await anonymous.login()
            try await client.consultation("t", at: manual.now)
            let status = try await client.status("t")
            #expect(status.status == 200, "\(status.text)")
            let session = try await client.session()
            #expect(try await client.end(session).status == 202)
            let clinician = try await anonymous.clinician()
            let id = try await clinician.ambientSession()
            #expect(try await clinician.record(id).status == 200)
            let answer = try await Self.sendForm(from: client)
            #expect(answer.status == 204, "\(answer.text)")
        }
    }

    @Test("times that clients compare with their own clock come from the machine's clock")
    func wallTimes() async throws {
        let manual = fixture.server.manual
        try await fixture.run { anonymous, world in
            try Self.set(world.runtime.clock, to: 2090)
            let login = try await anonymous.post(
                "/connect-auth/v1/account/login", #"{"client_id":"dev-client","client_secret":"dev-secret"}"#)
            let claims = try #require(UnverifiedToken(try login["access_token"]))
            #expect(claims.issuer == "scribe-emulator")
            let client = try await anonymous.login()
            let credentials = try await client.get("/credentials")
            let expiration = try Date(try credentials["credentials.Expiration"] as String, strategy: .iso8601)
            #expect(expiration.timeIntervalSince(manual.now) <= 12 * 3600)
            #expect(try await client.initialise("t").status == 201)
            let found = try await client.get("/voice/api/v2/transaction/t")
            #expect(found.text.contains("2090-01-01"), "rows have the world's time: \(found.text)")
        }
    }

    @Test("tokens, credentials and upload forms expire when the world's clock passes their lifetime")
    func endsByWorld() async throws {
        let manual = fixture.server.manual
        try await fixture.run { anonymous, world in
            let clock = world.runtime.clock
            try Self.set(clock, to: 2030)
            let login = try await anonymous.post(
                "/connect-auth/v1/account/login", #"{"client_id":"dev-client","client_secret":"dev-secret"}"#)
            let refresh = #"{"refresh_token":"\#(try login["refresh_token"] as String)"}"#
            let client = try await anonymous.login()
            let clinician = try await anonymous.clinician()
            let signer = try await client.signer()
            let form = try await Self.form(from: client)
            #expect(try await client.initialise("t").status == 201)

            clock.move(by: 4 * 3600)
            #expect(try await Self.send(form, from: client).status == 403, "its three hours have passed")
            #expect(
                try await clinician.post("\(TestScribeClient.ambient)/create", "{}").status == 401,
                "its hour has passed")
            let path = "/\(TestScribeClient.bucket)/260510/t/1.m4a"
            func upload() async throws -> TestAnswer {
                try await anonymous.send(
                    .put, path, headers: signer.sign("PUT", path, at: manual.now),
                    body: TestAudio.wav(seconds: 2))
            }
            #expect(try await upload().status == 200, "its twelve hours have not")

            clock.move(by: 365 * 86_400)
            #expect(try await client.get("/voice/api/v2/transaction/t").status == 401)
            let late = try await upload()
            #expect(late.status == 400 && late.text.contains("ExpiredToken"), "\(late.text)")
            let refreshed = try await anonymous.post("/connect-auth/v1/account/refresh", refresh)
            #expect(refreshed.status == 403, "\(refreshed.text)")

            // Fresh ones are as good as any.
            let again = try await anonymous.login()
            #expect(try await again.get("/voice/api/v2/transaction/t").status == 200)
        }
    }

    @Test("a token expires by the machine's clock though the world's clock is set back")
    func endsByMachine() async throws {
        let manual = fixture.server.manual
        try await fixture.run { anonymous, world in
            let client = try await anonymous.login()
            #expect(try await client.initialise("t").status == 201)
            world.runtime.clock.move(by: -10 * 365 * 86_400)
            #expect(try await client.get("/voice/api/v2/transaction/t").status == 200)
            manual.advance(by: .seconds(86_400))
            #expect(try await client.get("/voice/api/v2/transaction/t").status == 401)
        }
    }

    @Test("a held poll ends by the machine's clock, wherever the world's clock is set meanwhile")
    func heldPoll() async throws {
        let manual = fixture.server.manual
        try await fixture.run { anonymous, world in
            let client = try await anonymous.login()
            #expect(try await client.initialise("t").status == 201)
            async let answer = client.status("t", "?waitTime=10")
            try await manual.waitFor(.heldPoll)
            world.runtime.clock.move(by: -3600)
            manual.advance(by: .seconds(60))
            #expect(try await answer.status == 202)
        }
    }

    // MARK: Forms

    private static func form(from client: TestScribeClient) async throws -> PresignedPost {
        let answer = try await client.post("/v1/file-upload?txn_id=f-1&action=ekascribe-v2", "{}")
        return try answer.decoded()
    }

    private static func send(_ post: PresignedPost, from client: TestScribeClient) async throws -> TestAnswer {
        let form = MultipartForm(
            dialect: .browser, fields: post.fieldsAfterKey(post.folderPath + "a.wav"), name: "a.wav",
            type: "audio/wav", data: TestAudio.wav(seconds: 2))
        let url = try #require(URLComponents(string: post.uploadData.url))
        return try await TestScribeClient(door: client.door).send(
            .post, url.path, headers: HTTPFields([("Content-Type", form.contentType)]), body: form.body)
    }

    private static func sendForm(from client: TestScribeClient) async throws -> TestAnswer {
        try await send(form(from: client), from: client)
    }
}
