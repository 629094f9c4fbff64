import AsyncHTTPClient
import Basics
import Foundation
import NIOCore
import NIOHTTP1
import NIOSSL

/// Requests to a server as a client of this machine sends them.
struct Probe {
    /// Result of a request.
    enum Outcome {
        /// An HTTP answer.
        /// - server: The `Server` header; empty without one.
        /// - date: The `Date` header: the server's clock.
        case answered(status: Int, server: String, date: Date?)
        /// The certificate is not from a trusted authority, or not for the host.
        case untrusted
        /// No connection, by the reason.
        case refused(String)
    }

    /// Sends a GET request.
    /// - Parameters:
    ///   - authority: The path of a PEM file with the only trusted authority; nil for those of the system.
    ///   - address: The IP address to connect to, in place of the host's own.
    static func ask(_ url: String, trusting authority: String?, at address: String? = nil) async -> Outcome {
        var tls = TLSConfiguration.makeClientConfiguration()
        if let authority { tls.trustRoots = .file(authority) }
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: tls, redirectConfiguration: .disallow,
            timeout: .init(connect: .seconds(3), read: .seconds(5)))
        if let address, let host = URL(string: url)?.host() { configuration.dnsOverride = [host: address] }
        configuration.connectionPool.retryConnectionEstablishment = false
        do {
            let response = try await HTTPClient.withHTTPClient(configuration: configuration) {
                try await $0.execute(HTTPClientRequest(url: url), timeout: .seconds(8))
            }
            return .answered(
                status: Int(response.status.code), server: response.headers.first(name: "server") ?? "",
                date: response.headers.first(name: "date").flatMap(Date.init(httpTime:)))
        } catch let error as NIOSSLError {
            return "\(error)".contains("CERTIFICATE_VERIFY_FAILED") ? .untrusted : .refused("\(error)")
        } catch let error as HTTPClientError where error == .connectTimeout {
            return .refused("no answer within 3 s")
        } catch {
            let text = "\(error)"
            return text.contains("CERTIFICATE_VERIFY_FAILED")
                ? .untrusted : .refused(text.contains("refused") ? "nothing listens there" : text)
        }
    }
}
