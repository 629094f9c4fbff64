import Basics
import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import ObjectStorage
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// Uploads an object through an HTML form with a signed policy (eka.md 3.3).
extension S3Responder {
    /// Largest total of the fields before the file, with their names, in bytes.
    private static let fieldLimit = 64 * 1024
    /// Bytes counted for each field beside its name and value.
    private static let fieldOverhead = 128

    /// Fields of the form before its file.
    private struct Form {
        var fields: [String: String] = [:]
        var size = 0
        var current: (name: String, value: ByteBuffer)?

        /// Collects the fields.
        /// - Returns: The file part, once it begins.
        mutating func take(_ event: FormDecoder.Event) throws(S3Error) -> FormPart? {
            switch event {
            case .part(let part) where part.name == "file": return part
            case .part(let part):
                size += part.name.utf8.count + S3Responder.fieldOverhead
                current = (part.name.lowercased(), ByteBuffer())
            case .data(var data):
                size += data.readableBytes
                current?.value.writeBuffer(&data)
            case .endOfPart:
                if let (name, value) = current { fields[name] = String(buffer: value) }
                current = nil
            }
            guard size <= S3Responder.fieldLimit else { throw .maxPostPreDataLengthExceeded }
            return nil
        }
    }

    /// Upload with a verified policy and verified fields.
    private struct Upload {
        let principal: Principal
        let policy: PostPolicy
        let address: S3ObjectAddress
        let headers: [String: String]
        let checksum: DeclaredChecksum?
        /// The form's fields, in which the file's name is filled in.
        let fields: [String: String]
    }

    func postObject(_ request: Request, into bucket: String, _ context: ScribeContext) async throws -> Response {
        guard var reader = FormReader(request) else {
            throw S3Error.invalidRequest("Bucket POST must be of the enclosure-type multipart/form-data")
        }
        do {
            var form = Form()
            while let event = try await reader.next() {
                if let part = try form.take(event) {
                    return try await receiveInWorld(part, of: &reader, form.fields, into: bucket, request, context)
                }
            }
            throw S3Error.invalidArgument("POST requires exactly one file upload per request.")
        } catch let fault as LateFault.Instead {
            return fault.response
        } catch is FormDecoder.Malformed {
            throw S3Error.malformedPostRequest
        }
    }

    /// Receives the file in the world that the form names.
    private func receiveInWorld(
        _ part: FormPart, of reader: inout FormReader, _ fields: [String: String], into bucket: String,
        _ request: Request, _ context: ScribeContext
    ) async throws -> Response {
        let token = fields["x-amz-security-token"]
        guard let world = try world(of: token, context) else {
            return try await receive(part, of: &reader, fields, into: bucket, request, context)
        }
        world.use.begin()
        defer { world.use.end() }
        var principal: Principal?
        if let token { principal = await world.credentials.holder(ofSessionToken: token) }
        let fault = context.lateFault(of: world, request, S3Family(settings), principal)
        try await fault?.before()
        let stored = try await S3Responder(world: world, settings: settings)
            .receive(part, of: &reader, fields, into: bucket, request, context)
        return try await fault?.after(stored) ?? stored
    }

    /// Receives the file. Fields after it are ignored.
    private func receive(
        _ part: FormPart, of reader: inout FormReader, _ fields: [String: String], into bucket: String,
        _ request: Request, _ context: ScribeContext
    ) async throws -> Response {
        let upload = try await verify(fields, part, bucket, context)
        context.noteCaller(upload.principal)
        let algorithm = upload.checksum?.algorithm ?? Self.usualAlgorithm
        return try await uploads.receive(
            for: upload.principal.business, at: (upload.address.bucket, upload.address.key), checksums: [algorithm]
        ) { file in
            var size = 0
            while let data = try await reader.data() {
                size += data.readableBytes
                guard size <= upload.policy.sizes.upperBound else { throw S3Error.entityTooLarge }
                try await file.write(data)
            }
            while try await reader.next() != nil {}
            let written = try await file.finish()
            context.noteObject(written.md5)
            guard upload.policy.sizes.contains(written.size) else { throw S3Error.entityTooSmall }
            if let expected = upload.checksum?.value, expected != written.checksums[algorithm] {
                throw S3Error.badDigest(algorithm.headerName.canonicalName)
            }
            let received = ReceivedBody(written, algorithm)
            let object = StoredObject(
                bucket: upload.address.bucket, key: upload.address.key, file: file.name, size: received.size,
                eTag: received.md5, headers: upload.headers, checksum: received.checksum, createdAt: clock.now
            )
            try await uploads.keep(&file, as: object, for: upload.principal)
            return Self.answer(to: object, upload.fields, at: location(of: object, request, context))
        }
    }

    /// The world that a form's session token names; nil for the request's own. The head of the request has no token.
    private func world(of token: String?, _ context: ScribeContext) throws(S3Error) -> World? {
        guard let directory = context.directory, let name = token.flatMap(directory.namespace(claimedBy:)),
            name != context.world.namespace
        else { return nil }
        guard context.world.namespace == nil, let world = directory[name] else {
            throw .accessDenied("The form belongs to another namespace, or to one that does not exist any more.")
        }
        return world
    }

