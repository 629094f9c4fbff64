package import Basics
package import HTTPTypes
package import NIOCore

/// Answer that is given many times. Its exchanges in a journal share it, in place of copies.
package final class RepeatedAnswer: Sendable {
    package let status: HTTPResponse.Status
    /// Fields of the handler's answer.
    package let fields: HTTPFields
    package let body: ByteBuffer
    /// Fields of the answer that is sent; the last one is the id of the request, without its value.
    private let sentFields: HTTPFields
    let recordedBody: RecordedBody
    /// About the memory of the body, in bytes.
    let bodyMemory: Int
    /// Parts of the body that do not fit the contract; nil until it was checked.
    package let findings = LockedValue<[Remark]?>(nil)

    /// - Parameters:
    ///   - fields: Fields of the handler's answer.
    ///   - added: Fields that other layers add to each answer. The last one is the id of the request.
    ///   - body: A text of at most ``JournalSettings/bodyLimit`` bytes.
    package init(_ status: HTTPResponse.Status, _ fields: HTTPFields, added: HTTPFields, _ body: ByteBuffer) {
        self.status = status
        self.fields = fields
        sentFields = fields + added
        recordedBody = RecordedBody(text: body)
        self.body = recordedBody.text ?? body
        bodyMemory = recordedBody.memory
    }

    /// The answer to the request of this id.
    func head(_ requestID: String) -> HTTPResponse {
        var fields = sentFields
        fields[fields.endIndex - 1].value = requestID
        return HTTPResponse(status: status, headerFields: fields)
    }

    /// Whether an answer with these fields and a body of this length is this one.
    ///
    /// Layers only add fields to an answer, unless a fault changes it. So the number of fields tells, and costs less
    /// than a comparison.
    func isSent(with fields: HTTPFields, bodyLength length: Int?, to requestID: String) -> Bool {
        guard fields.count == sentFields.count, length == body.readableBytes else { return false }
        assert(head(requestID).headerFields == fields)
        return true
    }
}
