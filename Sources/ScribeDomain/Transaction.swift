package import Foundation

/// One recorded consultation, from init to its results.
package struct Transaction: Hashable, Sendable {
    /// What names a transaction: two businesses may use the same id.
    package struct Key: Hashable, Sendable {
        package let business: BusinessID
        package let id: TransactionID

        package init(business: BusinessID, id: TransactionID) {
            self.business = business
            self.id = id
        }
    }

    /// What the client has done, in the API's words.
    package enum UserStatus: String, Sendable, CaseIterable {
        case initialized = "init"
        case stopped
        case committed = "commit"
        case cancelled

        /// Whether chunks are still expected, so that those that arrive are worth transcribing early.
        package var isOpen: Bool {
            switch self {
            case .initialized, .stopped: true
            case .committed, .cancelled: false
            }
        }
    }

    /// What the server has done, in the API's words.
    package enum ProcessingStatus: String, Sendable, CaseIterable {
        case inProgress = "in-progress"
        case success
        /// The server or its recogniser failed; a further commit tries again.
        case systemFailure = "system_failure"
        /// There was nothing to transcribe: no audio, no speech, nothing that decodes.
        case requestFailure = "request_failure"
        case cancelled
    }

    /// The id within its business.
    package let id: TransactionID
    package let owner: Principal
    /// What init asked for, and what was changed of it since.
    package internal(set) var request: TransactionRequest
    package internal(set) var userStatus: UserStatus
    package internal(set) var processingStatus: ProcessingStatus
    /// What stop listed, replaced by every stop until commit.
    package internal(set) var stopped: ChunkList
    /// What commit listed: the only files that are processed (C-25).
    package internal(set) var committedFiles: [String]
    package let createdAt: Date
    package internal(set) var committedAt: Date?
    package internal(set) var processedAt: Date?
    /// When it was deleted; nobody but a further init with the same id finds it then.
    package internal(set) var archivedAt: Date?
    /// How well speech can be heard in the audio, from 0 to 1.
    package internal(set) var audioQuality: Double?

    package var key: Key { Key(business: owner.business, id: id) }

    /// A new transaction as init makes it.
    package init(id: TransactionID, owner: Principal, request: TransactionRequest, createdAt: Date) {
        self.init(
            id: id, owner: owner, request: request, userStatus: .initialized, processingStatus: .inProgress,
            stopped: ChunkList(files: []), committedFiles: [], createdAt: createdAt, committedAt: nil, processedAt: nil
        )
    }

    /// A transaction as it was stored.
    package init(
        id: TransactionID, owner: Principal, request: TransactionRequest,
        userStatus: UserStatus, processingStatus: ProcessingStatus,
        stopped: ChunkList, committedFiles: [String],
        createdAt: Date, committedAt: Date?, processedAt: Date?, archivedAt: Date? = nil,
        audioQuality: Double? = nil
    ) {
        self.id = id
        self.owner = owner
        self.request = request
        self.userStatus = userStatus
        self.processingStatus = processingStatus
        self.stopped = stopped
        self.committedFiles = committedFiles
        self.createdAt = createdAt
        self.committedAt = committedAt
        self.processedAt = processedAt
        self.archivedAt = archivedAt
        self.audioQuality = audioQuality
    }
}