    /// Verifies policy and fields before the first byte of the file is stored.
    private func verify(
        _ fields: [String: String], _ part: FormPart, _ bucket: String, _ context: ScribeContext
    ) async throws -> Upload {
        guard let encodedPolicy = fields["policy"] else {
            throw S3Error.accessDenied("Anonymous uploads are not allowed: the form has no policy.")
        }
        guard fields["x-amz-algorithm"] == SigningScope.algorithm,
            let scope = fields["x-amz-credential"].flatMap(SigningScope.init), scope.service == "s3",
            let signature = fields["x-amz-signature"].flatMap({ Hex.decode($0) })
        else {
            throw S3Error.invalidArgument(
                "The form must have x-amz-algorithm \(SigningScope.algorithm), x-amz-credential and x-amz-signature.")
        }
        let (principal, key, ofForm) = try await credentials.resolve(
            scope, sessionToken: fields["x-amz-security-token"])
        guard
            HMAC<SHA256>.isValidAuthenticationCode(signature, authenticating: Data(encodedPolicy.utf8), using: key)
        else { throw S3Error.signatureDoesNotMatch() }
        try check(region: scope.region, context)
        let policy = try PostPolicy(base64: encodedPolicy)
        guard fields["key"] != nil else {
            throw S3Error.invalidArgument("Bucket POST must contain a field named 'key'.")
        }
        var fields = try Self.filled(fields, with: part.baseName ?? "")
        fields["bucket"] = bucket
        try policy.check(
            fields, at: ofForm.map(clock.wallTime(issuedAt:)) ?? clock.wall.now, isOwn: ofForm != nil)
        let path = "/\(bucket)/\(PercentEncoding.encode(fields["key"] ?? "", keepingSlashes: true))"
        guard case .object(let address) = try S3Address(host: "", path: path) else {
            throw S3Error.invalidArgument("The key must not be empty.")
        }
        var headers = try KeptHeaders.of(fields.lazy.map { ($0.key, $0.value) })
        headers["content-type"] = headers["content-type"] ?? part.contentType
        let checksums = fields.filter { $0.key.hasPrefix("x-amz-checksum-") }.compactMap { field in
            HTTPField.Name(field.key).map { HTTPField(name: $0, value: field.value) }
        }
        return Upload(
            principal: principal, policy: policy, address: address, headers: headers,
            checksum: try DeclaredChecksum(HTTPFields(checksums)), fields: fields)
    }

    /// The fields with the file's name in place of `${filename}`.
    /// - Throws: ``S3Error/maxPostPreDataLengthExceeded`` for names that are repeated too often,
    ///   ``S3Error/keyTooLong``.
    private static func filled(_ fields: [String: String], with name: String) throws(S3Error) -> [String: String] {
        guard max(fields["key"]?.utf8.count ?? 0, name.utf8.count) <= S3Address.keyLimit else { throw .keyTooLong }
        let variable = "${filename}"
        var filled = fields
        var size = 0
        for (field, value) in fields where value.contains(variable) {
            size += value.utf8.count + value.ranges(of: variable).count * name.utf8.count
            guard size <= fieldLimit else { throw .maxPostPreDataLengthExceeded }
            filled[field] = value.replacing(variable, with: name)
        }
        return filled
    }

    private static func answer(to object: StoredObject, _ fields: [String: String], at location: String) -> Response {
        var headers: HTTPFields = [.eTag: object.quotedETag, .location: location]
        headers.append(contentsOf: object.checksum?.fields ?? [:])
        if let target = redirection(fields["success_action_redirect"] ?? fields["redirect"], to: object) {
            headers[.location] = target
            return Response(status: .seeOther, headers: headers)
        }
        switch fields["success_action_status"] {
        case "200": return Response(status: .ok, headers: headers)
        case "201":
            var response = XMLElement(
                "PostResponse",
                [
                    XMLElement("Location", location), XMLElement("Bucket", object.bucket),
                    XMLElement("Key", object.key), XMLElement("ETag", object.quotedETag),
                ]
            ).response(.created)
            response.headers.append(contentsOf: headers)
            return response
        default: return Response(status: .noContent, headers: headers)
        }
    }

    /// Address to which the form wants to lead, with the object in its query; nil for one that cannot be read, which
    /// AWS ignores.
    private static func redirection(_ target: String?, to object: StoredObject) -> String? {
        guard let target, target.isPlain, var url = URLComponents(string: target), let host = url.host, !host.isEmpty,
            ["http", "https"].contains(url.scheme?.lowercased())
        else { return nil }
        let facts = [("bucket", object.bucket), ("key", object.key), ("etag", object.quotedETag)]
            .map { "\($0)=\(PercentEncoding.encode($1, keepingSlashes: false))" }
        url.percentEncodedQuery = ([url.percentEncodedQuery].compactMap(\.self) + facts).joined(separator: "&")
        return url.string
    }
}
