import Foundation
import HTTPTypes
import Hummingbird
import ScribeDomain
import ScribeRuntime
import ScribeStore

extension S3Responder {
    func putObject(_ request: Request, _ address: S3ObjectAddress, _ caller: S3Authorisation) async throws -> Response {
        let received = try await receive(request, caller)
        let object = StoredObject(
            bucket: address.bucket, key: address.key, file: received.file, size: received.size, eTag: received.md5,
            contentType: request.headers[.contentType], metadata: Self.metadata(of: request.headers),
            createdAt: clock.now
        )
        // From here on the file is not to be discarded: an error leaves open whether the row is there. The sweep knows.
        await settle(try await store.put(object, business: caller.principal.business))
        var headers = received.checksums
        headers[.eTag] = object.quotedETag
        return Response(status: .ok, headers: headers)
    }

    /// Starts the work that an upload has made, and removes what it has replaced.
    func settle(_ effect: UploadEffect) async {
        if effect.hasWork { bell.ring() }
        if let replaced = effect.replacedFile { await objects.remove([replaced]) }
    }

    func getObject(
        _ request: Request, _ address: S3ObjectAddress, _ business: BusinessID, _ context: ScribeContext
    ) async throws -> Response {
        let object = try await object(address, business)
        var headers = object.headers
        if request.headers[.ifNoneMatch] == object.quotedETag {
            headers[.contentLength] = nil
            return Response(status: .notModified, headers: headers)
        }
        if let expected = request.headers[.ifMatch], expected != object.quotedETag { throw S3Error.preconditionFailed }
        let path = objects.path(of: object.file)
        guard
            let range = try request.headers[.range].flatMap({ text throws(S3Error) in
                try ByteRange(text, of: object.size)
            })
        else {
            return Response(
                status: .ok, headers: headers, body: try await fileIO.loadFile(path: path, context: context))
        }
        headers[.contentLength] = String(range.bytes.count)
        headers[.contentRange] = "bytes \(range.bytes.lowerBound)-\(range.bytes.upperBound)/\(object.size)"
        let body = try await fileIO.loadFile(path: path, range: range.bytes, context: context)
        return Response(status: .partialContent, headers: headers, body: body)
    }

    func headObject(_ address: S3ObjectAddress, _ business: BusinessID) async throws -> Response {
        Response(status: .ok, headers: try await object(address, business).headers)
    }

    /// Succeeds whether there was an object or not, as S3 does.
    func deleteObject(_ address: S3ObjectAddress, _ business: BusinessID) async throws -> Response {
        if let file = try await store.deleteObject(business: business, bucket: address.bucket, key: address.key) {
            await objects.remove([file])
        }
        return Response(status: .noContent)
    }

    private func object(_ address: S3ObjectAddress, _ business: BusinessID) async throws -> StoredObject {
        guard let object = try await store.object(business: business, bucket: address.bucket, key: address.key) else {
            throw S3Error.noSuchKey
        }
        return object
    }

    /// The `x-amz-meta-` headers, without the prefix.
    static func metadata(of headers: HTTPFields) -> [String: String] {
        let prefix = "x-amz-meta-"
        var metadata: [String: String] = [:]
        for field in headers where field.name.canonicalName.hasPrefix(prefix) {
            metadata[String(field.name.canonicalName.dropFirst(prefix.count))] = field.value
        }
        return metadata
    }
}

/// One range of an object that a `Range` header asks for.
struct ByteRange: Hashable, Sendable {
    let bytes: ClosedRange<Int>

    /// Reads `bytes=0-9`, `bytes=10-` and `bytes=-5`. Nil for what S3 ignores: other units and several ranges.
    /// - Throws: ``S3Error/invalidRange`` when no byte of the object is in it.
    init?(_ text: String, of size: Int) throws(S3Error) {
        guard text.hasPrefix("bytes=") else { return nil }
        let parts = text.dropFirst("bytes=".count).split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ $0.allSatisfy(\.isNumber) && $0.count <= 18 }) else { return nil }
        switch (Int(parts[0]), Int(parts[1])) {
        case (let first?, let last):
            if let last, last < first { return nil }
            guard first < size else { throw .invalidRange }
            bytes = first...min(last ?? size - 1, size - 1)
        case (nil, let suffix?):
            guard suffix > 0, size > 0 else { throw .invalidRange }
            bytes = max(0, size - suffix)...(size - 1)
        case (nil, nil):
            return nil
        }
    }
}

extension StoredObject {
    /// As headers and XML spell it (eka-v2.md 3.2).
    var quotedETag: String { "\"\(eTag)\"" }

    fileprivate var headers: HTTPFields {
        var headers: HTTPFields = [
            .eTag: quotedETag, .contentLength: String(size), .contentType: contentType ?? "binary/octet-stream",
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
