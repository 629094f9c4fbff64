import Basics
import Documents
import Foundation
import NIOCore
import ScribeHTTP
import ScribeRuntime

/// One visit by the session protocol, from embedded speech to a note (medscribe.md 2).
struct DemoConsultation {
    enum Problem: Error, CustomStringConvertible {
        /// No server answered.
        case unreachable(String)
        /// An answer outside 2xx.
        case refused(step: String, status: Int, body: String)
        case noResult(status: String)

        var description: String {
            switch self {
            case .unreachable(let url): "no server answers at \(url)"
            case .refused(let step, let status, let body): "\(step) was answered with \(status): \(body)"
            case .noResult(let status): "the session ended as \(status)"
            }
        }
    }

    let baseURL: String
    let client: (id: String, secret: String)

    private static let template = "clinical_notes_template"
    private static let requestTime = TimeAmount.seconds(30)
    /// Longest wait for the note: real recognisers take longer than the speech.
    private static let longestWait: TimeInterval = 600

    /// Logs in, sends the speech, ends the session, waits for the note, and prints what came back.
    /// - Throws: ``Problem``.
    func run() async throws {
        let login: JSON = ["client_id": .string(client.id), "client_secret": .string(client.secret)]
        let tokens = try await send("the login", "POST", "/connect-auth/v1/account/login", json: login)
        let token = tokens["access_token"]?.stringValue ?? ""
        let draft: JSON = [
            "upload_type": "single", "templates": [.string(Self.template)],
            "patient_details": ["name": "Demo Patient"],
        ]
        let session = try await send("the new session", "POST", "/voice/v1/sessions", token, json: draft)
        let path = "/voice/v1/sessions/\(session["session_id"]?.stringValue ?? "")"
        let speech = document_consultation().bytes
        print("session \(session["session_id"]?.stringValue ?? ""): sending \(speech.count / 1000) KB of speech")
        _ = try await send(
            "the upload", "POST", "\(path)/audio/1.ogg", token, body: speech, type: "audio/ogg")
        _ = try await send("the end of the session", "POST", "\(path)/end", token, json: [:])
        let results = try await results(path, token)
        print("\nTRANSCRIPT\n\n\(results["transcript"]?.stringValue ?? "")\n\nNOTE\n")
        print(Self.note(in: results))
    }

    /// Waits for the results, which the server holds its answer for.
    private func results(_ path: String, _ token: String) async throws -> JSONValue {
        let clock = WallClock.system
        let end = clock.now.addingTimeInterval(Self.longestWait)
        var status = ""
        while clock.now < end {
            let found = try await send("the poll", "GET", path, token)
            status = found["status"]?.stringValue ?? ""
            if ["completed", "partial"].contains(status) { return found }
            guard status == "processing" else { break }
            try await clock.sleep(for: .milliseconds(200), as: .heldPoll)
        }
        throw Problem.noResult(status: status)
    }

    private static func note(in results: JSONValue) -> String {
        guard case .array(let notes)? = results["templates"], let data = notes.first?[template]?["data"] else {
            return "none"
        }
        return data.stringValue ?? String(decoding: JSON.value(data).bytes, as: UTF8.self)
    }

    private func send(
        _ step: String, _ method: String, _ path: String, _ token: String? = nil, json: JSON
    ) async throws -> JSONValue {
        try await send(step, method, path, token, body: [UInt8](json.bytes), type: "application/json")
    }

    private func send(
        _ step: String, _ method: String, _ path: String, _ token: String? = nil, body: [UInt8]? = nil,
        type: String? = nil
    ) async throws -> JSONValue {
        var headers = ["Accept": "application/json"]
        headers["Authorization"] = token.map { "Bearer \($0)" }
        headers["Content-Type"] = type
        let answer: OneRequest.Answer
        do {
            answer = try await OneRequest.answer(
                method, baseURL + path, headers: headers, body: body, within: Self.requestTime)
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            throw Problem.unreachable(baseURL)
        }
        guard (200..<300).contains(answer.status) else {
            throw Problem.refused(
                step: step, status: answer.status, body: String(decoding: answer.body.prefix(500), as: UTF8.self))
        }
        return JSONDocument.untrusted(answer.body, as: JSONValue.self) ?? .null
    }
}
