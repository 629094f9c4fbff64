import Basics
import Foundation
import HTTPTypes
import ScribeStore
import ServerTestSupport
import TestSupport
import Testing

@testable import Eka
@testable import ScribeHTTP
@testable import ScribeServer

struct DeviceRoutesTests {
    private static let code = "/connect-auth/v1/device/code"
    private static let token = "/connect-auth/v1/device/token"
    private static let approve = "/connect-auth/v1/device/approve"

    private func strict() throws -> TestServer {
        var server = try TestServer()
        server.configuration.authMode = .strict
        server.configuration.hasDemoSeed = true
        return server
    }

    @Test("a device polls until a user approves its code, and then gets that user's token once")
    func approval() async throws {
        let server = try strict()
        let manual = server.manual
        try await server.run { anonymous in
            let begun = try await anonymous.post(Self.code, #"{"redirect_uri":"vaarta://done"}"#)
            #expect(begun.status == 200)
            #expect(begun.json["expires_in"] == .integer(600))
            #expect(begun.json["interval"] == .integer(5))
            let (device, user) = (try begun["device_code"], try begun["user_code"])
            #expect(try begun["verification_uri_complete"].hasSuffix("/auth/activate?user_code=\(user)"))
            func ask() async throws -> TestAnswer {
                try await anonymous.post(Self.token, #"{"device_code":"\#(device)"}"#)
            }
            #expect(try await ask()["error.code"] == "authorization_pending")
            #expect(try await ask()["error.code"] == "slow_down")
            manual.advance(by: .seconds(5))
            let client = try await anonymous.login("dev-client-2", "dev-secret-2")
            #expect(try await anonymous.post(Self.approve, #"{"user_code":"\#(user)"}"#).status == 401)
            #expect(try await client.post(Self.approve, #"{"user_code":"BBBB-BBBC"}"#).status == 404)
            #expect(try await client.post(Self.approve, #"{"user_code":"B"}"#).status == 400)
            let typed = user.lowercased().replacing("-", with: " ")
            let approved = try await client.post(Self.approve, #"{"user_code":"\#(typed)"}"#)
            #expect(try approved["result"] == "approved")
            #expect(try approved["redirect_uri"] == "vaarta://done")
            let tokens = try await ask()
            #expect(tokens.status == 200)
            let whoAmI = try await anonymous.get(
                "/connect-auth/v1/account/whoami",
                headers: [.authorization: "Bearer \(try tokens["access_token"])"])
            #expect(try whoAmI["workspace_id"] == "b-demo-2")
            let renewed = try await anonymous.post(
                "/connect-auth/v1/refresh", #"{"refresh_token":"\#(try tokens["refresh_token"])"}"#)
            #expect(renewed.status == 200)
            #expect(try await ask()["error.code"] == "invalid_device_code")
        }
    }

    @Test("a device gets no token if its code is denied or not approved in time")
    func refusal() async throws {
        let server = try strict()
        let manual = server.manual
        try await server.run { anonymous in
            let client = try await anonymous.login()
            let denied = try await anonymous.post(Self.code, "{}")
            let answer = try await client.post(
                Self.approve, #"{"user_code":"\#(try denied["user_code"])","action":"deny"}"#)
            #expect(try answer["result"] == "denied")
            let body = #"{"device_code":"\#(try denied["device_code"])"}"#
            #expect(try await anonymous.post(Self.token, body)["error.code"] == "access_denied")

            let late = try await anonymous.post(Self.code, "")
            manual.advance(by: .seconds(600))
            #expect(
                try await anonymous.post(Self.token, #"{"device_code":"\#(try late["device_code"])"}"#)[
                    "error.code"] == "expired_token")
            #expect(
                try await client.post(Self.approve, #"{"user_code":"\#(try late["user_code"])"}"#).status == 404)
        }
    }

    @Test("unless the mode is strict, a device acts for the demo client at once")
    func lenient() async throws {
        try await TestServer().run { anonymous in
            let begun = try await anonymous.post(Self.code, "{}")
            let tokens = try await anonymous.post(
                Self.token, #"{"device_code":"\#(try begun["device_code"])"}"#)
            #expect(tokens.status == 200)
            let page = try await anonymous.get("/auth/activate?user_code=\(try begun["user_code"])")
            #expect(page.status == 200)
            #expect(page.text.contains("Nobody needs to approve it"))
        }
    }

    @Test(
        "a device login refuses a redirect to a page elsewhere",
        arguments: ["https://evil.example", "javascript:alert(1)", "http://127.0.0.1.evil.example/", "vaarta://a b"])
    func redirects(uri: String) async throws {
        try await TestServer().run { anonymous in
            let answer = try await anonymous.post(Self.code, #"{"redirect_uri":"\#(uri)"}"#)
            #expect(answer.status == 400)
            #expect(try answer["error.code"] == "invalid_redirect_uri")
        }
    }

    /// Codes that differ, whatever is asked for.
    private func logins(_ manual: ManualClock = ManualClock()) throws -> DeviceLogins {
        let counter = LockedValue<UInt64>(0)
        let identifiers = IdentifierSource(
            uuid: { UUID() },
            bytes: { count in
                let number = counter.withLock { value in
                    value += 1
                    return value
                }
                return (0..<count).map { UInt8(truncatingIfNeeded: number >> (4 * $0)) & 15 }
            })
        return DeviceLogins(store: try memoryStore(), identifiers: identifiers, clock: manual.world)
    }

    /// Whether a device still waits for somebody.
    private func isPending(_ device: String, _ logins: DeviceLogins) async -> Bool {
        do {
            _ = try await logins.redeem(device)
            return false
        } catch {
            return error as? DeviceLogins.Refusal == .pending
        }
    }

    private func memoryStore() throws -> Store { try StoreImage().store(transcribesOnArrival: false) }

    @Test("an address has at most twenty pending device logins, and one more ends its own oldest")
    func maxOfAddress() async throws {
        let logins = try logins()
        func begin(_ device: String, from address: String) async throws -> String? {
            try await logins.begin(deviceCode: device, redirect: nil, approvedBy: nil, from: address)
        }
        #expect(try await begin("other", from: "198.51.100.7") != nil)
        for number in 0..<100 { #expect(try await begin("\(number)", from: "203.0.113.9") != nil) }
        #expect(await isPending("other", logins))
        var pending: [Int] = []
        for number in 0..<100 where await isPending("\(number)", logins) { pending.append(number) }
        #expect(pending == Array(80..<100))
    }

    @Test(
        "with a thousand pending device logins the busiest address loses its oldest, and expired ones are removed")
    func most() async throws {
        let manual = ManualClock()
        let logins = try logins(manual)
        func begin(_ device: String, from address: String) async throws -> String? {
            try await logins.begin(deviceCode: device, redirect: nil, approvedBy: nil, from: address)
        }
        #expect(try await begin("busy 1", from: "busy") != nil)
        #expect(try await begin("busy 2", from: "busy") != nil)
        for number in 0..<998 { #expect(try await begin("\(number)", from: "\(number)") != nil) }
        #expect(try await begin("late", from: "late") != nil)
        #expect(await !isPending("busy 1", logins))
        #expect(try await begin("later", from: "later") != nil)
        #expect(await !isPending("busy 2", logins), "all have one: the oldest goes")
        for device in ["0", "997", "later"] { #expect(await isPending(device, logins)) }
        manual.advance(by: .seconds(601))
        #expect(try await begin("much later", from: "late") != nil)
        #expect(await !isPending("996", logins))
    }

    @Test("a pending device login's user code is not issued again")
    func collision() async throws {
        let logins = DeviceLogins(
            store: try memoryStore(),
            identifiers: IdentifierSource(uuid: { UUID() }, bytes: { [UInt8](repeating: 1, count: $0) }),
            clock: ManualClock().world)
        #expect(try await logins.begin(deviceCode: "1", redirect: nil, approvedBy: nil, from: "") == "CCCC-CCCC")
        #expect(try await logins.begin(deviceCode: "2", redirect: nil, approvedBy: nil, from: "") == nil)
    }
}
