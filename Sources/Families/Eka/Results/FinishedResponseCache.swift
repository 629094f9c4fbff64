import Basics
import HTTPTypes
import Hummingbird
import Journal
import NIOCore
import ScribeDomain
import ScribeHTTP
import ScribeRuntime

/// Caches encoded answers about finished transactions, which clients request repeatedly.
///
/// An entry is valid until ``ChangeSignals`` reports a change, such as an edit of a result. Where other processes
/// change the data, nothing is cached.
final class FinishedResponseCache: Sendable {
    struct Question: Hashable, Sendable {
        let transaction: Transaction.Key
        let query: ResultQuery
        /// nil for the profile of the SDK that started the transaction.
        let profile: ClientProfile?
    }

    private let signals: ChangeSignals
    /// The limit is in bytes. One transaction's answer takes some 5,000 bytes.
    private let answers = RecentValues<Question, (answer: RepeatedAnswer, version: UInt64)>(limit: 4 << 20)

    init(signals: ChangeSignals) { self.signals = signals }

    /// Answers a question.
    /// - Returns: nil if the answer is not cached.
    func answer(to question: Question, _ context: ScribeContext) -> Response? {
        guard signals.knowsAllChanges, let (answer, version) = answers[question],
            version == signals.versions[question.transaction]
        else {
            return nil
        }
        context.note(answer)
        return answer.response
    }

    /// Caches an encoded answer about a finished transaction.
    /// - Parameter version: The transaction's version, taken before the transaction was read.
    func remember(_ status: HTTPResponse.Status, _ body: ByteBuffer, to question: Question, version: UInt64) {
        answers.remember(
            (RepeatedAnswer(status, json: body), version), of: question, size: body.readableBytes)
    }
}
