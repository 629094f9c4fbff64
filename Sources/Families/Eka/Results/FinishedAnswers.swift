import HTTPTypes
import Hummingbird
import NIOCore
import ScribeDomain
import ScribeHTTP
import ScribeRuntime

/// Encoded answers about transactions that are finished: clients ask for them again and again, and nothing in them
/// changes until somebody edits a result, which ``ChangeSignals`` tells.
final class FinishedAnswers: Sendable {
    struct Question: Hashable, Sendable {
        let transaction: Transaction.Key
        let query: ResultQuery
        /// nil is that of the client which started the transaction.
        let profile: ClientProfile?
    }

    private struct Answer: Sendable {
        let status: HTTPResponse.Status
        let body: ByteBuffer
        let version: UInt64
    }

    private struct State {
        var answers: [Question: Answer] = [:]
        var bytes = 0
    }

    /// In bytes; a consultation's answer takes some five thousand.
    private let capacity: Int
    private let signals: ChangeSignals
    private let state = LockedValue(State())

    init(signals: ChangeSignals, capacity: Int = 4 << 20) {
        self.signals = signals
        self.capacity = capacity
    }

    subscript(question: Question) -> Response? {
        guard let answer = state.withLock({ $0.answers[question] }),
            answer.version == signals.version(of: question.transaction)
        else { return nil }
        return .json(answer.status, answer.body)
    }

    /// - Parameter version: of the transaction, taken before it was read.
    func remember(_ status: HTTPResponse.Status, _ body: ByteBuffer, to question: Question, version: UInt64) {
        state.withLock { state in
            // All at once: cheaper than to keep an order, and whoever still polls comes back.
            if state.bytes + body.readableBytes > capacity { state = State() }
            let old = state.answers.updateValue(Answer(status: status, body: body, version: version), forKey: question)
            state.bytes += body.readableBytes - (old?.body.readableBytes ?? 0)
        }
    }
}
