package import ScribeDomain
package import ScribeStore

extension Consultations {
    package typealias Results = (transaction: Transaction, documents: [ResultDocument])

    /// The results, as soon as they are final, or as they are when the wait is over.
    /// - Parameters:
    ///   - authored: a document that a client has written, to be among them.
    ///   - limit: how long to wait at most.
    ///   - departure: of the client, for whom nothing need be held any more then.
    ///   - isFinal: whether there is nothing to wait for.
    /// - Throws: ``ScribeError/transactionNotFound``, and what `isFinal` throws.
    package func results(
        of key: Transaction.Key, andAuthored authored: DocumentID? = nil, atMost limit: Duration,
        until departure: Departure, _ isFinal: (Results) throws -> Bool
    ) async throws -> Results {
        try await signals.held(key, atMost: limit, clock: clock, until: departure) {
            guard let results = try await store.results(of: key, andAuthored: authored) else {
                throw ScribeError.transactionNotFound
            }
            return (results, try isFinal(results))
        }
    }

    /// What was heard in one chunk. One that was not heard yet is listened to now, and waited for.
    /// - Parameter file: its name, or its number.
    /// - Throws: ``ScribeError/transactionNotFound``; ``ScribeError/resourceNotFound(_:)`` when there is no such chunk, or
    ///   nothing has been heard in it in time.
    package func chunkTranscript(
        of key: Transaction.Key, file: String, atMost limit: Duration, until departure: Departure
    ) async throws -> ChunkTranscript {
        let found = try await signals.held(key, atMost: limit, clock: clock, until: departure) {
            () -> (value: ChunkTranscript?, isFinal: Bool) in
            if let found = try await store.chunkTranscript(of: key, file: file) { return (found, true) }
            guard try await store.transaction(key)?.processingStatus == .inProgress else { return (nil, true) }
            // Again after each change: it may have arrived only now, or been replaced.
            _ = try await store.requestTranscription(of: file, in: key, at: clock.now)
            return (nil, false)
        }
        guard let found else { throw ScribeError.resourceNotFound("No such chunk, or not transcribed yet") }
        return found
    }

    /// Asks for results in a further template, or anew.
    /// - Parameters:
    ///   - template: nil for the first that was asked for at the start.
    ///   - language: that the note is to be in; nil for the one that was spoken.
    ///   - addsOne: whether a document of the same template stays beside the new one, as in the session protocol.
    /// - Returns: the template, and the id of the document that will be written.
    /// - Throws: ``ScribeError/transactionNotFound``, ``ScribeError/transactionCancelled``,
    ///   ``ScribeError/invalidState(_:)``, ``ScribeError/invalidRequest(field:problem:)``.
    package func convert(
        _ key: Transaction.Key, to template: TemplateID?, in language: String?, from source: ConversionSource,
        addsOne: Bool = false
    ) async throws -> (template: TemplateID, document: DocumentID) {
        if case .transcript(let text) = source {
            try Limits.require(text, within: Limits.transcript, "transcript")
        }
        let (wanted, document) = try await document(of: key, template, in: language)
        // What a person has corrected is written anew only for those who name it.
        let id = try await store.convert(
            key, to: document, from: source, replacesEdited: template != nil, addsOne: addsOne, at: clock.now)
        return (wanted, id)
    }

    /// The document that a conversion will write.
    /// - Parameter template: nil for the first that was asked for at the start.
    /// - Throws: ``ScribeError/transactionNotFound``.
    func document(
        of key: Transaction.Key, _ template: TemplateID?, in language: String?
    ) async throws -> (template: TemplateID, document: ResultDocument) {
        let wanted: TemplateID
        if let template {
            wanted = template
        } else {
            let transaction = try await store.requireTransaction(key)
            wanted = transaction.request.templates.first?.id ?? templates.fallback.id
        }
        let own = try await store.template(wanted, of: key.business)
        var document = templates.document(for: .init(id: wanted), own.map { [$0] } ?? [], identifiers)
        document.language = language
        return (wanted, document)
    }
}
