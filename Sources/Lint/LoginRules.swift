import Basics
import Eka
import Foundation
import HTTPTypes
import Journal
import ScribeDomain
import ScribeHTTP

/// Rules about credentials.
enum LoginRules {
    static let inURL = LintRule(
        "token-in-url", .error, row: "eka.md 1.3", "A credential is in the address of a request",
        why: "Addresses are written to the logs of servers, proxies and browsers.",
        fix: "Send it in Authorization, or in Sec-WebSocket-Protocol where a page opens a socket.")
    static let late = LintRule(
        "refresh-late", .warning, row: "C-81", "The token is renewed only after it was refused",
        why: "The first request after each expiry is refused, and must be sent again.",
        fix: "Renew a minute before expires_in is over.", shippedBy: [.ios, .legacyIOS, .android, .web])
    static let often = LintRule(
        "refresh-each", .warning, row: "C-82", "The token is renewed again and again",
        why: "Each renewal is a login: the cloud limits them, and rotates the refresh token.",
        fix: "Keep the token until shortly before expires_in is over.", shippedBy: [.android])

    static let rules = [inURL, late, often]

    private static let names: Set = [
        "token", "access_token", "accesstoken", "refresh_token", "id_token", "auth", "authorization", "jwt", "bearer",
        "api_key", "apikey", "api-key", "key", "secret", "client_secret", "password", "sdp_suki_token",
    ]
    private static let refreshes: Set = ["refreshToken", "refresh", "refreshDesktop"]
    /// Renewals within a minute from which on they are told.
    private static let mostRenewals = 3

    static func addresses(_ exchanges: [LintedExchange]) -> [Found] {
        var found: [String: [LintedExchange]] = [:]
        for exchange in exchanges where exchange.kind != .delivery {
            guard let query = exchange.shown.query, !query.isEmpty else { continue }
            for part in query.split(separator: "&") {
                let name = part.prefix { $0 != "=" }.lowercased()
                if names.contains(name), part.utf8.count > name.utf8.count + 1 {
                    found[name, default: []].append(exchange)
                }
            }
        }
        return found.sorted { $0.key < $1.key }.map { name, exchanges in
            Found(inURL, "The parameter \(name) of \(exchanges.count.counted("request"))", exchanges)
        }
    }

    static func renewals(_ exchanges: [LintedExchange]) -> [Found] {
        var found: [Found] = []
        // The refused request and the renewal may have different headers, but come from one program.
        let groups = Dictionary(grouping: exchanges.filter { $0.kind == .request }) { $0.header("user-agent") ?? "" }
        for (_, group) in groups.sorted(by: { $0.key < $1.key }) {
            var (late, renewals): ([LintedExchange], [LintedExchange]) = ([], [])
            var refusal: LintedExchange?
            for exchange in group {
                if refreshes.contains(exchange.operation), exchange.isDone {
                    if let refused = refusal, exchange.startedAt.timeIntervalSince(refused.endedAt) < 5,
                        exchange.isRenewal(after: refused)
                    {
                        late.append(exchange)
                    } else {
                        renewals.append(exchange)
                    }
                    refusal = nil
                } else if exchange.status == 401, exchange.header("authorization") ?? exchange.header("auth") != nil {
                    refusal = exchange
                }
            }
            found += Found.ifAny(Self.late, "\(late.count.counted("renewal")) right after a 401", late)
            for renewals in chains(renewals) {
                let within = zip(renewals, renewals.dropFirst(mostRenewals - 1)).first {
                    $1.startedAt.timeIntervalSince($0.startedAt) < 60
                }
                if within != nil {
                    found.append(Found(often, "\(renewals.count) renewals, of which none followed a refusal", renewals))
                }
            }
        }
        return found
    }

    /// Renewals by their login: each sends a refresh token that an earlier one has sent or got.
    private static func chains(_ renewals: [LintedExchange]) -> [[LintedExchange]] {
        var chains: [[LintedExchange]] = []
        var known: [String: Int] = [:]
        for renewal in renewals {
            // Cookies renew without a token in the body.
            let sent = renewal.json?["refresh_token"]?.stringValue ?? renewal.header("cookie") ?? ""
            let chain = known[sent] ?? chains.count
            if chain == chains.count { chains.append([]) }
            chains[chain].append(renewal)
            known[sent] = chain
            if let next = renewal.answer?["refresh_token"]?.stringValue { known[next] = chain }
        }
        return chains
    }
}

extension LintedExchange {
    /// Whether a renewal is of the token that another request was refused for.
    fileprivate func isRenewal(after refused: LintedExchange) -> Bool {
        guard let token = json?["access_token"]?.stringValue else { return program == refused.program }
        return [refused.header("authorization"), refused.header("auth")].contains { $0?.hasSuffix(token) ?? false }
    }
}
