package import Foundation
package import ScribeDomain
package import ScribeStore

/// Transaction with its stored events, in chronological order.
package struct RecordingTimeline: Sendable {
    package struct Event: Hashable, Sendable {
        package enum Content: Hashable, Sendable {
            case created
            /// The last upload of a file; earlier uploads under the same name are not stored.
            case uploaded(RecordingFile)
            case stopped
            /// The last commit: earlier ones are not stored.
            case committed
            case recognised(file: String, RecordingFile.Recognition)
            /// The last change of a document, with its state.
            case document(RecordingDocument)
            case published(RecordingDocument)
            case processed(Transaction.ProcessingStatus)
            case cancelled
            case delivery(DeliveryRecord)
            case archived
        }

        /// The time of the event; nil if it is not stored.
        package let time: Date?
        package let content: Content
    }

    /// Maximum number of deliveries of a timeline, the newest ones.
    package static let maxDeliveries = 1000

    package let transaction: Transaction
    package let kind: RecordingKind
    /// The files, sorted by name.
    package let files: [RecordingFile]
    package let events: [Event]

    init(_ detail: RecordingDetail, deliveries: [DeliveryRecord]) {
        transaction = detail.transaction
        kind = detail.kind
        files = detail.files
        events = Self.events(of: detail, deliveries)
    }

    private static func events(of detail: RecordingDetail, _ deliveries: [DeliveryRecord]) -> [Event] {
        let transaction = detail.transaction
        // Events of the same millisecond stay in the order in which they are added here.
        var events: [(place: Date, event: Event)] = []
        func add(_ time: Date?, _ content: Event.Content) {
            if let time { events.append((time, Event(time: time, content: content))) }
        }
        add(transaction.createdAt, .created)
        for file in detail.files { add(file.uploadedAt, .uploaded(file)) }
        if transaction.userStatus == .stopped || !transaction.stopped.files.isEmpty {
            let end = transaction.committedAt ?? transaction.processedAt ?? transaction.archivedAt
            events.append((end ?? .distantFuture, Event(time: nil, content: .stopped)))
        }
        add(transaction.committedAt, .committed)
        for file in detail.files {
            if let found = file.recognition { add(found.time, .recognised(file: file.name, found)) }
        }
        for document in detail.documents {
            add(document.updatedAt, .document(document))
            add(document.publishedAt, .published(document))
        }
        let isCancelled = transaction.processingStatus == .cancelled
        add(transaction.processedAt, isCancelled ? .cancelled : .processed(transaction.processingStatus))
        for delivery in deliveries.reversed() { add(delivery.occurredAt, .delivery(delivery)) }
        add(transaction.archivedAt, .archived)
        return events.enumerated().sorted { ($0.element.place, $0.offset) < ($1.element.place, $1.offset) }
            .map(\.element.event)
    }
}
