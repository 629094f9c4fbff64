package import Engines
package import Foundation
package import NIOCore
package import ObjectStorage
package import ScribeDomain
package import ScribeStore

/// All audio of a transaction as one recording.
package struct SessionAudio: Sendable {
    /// Error for a transaction without such a recording.
    package enum Unavailable: Error, Hashable, Sendable {
        /// This machine lacks the program or library that makes it.
        case notEnabled
        /// The transaction is not committed, has no audio, or was committed too long ago.
        case notAvailable
    }

    /// The time after commit for which the recording is available, in seconds.
    package static let lifetime: TimeInterval = 86_400

    private let store: Store
    private let objects: any ObjectStore
    private let combined: MP3Encoder
    private let clock: WorldClock

    package init(store: Store, objects: any ObjectStore, combined: MP3Encoder, clock: WorldClock) {
        self.store = store
        self.objects = objects
        self.combined = combined
        self.clock = clock
    }

    /// The time until which the recording is available.
    /// - Throws: ``ScribeError/transactionNotFound``, ``Unavailable``.
    package func expiry(of key: Transaction.Key) async throws -> Date {
        try await audible(key).expiry
    }

    /// Encodes the recording and emits its bytes on the way. It leaves out files that cannot be decoded.
    /// - Throws: As ``expiry(of:)``, and errors of `emit`.
    package func encode(_ key: Transaction.Key, _ emit: @concurrent (ByteBuffer) async throws -> Void) async throws {
        let (transaction, _) = try await audible(key)
        guard let location = transaction.request.audioLocation else { throw Unavailable.notAvailable }
        for name in transaction.orderedFiles {
            let object = try await store.audio.object(
                business: key.business, bucket: location.bucket, key: location.key(ofFile: name))
            guard let object else { continue }
            do {
                let audio = StoredAudio(file: object.file, objects: objects)
                try await combined.encode(audio, for: key.business.rawValue, emit)
            } catch is EngineFailure {
                continue
            }
        }
    }

    private func audible(_ key: Transaction.Key) async throws -> (transaction: Transaction, expiry: Date) {
        let transaction = try await store.transactions.requireTransaction(key)
        guard FFmpeg.isInstalled else { throw Unavailable.notEnabled }
        guard transaction.userStatus == .committed, let end = transaction.committedAt,
            !transaction.orderedFiles.isEmpty, case let expiry = end.addingTimeInterval(Self.lifetime),
            clock.now < expiry
        else { throw Unavailable.notAvailable }
        return (transaction, expiry)
    }
}
