import Crypto
import Foundation
import HummingbirdCore
import Outbound
import ScribeDomain
import ScribeHTTP

/// Parses `callback` and `callback_method`: another receiver of the results.
struct ListenCallback: Hashable, Sendable {
    /// The address without user and password; `http` stands for `ws`, and `https` for `wss`.
    let address: OutboundURL
    /// Whether results go over a WebSocket, which is for streams.
    let isSocket: Bool
    let method: String
    /// Headers of each message.
    let headers: [String: String]

    /// Longest time to resolve the host, and to open a socket there.
    static let patience: Duration = .seconds(10)

    /// Parses the query.
    /// - Parameters:
    ///   - request: The request's id.
    ///   - key: The caller's key, whose identifier the receiver gets as `dg-token`.
    /// - Returns: nil without a callback.
    /// - Throws: ``ScribeError/invalidRequest(field:problem:)``.
    init?(
        _ query: FlatDictionary<Substring, Substring>, isStream: Bool, request: String, key: String?
    ) throws(ScribeError) {
        // The method is for recordings alone (deepgram-rust-sdk, pull request 85).
        method = isStream ? "POST" : (query.text("callback_method") ?? "POST").uppercased()
        guard ["POST", "PUT"].contains(method) else {
            throw .invalidRequest(field: "callback_method", problem: "must be post or put")
        }
        guard let callback = query.text("callback") else { return nil }
        let scheme = callback.prefix { $0 != ":" }.lowercased()
        isSocket = isStream && ["ws", "wss"].contains(scheme)
        let (text, login) = Self.withoutLogin(
            isSocket ? "http\(scheme.dropFirst(2))\(callback.dropFirst(scheme.count))" : callback)
        address = try OutboundURL(field: "callback", text)
        var headers = ["Content-Type": "application/json", "dg-request-id": request]
        headers["Authorization"] = login.map { "Basic \(Data($0.utf8).base64EncodedString())" }
        headers["dg-token"] = key.map(Self.identifier)
        self.headers = headers
    }

    /// Takes user and password out of an address. Deepgram recommends them, so that a receiver knows its callers.
    private static func withoutLogin(_ text: String) -> (address: String, login: String?) {
        guard var parts = URLComponents(string: text), let user = parts.user else { return (text, nil) }
        let login = "\(user):\(parts.password ?? "")"
        (parts.user, parts.password) = (nil, nil)
        return (parts.string ?? text, login)
    }

    /// Identifier of a key, from which the key does not follow.
    static func identifier(of key: String) -> String { UUIDText.make(from: "key \(key)") }
}

/// Identifiers that follow from a text.
enum UUIDText {
    /// An identifier in the form of a UUID: the same text always has the same.
    static func make(from text: String) -> String {
        let digest = SHA256.hash(data: Data(text.utf8)).map { String(format: "%02x", $0) }.joined()
        func part(_ from: Int, _ count: Int) -> String { String(digest.dropFirst(from).prefix(count)) }
        return "\(part(0, 8))-\(part(8, 4))-4\(part(12, 3))-8\(part(15, 3))-\(part(18, 12))"
    }
}

extension OutboundURL {
    init(field: String, _ text: String) throws(ScribeError) {
        do {
            try self.init(text)
        } catch .invalid(let reason) {
            throw .invalidRequest(field: field, problem: reason)
        } catch {
            throw .invalidRequest(field: field, problem: "cannot be used")
        }
    }
}
