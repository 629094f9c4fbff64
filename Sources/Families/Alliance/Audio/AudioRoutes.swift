import Basics
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import ObjectStorage
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// `POST /voice/v1/sessions/{id}/audio[/{file}]`: uploads one audio file of a protocol session (medscribe.md 2.3).
struct AudioRoutes: Sendable {
    let sessions: ProtocolSessions
    let uploads: Uploads
    let clock: WorldClock

    /// Upload limit of one audio file, in bytes.
    static let largestFile = 10 << 20

    static func add(to router: WorldRoutes<Self>) {
        router.post("voice/v1/sessions/{txn_id}/audio/{file_name}", use: take)
        router.post("voice/v1/sessions/{txn_id}/audio", use: take)
    }

    /// Stores the uploaded file as a chunk of the session. The path, the body or a header names the file.
    @Sendable private func take(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let text = context.text(of: "file_name")
        guard text != nil || context.parameters.get("file_name") == nil else {
            throw AllianceError.malformed("A file's name must be like chunk_0.wav or 1.mp3")
        }
        let key = try context.requireSession()
        let principal = try context.requirePrincipal()
        let name = try text.map { text throws(AllianceError) in try AudioFileName(text) }
        // Checked before the body is read, so that no client uploads in vain.
        let transaction = try await sessions.requireOpen(key)
        guard transaction.request.intake != .segments else {
            throw AllianceError.malformed("An ambient session takes its audio by its own API")
        }
        guard let location = transaction.request.audioLocation else {
            throw AllianceError.malformed("The session was started without a place for its audio")
        }
        if let length = request.headers.value(of: .contentLength).flatMap({ Int($0) }), length > Self.largestFile + 4096
        {
            throw AllianceError.chunkTooLarge
        }
        return try await uploads.receive(
            for: principal.business, at: name.map { (location.bucket, location.key(ofFile: $0.stored)) }
        ) { file in
            let sent = try await SentFile(request, into: &file, atMost: Self.largestFile)
            let original = text ?? sent.name ?? "audio_0.\(sent.fileExtension ?? "wav")"
            let name = try name ?? sent.numberedName(original)
            let contentType = try name.contentType(sent.contentType ?? request.headers.value(of: .contentType))
            let written = try await file.finish()
            context.noteObject(written.md5)
            let object = StoredObject(
                bucket: location.bucket, key: location.key(ofFile: name.stored), file: file.name, size: written.size,
                eTag: Hex.encode(written.md5), headers: ["content-type": contentType],
                createdAt: clock.now)
            try await uploads.keep(&file, as: object, for: principal, isChunk: true)
            return .json(
                .ok,
                ["session_id": .string(key.id.rawValue), "success": true, "original_filename": .string(original)])
        }
    }
}

/// Name and type of one uploaded file: a raw body or the file part of a form.
private struct SentFile {
    private(set) var name: String?
    private(set) var contentType: String?
    private var size = 0
    private let limit: Int
    private var inFile = false
    private var hasFile = false

    /// The file name with its chunk number. A name without a number is a whole recording, and becomes chunk 0.
    func numberedName(_ original: String) throws(AllianceError) -> AudioFileName {
        if let name = try? AudioFileName(original) { return name }
        let own = original.split(separator: ".").last.map { $0.lowercased() } ?? ""
        let known = AudioFileName.types[own] != nil ? own : fileExtension
        return try AudioFileName("audio_0.\(known ?? "wav")")
    }

    /// The extension for the content type; nil for an unknown type.
    var fileExtension: String? {
        AudioFileName.types.first { contentType?.hasPrefix($0.value.prefix { $0 != ";" }) ?? false }?.key
    }

    /// Reads the body: a raw file, a form with one file, or a form whose header claims a raw file.
    ///
    /// One of the SDKs sends the last kind (row 33).
    /// - Throws: ``AllianceError/chunkTooLarge``, ``AllianceError/malformed(_:)``.
    init(_ request: Request, into file: inout NewObject, atMost limit: Int) async throws {
        self.limit = limit
        name = request.headers.value(of: .contentDisposition).flatMap(Self.fileName)
        do {
            try await read(request, into: &file)
        } catch is FormDecoder.Malformed {
            throw AllianceError.malformed("The form is not whole")
        }
    }

    private mutating func read(_ request: Request, into file: inout NewObject) async throws {
        var decoder = request.headers.value(of: .contentType).flatMap(FormDecoder.init(contentType:))
        let isForm = request.headers.value(of: .contentType)?.lowercased().hasPrefix("multipart/") ?? false
        guard decoder != nil || !isForm else { throw AllianceError.malformed("The form has no boundary") }
        var head = ByteBuffer()
        var isDecided = decoder != nil
        for try await var buffer in request.body {
            if !isDecided {
                head.writeBuffer(&buffer)
                guard let boundary = Self.boundary(in: head) else { continue }
                isDecided = true
                decoder = boundary.flatMap { FormDecoder(contentType: "multipart/form-data; boundary=\"\($0)\"") }
                buffer = head
            }
            try await take(buffer, &decoder, into: &file)
        }
        if !isDecided { try await take(head, &decoder, into: &file) }
        try decoder?.finish()
        if decoder != nil, !hasFile { throw AllianceError.malformed("The form holds no file") }
    }

    private mutating func take(
        _ buffer: ByteBuffer, _ decoder: inout FormDecoder?, into file: inout NewObject
    ) async throws {
        guard decoder != nil else { return try await write(buffer, to: &file) }
        for event in try decoder?.decode(buffer) ?? [] {
            switch event {
            case .part(let part):
                inFile = part.fileName != nil || part.name == "file"
                guard inFile else { continue }
                guard !hasFile else { throw AllianceError.malformed("The form holds more than one file") }
                hasFile = true
                name = part.baseName ?? name
                contentType = part.contentType ?? contentType
            case .data(let data): if inFile { try await write(data, to: &file) }
            case .endOfPart: inFile = false
            }
        }
    }

    private mutating func write(_ data: ByteBuffer, to file: inout NewObject) async throws {
        size += data.readableBytes
        guard size <= limit else { throw AllianceError.chunkTooLarge }
        try await file.write(data)
    }

    /// Detects a multipart boundary in a body that no header announces as a form.
    /// - Returns: nil until enough bytes have come; an inner nil for a body that is no form.
    private static func boundary(in head: ByteBuffer) -> String?? {
        let bytes = Array(head.readableBytesView.prefix(512))
        guard bytes.starts(with: Array("--".utf8).prefix(bytes.count)) else { return .some(nil) }
        let text = String(decoding: bytes, as: UTF8.self)
        let lines = text.split(separator: "\r\n", maxSplits: 2, omittingEmptySubsequences: false)
        guard lines.count >= 3 || bytes.count >= 512 else { return nil }
        guard lines.count >= 2, lines[1].lowercased().hasPrefix("content-disposition: form-data") else {
            return .some(nil)
        }
        return .some(String(lines[0].dropFirst(2)))
    }

    private static func fileName(_ disposition: String) -> String? {
        guard let range = disposition.range(of: "filename=") else { return nil }
        let value = disposition[range.upperBound...].prefix { $0 != ";" }
        return value.trimmingCharacters(in: CharacterSet(charactersIn: "\" "))
    }
}
