import Basics
import Engines
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import ObjectStorage
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// Serves uploaded audio to the console's player, or to keep: `audio/BUSINESS/TRANSACTION/FILE`, with `?download`.
extension ConsoleFamily {
    /// - Throws: ``ConsoleError/notFound`` for a missing file, for a file to play that is not audio, and if the console
    ///   must not show patients' words.
    func audio(_ path: ArraySlice<Substring>, _ request: Request, _ context: ScribeContext) async throws -> Response {
        let words = path.compactMap { PercentEncoding.decode($0) }
        guard settings.showsWords, path.count == 3, words.count == 3, TransactionID.isValid(words[1]),
            request.method == .get || request.method == .head
        else { throw ConsoleError.notFound }
        let runtime = context.world.runtime
        let key = Transaction.Key(business: BusinessID(words[0]), id: TransactionID(words[1]))
        guard let transaction = try await runtime.store.transactions.transaction(key),
            let place = transaction.request.audioLocation,
            let object = try await runtime.store.audio.object(
                business: key.business, bucket: place.bucket, key: place.key(ofFile: words[2])),
            let reader = try await runtime.uploads.open(object)
        else { throw ConsoleError.notFound }
        if request.query.has("download") {
            var response = Self.response(reader, nil, size: object.size, type: "application/octet-stream")
            response.headers[.contentDisposition] = "attachment"
            return response
        }
        let head = try await reader.read(0..<min(object.size, 64 << 10))
        guard let type = AudioFormat.contentType(ofFileBeginning: Array(head.readableBytesView)) else {
            throw ConsoleError.notFound
        }
        let range: ByteRange?
        do {
            range = try request.headers.value(of: .range).flatMap { text throws(ByteRange.Unsatisfiable) in
                try ByteRange(text, of: object.size)
            }
        } catch {
            return Response(status: .rangeNotSatisfiable, headers: [.contentRange: "bytes */\(object.size)"])
        }
        return Self.response(reader, range, size: object.size, type: type)
    }

    private static func response(
        _ reader: any ObjectReader, _ range: ByteRange?, size: Int, type: String
    ) -> Response {
        let bytes = range.map { Range($0.bytes) } ?? 0..<size
        var headers: HTTPFields = [
            .contentType: type, .acceptRanges: "bytes", .contentSecurityPolicy: "sandbox; default-src 'none'",
        ]
        if let range { headers[.contentRange] = range.contentRange(of: size) }
        return Response(
            status: range == nil ? .ok : .partialContent, headers: headers,
            body: ResponseBody(contentLength: bytes.count) { writer in
                let isWhole = try await reader.read(bytes) { try await writer.write($0) }
                guard isWhole else { throw ConsoleError.notFound }
                try await writer.finish(nil)
            })
    }
}
