package import Engines
package import Journal
package import ObjectStorage
package import Outbound
package import ScribeDomain
package import ScribeStore

/// Store, engines and use cases of one world, which all API families use. Two runtimes in one process share nothing.
package final class Runtime: Sendable {
    package let store: Store
    package var policies: RecordingPolicies { store.policies }
    /// Reserved disk space for deletions. While it is released, no upload is accepted.
    package let reserve: StorageReserve
    package let transcriber: any Transcriber
    package let noteWriter: any NoteWriter
    package let transactions: Transactions
    package let fixtureBehaviour: FixtureBehaviour
    /// The S3 bucket for audio of clients that name no bucket.
    package let bucket: String
    package let sessionAudio: SessionAudio
    package let sessionStreams: SessionStreams
    package let conversations: Conversations
    package let uploads: Uploads
    package let recognitions: Recognitions
    package let liveRecordings: LiveRecordings
    package let outbound: OutboundClient
    package let webhooks: Webhooks
    package let templates: TemplateCatalogue
    package let facts: ClinicalFacts
    package let signals: ChangeSignals
    package let metrics: Metrics
    package let identifiers: WorldIdentifiers
    /// Fault rules of the world.
    package let faults: FaultRules
    /// Exchanges of the world; nil if none are kept.
    package let journal: Journal?
    /// Memory for the fault rules and fixtures of operators.
    package let memory: WorldMemory
    package let clock: WorldClock

    package init(
        store: Store, reserve: StorageReserve, transcriber: any Transcriber, noteWriter: any NoteWriter,
        transactions: Transactions, fixtureBehaviour: FixtureBehaviour, bucket: String, sessionAudio: SessionAudio,
        sessionStreams: SessionStreams,
        conversations: Conversations, uploads: Uploads,
        recognitions: Recognitions,
        liveRecordings: LiveRecordings, outbound: OutboundClient, webhooks: Webhooks, templates: TemplateCatalogue,
        facts: ClinicalFacts,
        signals: ChangeSignals,
        metrics: Metrics, identifiers: WorldIdentifiers, journal: Journal? = nil,
        memory: WorldMemory = WorldMemory(limit: .max), clock: WorldClock
    ) {
        self.store = store
        self.reserve = reserve
        self.transcriber = transcriber
        self.noteWriter = noteWriter
        self.transactions = transactions
        self.fixtureBehaviour = fixtureBehaviour
        self.bucket = bucket
        self.sessionAudio = sessionAudio
        self.sessionStreams = sessionStreams
        self.conversations = conversations
        self.uploads = uploads
        self.recognitions = recognitions
        self.liveRecordings = liveRecordings
        self.outbound = outbound
        self.webhooks = webhooks
        self.templates = templates
        self.facts = facts
        self.signals = signals
        self.metrics = metrics
        self.identifiers = identifiers
        faults = FaultRules(identifiers, memory.share())
        self.journal = journal
        self.memory = memory
        self.clock = clock
    }
}
