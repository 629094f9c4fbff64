import Engines
import NIOCore
package import ScribeDomain
package import ScribeStore

/// What is done with the files of recordings, by whatever door they come: they are written beside, checked by whoever
/// takes them in, and then kept in one store transaction that also makes the work they bring.
package struct Uploads: Sendable {
    private let store: Store
    private let objects: ObjectFiles
    private let reserve: StorageReserve
    private let arriving: ArrivingBytes
    private let bench: TestBench
    private let watchers: [any UploadWatcher]

    /// - Parameter watchers: are told of every upload that is kept.
    package init(
        store: Store, objects: ObjectFiles, reserve: StorageReserve, bench: TestBench,
        watchers: [any UploadWatcher] = []
    ) {
        self.store = store
        self.objects = objects
        self.reserve = reserve
        arriving = ArrivingBytes(store: store)
        self.bench = bench
        self.watchers = watchers
    }

    /// Begins a file. Its bytes count towards the quota of its business while they are received. The caller must `keep` or
    /// `discard` it.
    /// - Parameters:
    ///   - size: how much is announced, in bytes.
    ///   - place: where it will be kept, where that is known.
    /// - Throws: ``ScribeError/storageUnavailable(cause:)``, ``ScribeError/storageQuotaExceeded``.
    package func begin(
        for business: BusinessID, expecting size: Int = 0, at place: (bucket: String, key: String)? = nil,
        checksums: Set<ChecksumAlgorithm> = []
    ) async throws -> (file: String, writer: ObjectWriter) {
        try await reserve.requireRoom()
        let arriving = try await arriving.begin(of: business, expecting: size, at: place)
        let file = objects.freshName()
        return (file, objects.create(file, checksums: checksums, arriving: arriving))
    }

    /// Keeps a file that was written as an object, in the place of one of the same bucket and key. When that fails the
    /// file is removed.
    /// - Parameter permitReplacing: gets the ETag of the object that is there, if any, and throws when it is to stay.
    /// - Throws: ``ScribeError/storageQuotaExceeded``, ``ScribeError/refusedOnPurpose``, ``ScribeError/sessionEnded``,
    ///   ``ScribeError/sessionCompleted``, ``ScribeError/sessionExpired``, what `permitReplacing` throws.
    package func keep(
        _ object: StoredObject, for principal: Principal, isChunk: Bool = false,
        replacing permitReplacing: @escaping @Sendable (String?) throws -> Void = { _ in }
    ) async throws {
        let replaced = try await keeping(object.file) {
            try await store.put(
                object, business: principal.business, isChunk: isChunk, refusing: bench.fixtures(refusing: .upload),
                replacing: permitReplacing)
        }
        await objects.remove(replaced)
        await tell(object, principal)
    }

    /// Keeps a file that was written as a chunk of an open transaction, with what was heard in it.
    /// - Parameters:
    ///   - speech: nil where nobody has listened.
    ///   - permitReplacing: as in ``keep(_:for:replacing:)``; when it throws the file stays, to be kept otherwise.
    /// - Throws: as ``keep(_:for:replacing:)``; ``ScribeError/invalidState(_:)`` once recording has ended.
    package func keep(
        _ object: StoredObject, heard speech: RecognisedSpeech?, in key: Transaction.Key, for principal: Principal,
        replacing permitReplacing: @escaping @Sendable (String?) throws -> Void
    ) async throws {
        do {
            let replaced = try await store.put(object, heard: speech, in: key, replacing: permitReplacing)
            await objects.remove(replaced)
        } catch let failure as ScribeError {
            if let unused = try? await store.unusedFiles(among: [object.file]) { await objects.remove(unused) }
            throw failure
        }
        await tell(object, principal)
    }

    /// Removes files to which nobody refers any more.
    package func remove(_ files: [String]) async { await objects.remove(files) }

    /// Removes an object, also on a disk that is full. Succeeds whether there was one or not.
    package func delete(bucket: String, key: String, of business: BusinessID) async throws {
        try await reserve.freeing {
            if let file = try await store.deleteObject(business: business, bucket: bucket, key: key) {
                await objects.remove([file])
            }
        }
    }

    // MARK: In parts

    /// Keeps a part of an upload, in the place of one of the same number.
    /// - Returns: false when there is no such upload; the file is removed then.
    package func keep(
        _ part: MultipartPart, of id: String, bucket: String, key: String, for principal: Principal
    ) async throws -> Bool {
        let replaced = try await keeping(part.file) {
            try await store.put(part, of: id, bucket: bucket, key: key, business: principal.business)
        }
        await objects.remove(replaced ?? [part.file])
        return replaced != nil
    }

    /// Writes parts one after another into a new file.
    /// - Returns: the file and its size; nil when a part is not there any more.
    package func join(_ parts: [MultipartPart]) async throws -> (file: String, size: Int)? {
        let file = objects.freshName()
        return try await objects.join(parts.map(\.file), into: file).map { (file, $0) }
    }

    /// Keeps the joined parts as an object and forgets the upload.
    /// - Returns: false when the upload is gone; the file is removed then.
    package func complete(
        _ id: String, as object: StoredObject, for principal: Principal,
        replacing permitReplacing: @escaping @Sendable (String?) throws -> Void
    ) async throws -> Bool {
        let completed = try await keeping(object.file) {
            try await store.complete(
                id, as: object, business: principal.business, refusing: bench.fixtures(refusing: .upload),
                replacing: permitReplacing)
        }
        guard let completed else {
            await objects.remove([object.file])
            return false
        }
        await objects.remove(completed.partFiles + completed.replacedFiles)
        await tell(object, principal)
        return true
    }

    /// Forgets an upload in parts.
    /// - Returns: false when there is none.
    package func abort(_ id: String, bucket: String, key: String, of business: BusinessID) async throws -> Bool {
        try await reserve.freeing {
            guard let files = try await store.abort(id, bucket: bucket, key: key, business: business) else {
                return false
            }
            await objects.remove(files)
            return true
        }
    }

    /// Stores what refers to a file. When that fails and the row is not there, the file goes too.
    private func keeping<Value: Sendable>(_ file: String, _ storing: () async throws -> Value) async throws -> Value {
        do {
            return try await storing()
        } catch {
            if let unused = try? await store.unusedFiles(among: [file]) { await objects.remove(unused) }
            throw error
        }
    }

    private func tell(_ object: StoredObject, _ principal: Principal) async {
        for watcher in watchers { await watcher.kept(object, by: principal, uploads: self) }
    }
}

/// Somebody for whom an upload means something beside its bytes.
package protocol UploadWatcher: Sendable {
    /// The upload is kept, and its sender will be told so, whatever is done here.
    func kept(_ object: StoredObject, by principal: Principal, uploads: Uploads) async
}

extension Uploads {
    /// All bytes of a small object; nil when they are not there any more, or more than `limit`.
    package func bytes(of object: StoredObject, upTo limit: Int) async throws -> [UInt8]? {
        guard object.size <= limit, let reader = try await objects.open(object.file) else { return nil }
        var content: [UInt8] = []
        while content.count < object.size {
            let piece = try await reader.read(content.count..<object.size)
            guard piece.readableBytes > 0 else { return nil }
            content.append(contentsOf: piece.readableBytesView)
        }
        return content
    }

    /// The bytes of an object, to be read piece by piece; nil when its file is not there any more.
    package func open(_ object: StoredObject) async throws -> ObjectReader? { try await objects.open(object.file) }
}
