import Basics
import Eka
import Foundation
import HTTPTypes
import ScribeDomain
import ScribeHTTP

/// Rules about uploads to S3 and their signatures.
enum UploadRules {
    static let region = LintRule(
        "wrong-region", .error, row: "C-71", "An upload is signed for another region than the bucket's",
        why: "S3 refuses it with AuthorizationHeaderMalformed.",
        fix: "Sign for \(SigningScope.region), or ask for the region with HEAD of the bucket: x-amz-bucket-region.")
    static let thin = LintRule(
        "signature-thin", .warning, row: "C-69", "A signature leaves out a header that changes the object",
        why: "Whoever holds the signed request can store it under another content type or with other metadata.",
        fix: "Sign host, content-type and all x-amz- headers.", shippedBy: [.android, .web])
    static let long = LintRule(
        "signature-long", .warning, row: "C-69", "A presigned address is valid for more than an hour",
        why: "Whoever sees the address can replace the audio until then.",
        fix: "Set X-Amz-Expires to a few minutes, and at most to 3,600.")
    static let checksum = LintRule(
        "presigned-checksum", .warning, row: "eka.md 3.2", "A presigned address carries a checksum",
        why: "The checksum is of an empty body, or of one that the uploader does not send: other stores refuse it.",
        fix: "Tell the SDK to compute checksums only when required (request_checksum_calculation=when_required).")
    static let unchecked = LintRule(
        "upload-unchecked", .warning, row: "C-69", "An upload has no checksum of its body",
        why: "A body that was damaged on its way is stored as it came.",
        fix: "Send Content-MD5 or x-amz-checksum-*, or sign the body's SHA-256.",
        shippedBy: [.ios, .legacyIOS, .web])

    static let rules = [region, thin, long, checksum, unchecked]

    /// Operations that store audio.
    static let uploads: Set = [
        "PutObject", "PostObject", "UploadPart", "CompleteMultipartUpload", "uploadSessionAudio", "uploadSessionFile",
        "uploadAmbientAudio", "putChunk", "postForm",
    ]
    private static let puts: Set = ["PutObject", "UploadPart"]

    static func found(in exchanges: [LintedExchange]) -> [Found] {
        let puts = exchanges.of(puts).compactMap { exchange in Signature(exchange).map { (exchange, $0) } }
        var found: [Found] = []
        func add(_ rule: LintRule, _ words: (Int) -> String, where isMeant: (LintedExchange, Signature) -> Bool) {
            let meant = puts.filter(isMeant).map(\.0)
            found += Found.ifAny(rule, words(meant.count), meant)
        }
        add(region, { "\($0.counted("upload")) signed for another region" }) { $1.region != SigningScope.region }
        let unsigned = puts.map { ($0.0, $0.1.unsigned(of: $0.0)) }.filter { !$0.1.isEmpty }
        if let names = unsigned.first?.1 {
            found.append(
                Found(
                    thin, "\(names.joined(separator: ", ")) of \(unsigned.count.counted("upload")) not signed",
                    unsigned.map(\.0)))
        }
        add(long, { "\($0.counted("upload")) by an address that is valid for more than an hour" }) {
            ($1.expires ?? 0) > 3600
        }
        add(checksum, { "\($0.counted("upload")) by an address with a checksum" }) { exchange, _ in
            (exchange.shown.query ?? "").split(separator: "&").contains {
                let name = $0.lowercased()
                return name.hasPrefix("x-amz-checksum-") || name.hasPrefix("x-amz-sdk-checksum-algorithm")
            }
        }
        add(unchecked, { "\($0.counted("upload")) without a checksum" }) { exchange, signature in
            exchange.isDone && !signature.coversBody && exchange.header("content-md5") == nil
                && exchange.header("x-amz-trailer") == nil
                && !exchange.shown.request.headerFields.contains { $0.name.canonicalName.hasPrefix("x-amz-checksum-") }
        }
        return found
    }

    /// AWS Signature Version 4 of a request, as far as rules look at it.
    private struct Signature {
        let region: String
        let signed: Set<Substring>
        /// Seconds for which a presigned address is valid; nil for a signature in the head.
        let expires: Int?
        /// Whether the signature is also over the body.
        let coversBody: Bool

        init?(_ exchange: LintedExchange) {
            let (credential, headers): (String?, String?)
            if let header = exchange.header("authorization"), SigningScope.isSignature(header) {
                let parts = header.split { $0 == "," || $0 == " " }
                func value(_ name: String) -> String? {
                    parts.first { $0.hasPrefix("\(name)=") }.map { String($0.dropFirst(name.count + 1)) }
                }
                (credential, headers) = (value("Credential"), value("SignedHeaders"))
                expires = nil
            } else {
                (credential, headers) = (
                    exchange.parameter("X-Amz-Credential"), exchange.parameter("X-Amz-SignedHeaders")
                )
                expires = exchange.parameter("X-Amz-Expires").flatMap(Int.init)
            }
            guard let scope = credential.flatMap(SigningScope.init), let headers else { return nil }
            region = scope.region
            signed = Set(headers.split(separator: ";"))
            let payload = exchange.header("x-amz-content-sha256") ?? "UNSIGNED-PAYLOAD"
            coversBody = payload.count == 64 || payload.hasPrefix("STREAMING-AWS4")
        }

        /// Headers of a request that change the object, and that the signature leaves out.
        func unsigned(of exchange: LintedExchange) -> [String] {
            let names = exchange.shown.request.headerFields.map(\.name.canonicalName).filter {
                $0 == "content-type" || $0.hasPrefix("x-amz-") && $0 != "x-amz-content-sha256"
            }
            return Set((signed.contains("host") ? [] : ["host"]) + names.filter { !signed.contains($0[...]) }).sorted()
        }
    }
}
