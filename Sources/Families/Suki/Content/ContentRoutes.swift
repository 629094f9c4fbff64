import Basics
import Foundation
import Hummingbird
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// Serves results of ambient sessions: note, transcript and diagnoses (suki.md 3.9 to 3.12).
struct ContentRoutes: Sendable {
    let sessions: AmbientSessions

    static func add(to router: WorldRoutes<Self>) {
        router.get("api/v1/ambient/session/{txn_id}/content", use: content)
        router.get("api/v1/ambient/session/{txn_id}/transcript", use: transcript)
        router.get("api/v1/ambient/session/{txn_id}/structured-data", use: structuredData)
        router.get("api/v1/ambient/encounter/{encounter_id}/content", use: encounterContent)
        router.get("api/v1/ambient/encounter/{encounter_id}/structured-data", use: encounterStructuredData)
    }

    @Sendable private func content(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let (id, principal) = try context.requireAmbientSession()
        let session = try await sessions.find(id, of: principal)
        let own = try await sessions.note(of: session)
        guard try request.isAsked("cumulative"), let encounter = session.ambientTerms?.encounter else {
            return try await summary(of: [own].compactMap(\.self))
        }
        var notes: [AmbientSessions.Note] = []
        for earlier in try await sessions.sessions(ofEncounter: encounter, of: principal) {
            // Sessions up to and including this one.
            if earlier.id == session.id { break }
            if let note = try await completed(earlier) { notes.append(note) }
        }
        return try await summary(of: notes + [own].compactMap(\.self))
    }

    @Sendable private func transcript(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let (id, principal) = try context.requireAmbientSession()
        let session = try await sessions.find(id, of: principal)
        guard try await sessions.note(of: session) != nil else { return .json(.ok, ["final_transcript": []]) }
        let store = sessions.runtime.store.transactions
        let outcomes = try await store.outcomes(of: session)
        let recorded = try await store.segments(of: session.key).recorded
        let language = session.request.inputLanguages.first
        return try await .longJSON(
            .ok, ["final_transcript": .array(TranscriptItem.list(outcomes, in: recorded, language: language))])
    }

    @Sendable private func structuredData(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let (id, principal) = try context.requireAmbientSession()
        let note = try await sessions.note(of: try await sessions.find(id, of: principal))
        return try await diagnoses(in: [note].compactMap(\.self))
    }

    @Sendable private func encounterContent(_ request: Request, _ context: ScribeContext) async throws -> Response {
        try await summary(of: try await notes(ofEncounterIn: context))
    }

    @Sendable private func encounterStructuredData(
        _ request: Request, _ context: ScribeContext
    ) async throws -> Response {
        try await diagnoses(in: try await notes(ofEncounterIn: context))
    }

    /// Notes of the visit's completed sessions.
    /// - Throws: ``SukiError/encounterNotFound``, ``ScribeError/invalidState(_:)`` until one session is complete.
    private func notes(ofEncounterIn context: ScribeContext) async throws -> [AmbientSessions.Note] {
        guard let encounter = context.text(of: "encounter_id"), TransactionID.isValid(encounter) else {
            throw SukiError.encounterNotFound
        }
        let found = try await sessions.sessions(ofEncounter: encounter, of: try context.requirePrincipal())
        guard !found.isEmpty else { throw SukiError.encounterNotFound }
        var notes: [AmbientSessions.Note] = []
        for session in found {
            if let note = try await completed(session) { notes.append(note) }
        }
        let areDone = found.contains { [.completed, .skipped].contains(sessions.status(of: $0)) }
        guard areDone else { throw ScribeError.invalidState("No session of the encounter is complete yet") }
        return notes
    }

    private func summary(of notes: [AmbientSessions.Note]) async throws -> Response {
        try await .longJSON(.ok, NoteSummary(notes).json)
    }

    private func diagnoses(in notes: [AmbientSessions.Note]) async throws -> Response {
        try await .longJSON(
            .ok,
            [
                "structured_data": [
                    "diagnoses": ["values": .array(AmbientContext.Diagnosis.mentioned(in: notes), \.json)]
                ]
            ])
    }

    private func completed(_ session: Transaction) async throws -> AmbientSessions.Note? {
        sessions.status(of: session) == .completed ? try await sessions.note(of: session) : nil
    }
}

extension Request {
    /// The value of a boolean query parameter; false if absent.
    func isAsked(_ name: String) throws(ScribeError) -> Bool {
        switch query[Substring(name)]?.lowercased() {
        case nil, "", "false", "0": return false
        case "true", "1": return true
        default: throw .invalidRequest(field: name, problem: "must be true or false")
        }
    }
}
