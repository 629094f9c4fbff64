import Basics
import Engines
import NIOCore
package import ObjectStorage
package import ScribeDomain
package import ScribeStore

/// Upload pipeline: a file is written beside the store, its API checks it, and one SQL transaction stores it together
/// with the jobs that it causes.
package struct Uploads: Sendable {
    private let store: Store
    /// Store of the bytes.
    package let objects: any ObjectStore
    private let reserve: StorageReserve
    private let arriving: ArrivingBytes
    private let fixtureBehaviour: FixtureBehaviour
    private let watchers: [any UploadObserver]

    /// - Parameter watchers: Notified of every stored upload.
    package init(
        store: Store, objects: any ObjectStore, reserve: StorageReserve, fixtureBehaviour: FixtureBehaviour,
        watchers: [any UploadObserver] = []
    ) {
        self.store = store
        self.objects = objects
        self.reserve = reserve
        arriving = ArrivingBytes(store.audio)
        self.fixtureBehaviour = fixtureBehaviour
        self.watchers = watchers
    }

    /// Receives a file. Its bytes count towards the quota of its business while they arrive, and the end of `body`
    /// removes them unless `body` has kept the file.
    /// - Parameters:
    ///   - size: The announced size in bytes.
    ///   - place: The bucket and key that the file will have; nil if they are unknown.
    ///   - isPassing: Whether the file becomes no object, and stays on this machine.
    /// - Throws: ``ScribeError/storageUnavailable(cause:)``, ``ScribeError/storageQuotaExceeded``.
    package func receive<Value>(
        for business: BusinessID, expecting size: Int = 0, at place: (bucket: String, key: String)? = nil,
        checksums: Set<ChecksumAlgorithm> = [], isPassing: Bool = false, _ body: (inout NewObject) async throws -> Value
    ) async throws -> Value {
        try await reserve.requireRoom()
        let arriving = try await arriving.begin(of: business, expecting: size, at: place)
        return try await (isPassing ? objects.spool as any ObjectStore : objects).withNewObject(
            checksums: checksums, arriving: arriving, body)
    }

    /// Stores a written file as an object, and replaces the object of the same bucket and key.
    /// - Parameter permitReplacing: Gets the ETag of the present object, nil without one. It throws to keep that
    ///   object.
    /// - Throws: ``ScribeError/storageQuotaExceeded``, ``ScribeError/refusedOnPurpose``, ``ScribeError/sessionEnded``,
    ///   ``ScribeError/sessionCompleted``, ``ScribeError/sessionExpired``, and errors of `permitReplacing`.
    package func keep(
        _ file: inout NewObject, as object: StoredObject, for principal: Principal, isChunk: Bool = false,
        replacing permitReplacing: @escaping @Sendable (String?) throws -> Void = { _ in }
    ) async throws {
        let replaced = try await keeping(&file) {
            try await store.audio.put(
                object, business: principal.business, isChunk: isChunk,
                refusing: fixtureBehaviour.fixtures(refusing: .upload),
                replacing: permitReplacing)
        }
        await objects.remove(replaced)
        await notify(object, principal)
    }

    /// Stores a written file as a chunk of an open transaction, with its transcript.
    /// - Parameters:
    ///   - speech: The transcript; nil if a job must recognise the chunk.
    ///   - permitReplacing: As in ``keep(_:as:for:isChunk:replacing:)``. If it throws, the caller can store the file
    ///     under another name.
    /// - Throws: As ``keep(_:as:for:isChunk:replacing:)``; ``ScribeError/invalidState(_:)`` once the recording has
    ///   ended.
    package func keep(
        _ file: inout NewObject, as object: StoredObject, heard speech: RecognisedSpeech?, in key: Transaction.Key,
        for principal: Principal, replacing permitReplacing: @escaping @Sendable (String?) throws -> Void
    ) async throws {
        let replaced = try await keeping(&file) {
            try await store.audio.put(object, heard: speech, in: key, replacing: permitReplacing)
        }
        await objects.remove(replaced)
        await notify(object, principal)
    }

    /// Removes files that no row of the store refers to.
    package func remove(_ files: [String]) async { await objects.remove(files) }

    /// Most keys that one SQL transaction deletes.
    private static let deletedAtOnce = 50

    /// Removes objects, also on a full disk. Succeeds whether they existed or not.
    package func delete(bucket: String, keys: [String], of business: BusinessID) async throws {
        try await reserve.freeing {
            for folder in Dictionary(grouping: keys, by: { AudioLocation.split(key: $0).folder }).values {
                for start in stride(from: 0, to: folder.count, by: Self.deletedAtOnce) {
                    let batch = Array(folder[start...].prefix(Self.deletedAtOnce))
                    let files = try await store.audio.deleteObjects(business: business, bucket: bucket, keys: batch)
                    await objects.remove(files)
                }
            }
        }
    }

    // MARK: In parts

    /// Stores a part of a multipart upload, and replaces the part of the same number.
    /// - Returns: False if there is no such upload.
    package func keep(
        _ file: inout NewObject, as part: MultipartPart, of id: String, bucket: String, key: String,
        for principal: Principal
    ) async throws -> Bool {
        let replaced = try await keeping(&file) {
            try await store.audio.putPart(part, of: id, bucket: bucket, key: key, business: principal.business)
        }
        file.isKept = replaced != nil
        await objects.remove(replaced ?? [])
        return replaced != nil
    }

    /// Joins parts into a new file, stores it as an object and ends the multipart upload.
    /// - Parameters:
    ///   - checksums: Checksums of the joined bytes to compute.
    ///   - object: Makes the object of the new file's name and of what was written; its error leaves the upload as it
    ///     was.
    /// - Returns: The object; nil if a part or the upload is gone.
    package func complete(
        _ id: String, joining parts: [MultipartPart], checksums: Set<ChecksumAlgorithm>,
        as object: (String, WrittenObject) throws -> StoredObject, for principal: Principal,
        replacing permitReplacing: @escaping @Sendable (String?) throws -> Void
    ) async throws -> StoredObject? {
        try await objects.withNewObject(checksums: checksums) { file in
            for part in parts where try await !file.write(part.file, 0..<part.size, of: objects) { return nil }
            let object = try object(file.name, try await file.finish())
            let completed = try await keeping(&file) {
                try await store.audio.complete(
                    id, as: object, business: principal.business,
                    refusing: fixtureBehaviour.fixtures(refusing: .upload), replacing: permitReplacing)
            }
            file.isKept = completed != nil
            guard let completed else { return nil }
            await objects.remove(completed.partFiles + completed.replacedFiles)
            await notify(object, principal)
            return object
        }
    }

    /// Aborts a multipart upload and removes its parts.
    /// - Returns: False if there is no such upload.
    package func abort(_ id: String, bucket: String, key: String, of business: BusinessID) async throws -> Bool {
        try await reserve.freeing {
            guard let files = try await store.audio.abort(id, bucket: bucket, key: key, business: business) else {
                return false
            }
            await objects.remove(files)
            return true
        }
    }

    /// Stores a row that refers to a file. After an error the file is kept if the row is there, or if the store does
    /// not answer: the sweep removes it then.
    func keeping<Value: Sendable>(
        _ file: inout NewObject, _ storing: () async throws -> Value
    ) async throws -> Value {
        file.isKept = true
        do {
            return try await storing()
        } catch {
            let name = file.name
            let unused = try? await shieldFromCancellation { [store] in try await store.audio.unusedFiles(among: [name])
            }
            file.isKept = unused != [name]
            throw error
        }
    }

    private func notify(_ object: StoredObject, _ principal: Principal) async {
        for watcher in watchers { await watcher.kept(object, by: principal, uploads: self) }
    }
}

/// Observer of stored uploads, for families in which an upload has further effects.
package protocol UploadObserver: Sendable {
    /// Called after an upload is stored. It cannot make the upload fail.
    func kept(_ object: StoredObject, by principal: Principal, uploads: Uploads) async
}

extension Uploads {
    /// All bytes of a small object; nil if its file is gone, or larger than `limit` bytes.
    package func bytes(of object: StoredObject, upTo limit: Int) async throws -> [UInt8]? {
        guard object.size <= limit, let reader = try await objects.open(object.file) else { return nil }
        var content: [UInt8] = []
        let isWhole = try await reader.read(0..<object.size) { content.append(contentsOf: $0.readableBytesView) }
        return isWhole ? content : nil
    }

    /// Opens an object for reading; nil if its file is gone.
    package func open(_ object: StoredObject) async throws -> (any ObjectReader)? {
        try await objects.open(object.file)
    }
}
