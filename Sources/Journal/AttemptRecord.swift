import Basics
import Foundation
import HTTPTypes
package import NIOCore
import Outbound
package import ScribeDomain

/// Writes one attempt at a delivery into the journal.
package struct AttemptRecord: Sendable {
    private let record: JournalRecord?

    /// - Parameters:
    ///   - address: URL of the receiver; nil for a webhook without one.
    ///   - event: Nil for a callback.
    ///   - isSignedWrongly: Whether a fault rule has signed the message with another key.
    package init(
        _ address: String?, method: String, _ headers: [(String, String)], _ body: ByteBuffer, of delivery: Delivery,
        _ event: SessionEvent? = nil, isSignedWrongly: Bool = false, in journal: Journal?
    ) {
        guard let journal else {
            record = nil
            return
        }
        let isFull = journal.settings.mode.isFull
        let url = address.flatMap { URL(string: $0) }
        var request = HTTPRequest(method: .init(method) ?? .post, scheme: nil, authority: nil, path: nil)
        var content = RecordedBody(size: body.readableBytes)
        var growth = 0
        if isFull {
            for (name, value) in headers { HTTPField.Name(name).map { request.headerFields[$0] = value } }
            request.scheme = url?.scheme
            request.authority = url?.host().map { host in url?.port.map { "\(host):\($0)" } ?? host }
            request.path = url.map { url in
                let path = url.path(percentEncoded: true)
                return (path.isEmpty ? "/" : path) + (url.query(percentEncoded: true).map { "?\($0)" } ?? "")
            }
            content = RecordedBody(type: request.headerFields[.contentType])
            growth = content.add(body)
            content.isWhole = true
        }
        let record = JournalRecord(
            .delivery, .fields(request), at: journal.clock.now,
            RecordSettings(mode: journal.settings.mode, clock: journal.clock))
        record.update { exchange in
            exchange.requestBody = content
            exchange.delivery = (event?.rawValue, delivery.attempt, isSignedWrongly)
            if isFull, case .event(_, let session, _, _) = delivery.content { exchange.transaction = session }
            return growth
        }
        record.put(in: journal)
        self.record = record
    }

    /// Sends the message, and records its outcome.
    package func sending(_ send: () async throws -> Int) async throws {
        do {
            note(status: try await send())
            end(.whole)
        } catch let problem as OutboundError {
            switch problem {
            case .refused(let status), .redirect(let status):
                note(status: status)
                end(.whole, problem.words)
            case .invalid, .unknownHost, .forbidden, .unreachable: end(.cut, problem.words)
            }
            throw problem
        } catch {
            end(.cut)
            throw error
        }
    }

    private func note(status: Int) {
        record?.update { $0.answer(.init(code: status)) }
    }

    package func end(_ end: Exchange.End, _ reason: String? = nil) { record?.end(end, reason: reason) }
}
