import Basics
package import Foundation
package import HTTPTypes
package import Hummingbird
import Logging
import ScribeDomain

/// Explains refused and unrouted requests in the log, in at most 10 lines a second.
///
/// A line contains no query, no body, no object key, and no header values but host and origin. A routed path is logged
/// as its pattern, since parameters may be credentials. Of an unrouted path, components of routes and a mistyped one
/// are logged; others may be names.
package final class RefusalLog: Sendable {
    private struct Window: Sendable {
        var second = 0
        var lines = 0
        /// Refusals without a line since the last line.
        var leftOut = 0
    }

    private static let linesPerSecond = 10
    /// Longest logged path component, in bytes: a UUID fits, a token does not.
    private static let longestWord = 40
    private static let maxWords = 12
    private static let longestReason = 300

    let nearest: NearestRoute
    private let window = LockedValue(Window())

    /// - Parameter families: All served families.
    package init(families: [any Family]) {
        nearest = NearestRoute(
            families.compactMap { $0 as? RoutedFamily }.flatMap(\.routes).map { ($0.method.rawValue, $0.path) })
    }

    /// Logs a request that was refused, or whose page may not read the answer.
    package func log(
        _ explanation: RefusalFacts, of request: Request, _ status: HTTPResponse.Status, _ context: ScribeContext,
        at now: Date
    ) {
        let facts = explanation.facts
        let isRefused = (400..<500).contains(status.code) || status == .notImplemented
        let isExplained = facts.family != nil || facts.reason != nil
        guard (isRefused && isExplained) || facts.foreignOrigin != nil, let leftOut = admitLine(at: now) else { return }

        let address = RequestAddress(request)
        let route = context.endpointPath.flatMap { $0.hasPrefix("/") ? $0 : nil }
        let isUnrouted =
            isRefused && (context.endpointPath == "NotFound" || facts.claim == .rest && !address.isSigned)
        let isOfBucket = AudioLocation.bucket(ofVirtualHost: address.authority) != nil
        let isCompared = route == nil && (isUnrouted || facts.family == nil) && !facts.holdsKey && !isOfBucket
        let match = isCompared ? nearest.match(request.method.rawValue, address.path) : nil
        let path = route ?? (isOfBucket ? "/…" : shownPath(address.path, facts, match))
        let reason =
            facts.reason ?? facts.foreignOrigin.map { _ in
                "pages of this origin may not read the answer; --cors-origins lets them in"
            } ?? "-"
        var metadata: Logger.Metadata = [
            "method": "\(request.method)", "path": "\(path)", "status": .stringConvertible(status.code),
            "host": "\(HostAndPort(request.authority)?.host ?? "-")", "family": "\(facts.family ?? "-")",
        ]
        if let claim = facts.claim { metadata["claim"] = "\(claim.text)" }
        if isUnrouted, let match { metadata["nearest"] = "\(match.method) \(match.path)" }
        if let origin = facts.foreignOrigin { metadata["origin"] = "\(Self.origin(origin))" }
        if leftOut > 0 { metadata["left_out"] = .stringConvertible(leftOut) }
        context.logger.notice(
            "\(request.method) \(path) \(status.code): \(Self.printable(reason))", metadata: metadata)
    }

    /// Count of refusals without a line since the last line; nil if this one gets none either.
    private func admitLine(at now: Date) -> Int? {
        let second = Int(saturating: now.timeIntervalSince1970.rounded(.down))
        return window.withLock { window in
            if window.second != second { (window.second, window.lines) = (second, 0) }
            guard window.lines < Self.linesPerSecond else {
                window.leftOut += 1
                return nil
            }
            window.lines += 1
            defer { window.leftOut = 0 }
            return window.leftOut
        }
    }

    private func shownPath(_ words: [Substring], _ facts: RefusalFacts.Facts, _ match: NearestRoute.Match?) -> String {
        if let match, match.isExact { return match.path }
        let showable = nearest.showable(Array(words.prefix(Self.maxWords)), mayHoldKey: facts.claim == .rest)
        let shown = zip(words, showable).map { word, isShowable in isShowable ? Self.shown(word) : "…" }
        // A path that resembles no route may be an object's.
        let mayHoldKey = facts.holdsKey || facts.family == nil || (facts.claim == .rest && match == nil)
        if mayHoldKey { return "/\(shown.first ?? "")" + (words.count > 1 ? "/…" : "") }
        return "/" + shown.joined(separator: "/") + (words.count > Self.maxWords ? "/…" : "")
    }

    /// A path component, or an ellipsis if it may be a name or a token.
    private static func shown(_ word: Substring) -> String {
        let isPlain =
            word.utf8.count <= longestWord && word.utf8.allSatisfy { $0.isInIdentifier || $0 == UInt8(ascii: ".") }
        return isPlain ? String(word) : "…"
    }

    private static func origin(_ text: String) -> String {
        let isOrigin =
            text.utf8.count <= 200
            && text.utf8.allSatisfy { $0.isInIdentifier || ":/.[]".utf8.contains($0) }
        return isOrigin ? text : "…"
    }

    private static func printable(_ text: String) -> String {
        String(
            text.unicodeScalars.prefix(longestReason).map { $0.value < 0x20 || $0.value == 0x7F ? " " : Character($0) })
    }
}

extension RouteClaim {
    /// The claim in words, for the log.
    fileprivate var text: String {
        switch self {
        case .rest: "no other family has its path"
        case .word: "first word of the path"
        case .host: "host"
        case .path(let words): words > 1 ? "first \(words) words of the path" : "path"
        case .address: "host of a bucket"
        }
    }
}
