import Basics
import Foundation
import Hummingbird
import NIOCore
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// `GET /voice/api/v2/transaction/history`: lists a user's transactions (eka.md 2.8).
struct HistoryRoutes: Sendable {
    /// Largest integer that every JSON reader represents exactly.
    private static let largestCount = 1 << 53 - 1
    /// Most transactions of one patient, without a count (medscribe.md 2.13).
    private static let countOfPatient = 10
    /// Most transactions of one database read, which ends earlier after 256 KB.
    private static let pageSize = 256

    let store: Store
    let profiles: ClientProfiles

    static func add(to router: WorldRoutes<Self>) {
        router.get("voice/api/v2/transaction/history", use: list)
    }

    @Sendable private func list(_ request: Request, context: ScribeContext) async throws -> Response {
        let principal = try context.requirePrincipal()
        let patient = request.uri.queryParameters.text("oid")
        let asked = try request.uri.queryParameters.text("count").map { text in
            guard let count = Int(text), (1...Self.largestCount).contains(count) else {
                throw ScribeError.invalidRequest(field: "count", problem: "must be an integer greater than 0")
            }
            return count
        }
        let count = asked ?? (patient == nil ? nil : Self.countOfPatient)
        let profile = profiles.profile(of: request, context)
        @Sendable func readPage(_ place: HistoryPlace?, _ seen: Int) async throws -> HistoryPage {
            try await store.transactions.history(
                business: principal.business, user: principal.user, patient: patient, after: place,
                limit: min(Self.pageSize, (count ?? .max) - seen))
        }
        let first = try await readPage(nil, 0)
        let begin = await Self.encoded(first, for: profile, isFirst: true)
        // Reserves memory for two copies of a page: the rows and their JSON.
        try await context.hold(
            2 * (first.next == nil ? begin.readableBytes : max(begin.readableBytes, ConversationStore.pageSize)))
        // Pages are streamed: each one is read after the previous one was sent, so memory holds one page.
        let body = ResponseBody { writer in
            try await writer.write(ByteBuffer(string: #"{"status":"success","data":["#))
            var next: HistoryPage? = first
            var seen = 0
            while let page = next {
                try await writer.write(seen == 0 ? begin : await Self.encoded(page, for: profile, isFirst: false))
                seen += page.items.count
                let isEnough = seen >= count ?? .max
                next = if let place = page.next, !isEnough { try await readPage(place, seen) } else { nil }
            }
            try await writer.write(ByteBuffer(string: #"],"retrieved_count":\#(seen)}"#))
            try await writer.finish(nil)
        }
        return Response(status: .ok, headers: [.contentType: "application/json"], body: body)
    }

    /// Encodes a page off the event loop: a page takes some milliseconds.
    private static func encoded(
        _ page: HistoryPage, for profile: ClientProfile, isFirst: Bool
    ) async -> ByteBuffer {
        await EventLoopOffload.run(bytes: .max) {
            var text = JSONText(capacity: page.items.count * 512)
            for (index, transaction) in page.items.enumerated() {
                if index > 0 || !isFirst { text.write(",") }
                text.write(json: transaction.json(for: profile))
            }
            return ByteBuffer(bytes: text.bytes)
        }
    }
}
