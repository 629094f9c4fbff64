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

    private let signals: ChangeSignals
    private let answers: RecentValues<Question, Answer>

    /// - Parameter capacity: The size of all answers in bytes. A consultation's answer takes some 5,000 bytes.
    init(signals: ChangeSignals, capacity: Int = 4 << 20) {
        self.signals = signals
        answers = RecentValues(limit: capacity)
    }

    subscript(question: Question) -> Response? {
        guard let answer = answers[question], answer.version == signals.version(of: question.transaction) else {
            return nil
        }
        return .json(answer.status, answer.body)
    }

    /// - Parameter version: of the transaction, taken before it was read.
    func remember(_ status: HTTPResponse.Status, _ body: ByteBuffer, to question: Question, version: UInt64) {
        answers.remember(
            Answer(status: status, body: body, version: version), of: question, size: body.readableBytes)
    }
}
