package import Foundation

/// Transaction: one recording with its results, from init on.
package struct Transaction: Hashable, Sendable {
    /// Key of a transaction: business and id, because two businesses may use the same id.
    package struct Key: Hashable, Sendable {
        package let business: BusinessID
        package let id: TransactionID

        package init(business: BusinessID, id: TransactionID) {
            self.business = business
            self.id = id
        }
    }

    /// Client's progress with the transaction, in the API's words.
    package enum UserStatus: String, Sendable, CaseIterable {
        case initialized = "init"
        case stopped
        case committed = "commit"
        case cancelled

        /// Whether more chunks are expected, so that early transcription of arriving chunks pays off.
        package var isOpen: Bool {
            switch self {
            case .initialized, .stopped: true
            case .committed, .cancelled: false
            }
        }
    }

    /// Server's progress with the transaction, in the API's words.
    package enum ProcessingStatus: String, Sendable, CaseIterable {
        case inProgress = "in-progress"
        case success
        /// The server or its recogniser failed; another commit tries again.
        case systemFailure = "system_failure"
        /// The audio had nothing to transcribe: no file, no speech, or no decodable bytes.
        case requestFailure = "request_failure"
        case cancelled
    }

    /// Id within the business.
    package let id: TransactionID
    package let owner: Principal
    /// Data of init, with later changes.
    package internal(set) var request: TransactionRequest
    package internal(set) var userStatus: UserStatus
    package internal(set) var processingStatus: ProcessingStatus
    /// Files listed by the last stop; replaced by each stop until commit.
    package internal(set) var stopped: ChunkList
    /// Files listed by commit, the only files that are processed (C-25).
    package internal(set) var committedFiles: [String]
    package let createdAt: Date
    package internal(set) var committedAt: Date?
    package internal(set) var processedAt: Date?
    /// Time of deletion; after that only another init with the same id finds the transaction.
    package internal(set) var archivedAt: Date?
    /// Audio quality for speech, from 0 to 1; nil if not measured.
    package internal(set) var audioQuality: Double?
    /// Time of the last audio or message of a stream; nil without any, and for recordings whose audio does not arrive.
    package let lastAudioAt: Date?

    package var key: Key { Key(business: owner.business, id: id) }

    /// Creates a transaction at init.
    package init(id: TransactionID, owner: Principal, request: TransactionRequest, createdAt: Date) {
        self.init(
            id: id, owner: owner, request: request, userStatus: .initialized, processingStatus: .inProgress,
            stopped: ChunkList(files: []), committedFiles: [], createdAt: createdAt, committedAt: nil, processedAt: nil
        )
    }

    /// Creates a transaction from its stored row.
    package init(
        id: TransactionID, owner: Principal, request: TransactionRequest,
        userStatus: UserStatus, processingStatus: ProcessingStatus,
        stopped: ChunkList, committedFiles: [String],
        createdAt: Date, committedAt: Date?, processedAt: Date?, archivedAt: Date? = nil,
        audioQuality: Double? = nil, lastAudioAt: Date? = nil
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
        self.lastAudioAt = lastAudioAt
    }
}
