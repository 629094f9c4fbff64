import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
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
    }

    /// An upload in progress.
    private struct Upload {
        /// Responder of the world that the upload belongs to.
        let target: S3Responder
        let principal: Principal
        let policy: PostPolicy
        let address: S3ObjectAddress
        let contentType: String?
        let disposition: String?
        let metadata: [String: String]
        let file: String
        var writer: any ObjectWriter
        var size = 0
        /// Fault of that world, which only the form names.
        var fault: LateFault?
    }

    func postObject(_ request: Request, into bucket: String, _ context: ScribeContext) async throws -> Response {
        guard var decoder = request.headers[.contentType].flatMap(FormDecoder.init(contentType:)) else {
            throw S3Error.invalidRequest("Bucket POST must be of the enclosure-type multipart/form-data")
        }
        var form = Form()
        var upload: Upload?
        var isReceived = false
        do {
            for try await buffer in request.body {
                for event in try decoder.decode(buffer) {
                    // Fields after the file are ignored.
                    if isReceived { continue }
                    if upload == nil {
                        upload = try await take(event, of: &form, into: bucket, request, context)
                    } else if try await take(event, into: &upload) {
                        isReceived = true
                    }
                }
            }
            try decoder.finish()
            guard let received = upload, isReceived else {
                throw S3Error.invalidArgument("POST requires exactly one file upload per request.")
            }
            // From here on `store` owns the file, and removes it on errors.
            upload = nil
            let stored = try await received.target.store(received, form, below: context.linkPath)
            return try await received.fault?.after(stored) ?? stored
        } catch let fault as LateFault.Instead {
            await upload?.writer.discard()
            return fault.response
        } catch {
            await upload?.writer.discard()
            if error is FormDecoder.Malformed { throw S3Error.malformedPostRequest }
            throw error
        }
    }

    /// Collects the fields.
    /// - Returns: The upload, once its file part begins.
    private func take(
        _ event: FormDecoder.Event, of form: inout Form, into bucket: String, _ request: Request,
        _ context: ScribeContext
    ) async throws -> Upload? {
        switch event {
        case .part(let part) where part.name == "file":
            let token = form.fields["x-amz-security-token"]
            guard let world = try world(of: token, context) else {
                let upload = try await begin(form.fields, part, bucket)
                context.noteCaller(upload.principal)
                return upload
            }
            world.use.begin()
            defer { world.use.end() }
            var principal: Principal?
            if let token { principal = await world.credentials.holder(ofSessionToken: token) }
            let fault = context.lateFault(
                of: world, request, S3Family(explainsSignatures: explainsSignatures), principal)
            try await fault?.before()
            var upload = try await S3Responder(world, explainsSignatures: explainsSignatures)
                .begin(form.fields, part, bucket)
            context.noteCaller(upload.principal)
            upload.fault = fault
            return upload
        case .part(let part):
            form.size += part.name.utf8.count + Self.fieldOverhead
            guard form.size <= Self.fieldLimit else { throw S3Error.maxPostPreDataLengthExceeded }
            form.current = (part.name.lowercased(), ByteBuffer())
        case .data(var data):
            form.size += data.readableBytes
            guard form.size <= Self.fieldLimit else { throw S3Error.maxPostPreDataLengthExceeded }
            form.current?.value.writeBuffer(&data)
        case .endOfPart:
            if let (name, value) = form.current { form.fields[name] = String(buffer: value) }
            form.current = nil
        }
        return nil
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

    /// Writes the file.
    /// - Returns: Whether the file has ended.
    private func take(_ event: FormDecoder.Event, into upload: inout Upload?) async throws -> Bool {
        guard case .data(let data) = event else { return true }
        upload?.size += data.readableBytes
        if let upload, upload.size > upload.policy.sizes.upperBound { throw S3Error.entityTooLarge }
        try await upload?.writer.write(data)
        return false
    }

    /// Verifies policy and fields before the first byte of the file is stored.
    private func begin(_ fields: [String: String], _ part: FormPart, _ bucket: String) async throws -> Upload {
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
        let policy = try PostPolicy(base64: encodedPolicy)
        guard let template = fields["key"] else {
            throw S3Error.invalidArgument("Bucket POST must contain a field named 'key'.")
        }
        // Checked before substitution: the template may repeat `${filename}` many times.
        guard max(template.utf8.count, part.baseName?.utf8.count ?? 0) <= 1024 else { throw S3Error.keyTooLong }
        let name = template.replacing("${filename}", with: part.baseName ?? "")
        var checked = fields
        checked["bucket"] = bucket
        checked["key"] = name
        try policy.check(checked, at: ofForm.map(clock.wallTime(issuedAt:)) ?? clock.wall.now)
        let path = "/\(bucket)/\(PercentEncoding.encode(name, keepingSlashes: true))"
        guard case .object(let address) = try S3Address(host: "", path: path) else {
            throw S3Error.invalidArgument("The key must not be empty.")
        }
        let prefix = "x-amz-meta-"
        let metadata = fields.filter { $0.key.hasPrefix(prefix) }
            .map { (String($0.key.dropFirst(prefix.count)), $0.value) }
        let (file, writer) = try await uploads.begin(
            for: principal.business, at: (address.bucket, address.key))
        return Upload(
            target: self, principal: principal, policy: policy, address: address,
            contentType: fields["content-type"] ?? part.contentType, disposition: fields["content-disposition"],
            metadata: Dictionary(metadata, uniquingKeysWith: { first, _ in first }), file: file,
            writer: writer
        )
    }

    private func store(_ received: Upload, _ form: Form, below path: String) async throws -> Response {
        var upload = received
        let written: WrittenObject
        do {
            written = try await upload.writer.finish()
            guard upload.policy.sizes.contains(written.size) else { throw S3Error.entityTooSmall }
        } catch {
            await upload.writer.discard()
            throw error
        }
        let object = StoredObject(
            bucket: upload.address.bucket, key: upload.address.key, file: upload.file, size: written.size,
            eTag: Hex.encode(written.md5), contentType: upload.contentType, disposition: upload.disposition,
            metadata: upload.metadata, createdAt: clock.now
        )
        try await uploads.keep(object, for: upload.principal)
        var headers: HTTPFields = [.eTag: object.quotedETag]
        headers[.location] = "\(path)/\(object.bucket)/\(PercentEncoding.encode(object.key, keepingSlashes: true))"
        switch form.fields["success_action_status"] {
        case "200": return Response(status: .ok, headers: headers)
        case "201":
            var response = XMLElement(
                "PostResponse",
                [
                    XMLElement("Location", headers[.location] ?? ""), XMLElement("Bucket", object.bucket),
                    XMLElement("Key", object.key), XMLElement("ETag", object.quotedETag),
                ]
            ).response(.created)
            response.headers.append(contentsOf: headers)
            return response
        default: return Response(status: .noContent, headers: headers)
        }
    }
}
