import Foundation
import HTTPTypes
import Hummingbird
import ScribeDomain
import ScribeRuntime
import ScribeStore

extension S3Responder {
    private static let metadataPrefix = "x-amz-meta-"

    /// Streams the body to a fresh file, checks it, and only then makes it the object of that key.
    func putObject(
        _ request: Request, _ bucket: String, _ key: String, _ principal: Principal, _ payload: S3Payload
    ) async throws -> Response {
        guard let length = request.headers[.contentLength].flatMap(Int.init) else { throw S3Error.missingContentLength }
        guard length <= Self.objectLimit else { throw S3Error.entityTooLarge }
        let expectedMD5 = try request.headers[.contentMD5].map { text in
            guard let digest = Data(base64Encoded: text), digest.count == 16 else { throw S3Error.invalidDigest }
            return digest
        }
        let file = identifiers.uuid()
        var writer = try await objects.create(file, hashesSHA256: payload != .unsigned)
        let object: StoredObject
        do {
            for try await buffer in request.body { try await writer.write(buffer) }
            let written = try await writer.finish()
            guard written.size == length else { throw S3Error.incompleteBody }
            if let expectedMD5, expectedMD5 != Data(written.md5) { throw S3Error.badDigest }
            if case .signed(let expected) = payload, written.sha256.map({ Hex.encode($0) }) != expected {
                throw S3Error.contentSHA256Mismatch
            }
            object = StoredObject(
                bucket: bucket, key: key, file: file, size: written.size, md5: Hex.encode(written.md5),
                contentType: request.headers[.contentType], metadata: Self.metadata(of: request.headers),
                createdAt: clock.now
            )
        } catch {
            await writer.discard()
            throw error
        }
        // From here on the file is not to be discarded: an error leaves open whether the row is there. The sweep knows.
        let effect = try await store.put(object, business: principal.business)
        if effect.hasWork { bell.ring() }
        if let replaced = effect.replacedFile { await objects.remove([replaced]) }
        return Response(status: .ok, headers: [.eTag: object.eTag])
    }

    func getObject(
        _ bucket: String, _ key: String, _ principal: Principal, _ context: ScribeContext
    ) async throws -> Response {
        let object = try await object(bucket, key, principal)
        let body = try await fileIO.loadFile(path: objects.path(of: object.file), context: context)
        return Response(status: .ok, headers: object.headers, body: body)
    }

    func headObject(_ bucket: String, _ key: String, _ principal: Principal) async throws -> Response {
        Response(status: .ok, headers: try await object(bucket, key, principal).headers)
    }

    private func object(_ bucket: String, _ key: String, _ principal: Principal) async throws -> StoredObject {
        guard let object = try await store.object(business: principal.business, bucket: bucket, key: key) else {
            throw S3Error.noSuchKey
        }
        return object
    }

    private static func metadata(of headers: HTTPFields) -> [String: String] {
        var metadata: [String: String] = [:]
        for field in headers where field.name.canonicalName.hasPrefix(metadataPrefix) {
            metadata[String(field.name.canonicalName.dropFirst(metadataPrefix.count))] = field.value
        }
        return metadata
    }
}

extension StoredObject {
    /// The quoted MD5 (eka-v2.md 3.2).
    var eTag: String { "\"\(md5)\"" }

    fileprivate var headers: HTTPFields {
        var headers: HTTPFields = [
            .eTag: eTag, .contentLength: String(size), .contentType: contentType ?? "binary/octet-stream",
            .lastModified: createdAt.httpTime, .acceptRanges: "bytes",
        ]
        for (name, value) in metadata {
            if let name = HTTPField.Name("x-amz-meta-\(name)") { headers[name] = value }
        }
        return headers
    }
}

extension Date {
    /// As HTTP headers spell it.
    var httpTime: String {
        let style = Date.VerbatimFormatStyle(
            format: """
                \(weekday: .abbreviated), \(day: .twoDigits) \(month: .abbreviated) \(year: .extended(minimumLength: 4)) \
                \(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased)):\(minute: .twoDigits):\
                \(second: .twoDigits) GMT
                """,
            locale: Locale(identifier: "en_US_POSIX"), timeZone: .gmt, calendar: Calendar(identifier: .gregorian)
        )
        return formatted(style)
    }
}
