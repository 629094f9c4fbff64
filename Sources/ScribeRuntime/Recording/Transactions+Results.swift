package import Basics
package import ScribeDomain
package import ScribeStore

extension Transactions {
    package typealias Results = (transaction: Transaction, documents: [ResultDocument])

    /// Long poll for results: returns them as soon as they are final, or as they are when the wait ends.
    /// - Parameters:
    ///   - authored: A document that a client wrote, to include in the results.
    ///   - limit: The longest wait.
    ///   - clientDisconnect: The client's disconnect, which ends the wait.
    ///   - isFinal: Whether the results are final.
    /// - Throws: ``ScribeError/transactionNotFound``, and the errors of `isFinal`.
    package func results(
        of key: Transaction.Key, andAuthored authored: DocumentID? = nil, atMost limit: Duration,
        until clientDisconnect: OneShotSignal, _ isFinal: (Results) throws -> Bool
    ) async throws -> Results {
        try await signals.longPoll(key, atMost: limit, clock: clock, until: clientDisconnect) {
            guard let results = try await store.transactions.results(of: key, andAuthored: authored) else {
                throw ScribeError.transactionNotFound
            }
            return (results, try isFinal(results))
        }
    }

    /// Long poll for the transcript of one chunk. It requests the recognition of a chunk that has none yet.
    /// - Parameter file: The chunk's file name, or its number.
    /// - Throws: ``ScribeError/transactionNotFound``; ``ScribeError/resourceNotFound(_:)`` if there is no such chunk,
    ///   or no transcript in time.
    package func chunkTranscript(
        of key: Transaction.Key, file: String, atMost limit: Duration, until clientDisconnect: OneShotSignal
    ) async throws -> ChunkTranscript {
        let found = try await signals.longPoll(key, atMost: limit, clock: clock, until: clientDisconnect) {
            () -> (value: ChunkTranscript?, isFinal: Bool) in
            if let found = try await store.documents.chunkTranscript(of: key, file: file) { return (found, true) }
            guard try await store.transactions.transaction(key)?.processingStatus == .inProgress else {
                return (nil, true)
            }
            // Requested again after each change: the chunk may have arrived only now, or been replaced.
            _ = try await store.work.requestTranscription(of: file, in: key, at: clock.now)
            return (nil, false)
        }
        guard let found else { throw ScribeError.resourceNotFound("No such chunk, or not transcribed yet") }
        return found
    }

    /// Requests a note in a further template, or a new one in the same template.
    /// - Parameters:
    ///   - template: Nil for the first template of the transaction's start, or, with a language and from a recording,
    ///     for the transcript in this language.
    ///   - language: The language of the note; nil for the spoken one.
    ///   - addsOne: Whether a document of the same template stays beside the new one, as in the session protocol.
    /// - Returns: The template, and the id of the document that a job will write.
    /// - Throws: ``ScribeError/transactionNotFound``, ``ScribeError/transactionCancelled``,
    ///   ``ScribeError/invalidState(_:)``, ``ScribeError/invalidRequest(field:problem:)``.
    package func convert(
        _ key: Transaction.Key, to template: TemplateID?, in language: String?, from source: ConversionSource,
        addsOne: Bool = false
    ) async throws -> (template: TemplateID, document: DocumentID) {
        if case .transcript(let text) = source {
            try Limits.require(text, within: Limits.transcript, "transcript")
        }
        var document: ResultDocument
        let translation = template.map(ResultDocument.translationLanguage) ?? language
        if let translation, case .recording = source {
            document = templates.translation(into: translation, identifiers)
        } else {
            document = try await self.document(of: key, template)
            document.language = language
        }
        let id = try await store.documents.convert(
            key, to: document, from: source, addsOne: addsOne, at: clock.now)
        return (document.templateID, id)
    }

    /// Makes the unwritten document of a conversion.
    /// - Parameter template: Nil for the first template of the transaction's start.
    /// - Throws: ``ScribeError/transactionNotFound``.
    func document(of key: Transaction.Key, _ template: TemplateID?) async throws -> ResultDocument {
        let wanted: TemplateID
        if let template {
            wanted = template
        } else {
            let transaction = try await store.transactions.requireTransaction(key)
            wanted = transaction.request.templates.first?.id ?? templates.fallback.id
        }
        let own = try await store.templates.template(wanted, of: key.business)
        return templates.document(for: .init(id: wanted), own.map { [$0] } ?? [], identifiers)
    }
}
