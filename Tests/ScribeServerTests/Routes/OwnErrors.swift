import Engines
import Outbound
import ScribeDomain

@testable import Alliance
@testable import Control
@testable import Eka
@testable import Listen
@testable import Omi
@testable import S3
@testable import Suki

/// The errors that only one family knows.
enum OwnErrors {
    static let alliance: [any Error] = [
        AllianceError.malformed("It cannot be"), AllianceError.invalidTemplate("sopa", known: ["soap"]),
        AllianceError.templateNotFound,
        AllianceError.documentNotFound, AllianceError.webhookNotFound, AllianceError.tooManyWebhooks,
        AllianceError.alreadyCommitted, AllianceError.chunkTooLarge, AllianceError.invalidAudioFormat("audio/x"),
        AllianceError.unknownLink, AllianceError.audioNotEnabled, AllianceError.audioNotAvailable,
        AllianceError.upgradeRequired,
    ]
    static let control: [any Error] = [
        ControlError.foreignHost, ControlError.foreignPage, ControlError.forwarded, ControlError.notJSON,
        ControlError.missingAdminHeader, ControlError.notFound("such webhook"),
    ]
    static let eka: [any Error] = [
        EkaError.invalidClient, EkaError.invalidCredentials, EkaError.refreshRefused, EkaError.audioLocationRequired,
        EkaError.batchLocationRequired, EkaError.linkRefused, EkaError.polledTransactionNotFound,
    ]
    static let devices: [any Error] = [
        DeviceLogins.Refusal.unknown, DeviceLogins.Refusal.expired, DeviceLogins.Refusal.tooFast,
        DeviceLogins.Refusal.pending, DeviceLogins.Refusal.denied, DeviceLogins.Refusal.invalidUserCode,
        DeviceLogins.Refusal.userCodeNotFound, DeviceLogins.Refusal.invalidRedirect,
    ]
    static let connect: [any Error] = [
        ConnectError.alreadyRegistered, ConnectError.tooMany, ConnectError.unknownWebhook,
    ]
    static let listen: [any Error] = [
        ListenError.upgradeRequired, ListenError.notPermitted, ListenError.invalidParameter("Invalid value."),
        ListenError.modelNotPermitted, ListenError.noSuchCombination, ListenError.modelOfOtherEndpoint,
        ListenError.modelNotFound,
        EngineFailure(.undecodableAudio, "it is no audio"),
        EngineFailure(.transcriptionFailed, "no recogniser is free", retryAfter: 2.4, origin: .refusal),
        EngineFailure(.transcriptionFailed, "nothing was sent for too long", origin: .idleness),
        EngineFailure(.transcriptionTimeout, "the recogniser is slow"),
        EngineFailure(.transcriptionFailed, "the recogniser is broken"),
        OutboundError.invalid("is none"), OutboundError.unknownHost, OutboundError.forbidden,
        OutboundError.unreachable, OutboundError.redirect(302), OutboundError.refused(404),
    ]
    static let omi: [any Error] = [
        OmiError.notFound("Memory"), OmiError.keysUnavailable, OmiError.upgradeRequired,
        OmiError.invalidValue("Invalid assign type"),
    ]
    static let suki: [any Error] = [
        SukiError.alreadyRegistered, SukiError.encounterNotFound, SukiError.invalidAmbientID,
        SukiError.invalidPartnerToken, SukiError.invalidProvider, SukiError.keysUnreachable, SukiError.keysUnusable,
        SukiError.noProviderHeader, SukiError.notRegistered, SukiError.organisationNotPermitted,
        SukiError.rangeNotSatisfiable(1), SukiError.recordingExpired, SukiError.recordingNotFound,
        SukiError.recordingNotReady, SukiError.tooManyProviders, SukiError.unknownLink, SukiError.unsupportedEntity,
        SukiError.upgradeRequired, SukiError.wrongHash,
    ]
    static let contexts: [any Error] = ["missingDiagnosisCodes", "missingCodeFields", "noValidDiagnosis"].map {
        DiagnosisProblem(id: $0, field: "diagnoses.values.0", "is wrong")
    }
    static let s3: [any Error] = [
        S3Error.accessDenied("It is not allowed"), S3Error.authorizationHeaderMalformed("It is malformed"),
        S3Error.authorizationQueryParametersError("They are malformed"), S3Error.badDigest("Content-MD5"),
        S3Error.entityTooLarge, S3Error.entityTooSmall, S3Error.expiredToken, S3Error.incompleteBody,
        S3Error.internalError, S3Error.invalidAccessKeyID, S3Error.invalidArgument("It is not valid"),
        S3Error.invalidDigest, S3Error.invalidPart, S3Error.invalidPolicyDocument("It is not valid"),
        S3Error.invalidPartOrder, S3Error.invalidRange("bytes=9-", of: 3),
        S3Error.bucketAlreadyOwned, S3Error.bucketNotEmpty, S3Error.illegalLocationConstraint("eu-west-1"),
        S3Error.invalidPartNumber, S3Error.malformedTrailer, S3Error.noSuchTagSet, S3Error.wrongRegion("us-east-1"),
        S3Error.invalidRequest("It is not valid"),
        S3Error.invalidToken, S3Error.invalidURI, S3Error.keyTooLong, S3Error.malformedPostRequest,
        S3Error.malformedXML, S3Error.maxPostPreDataLengthExceeded, S3Error.metadataTooLarge,
        S3Error.methodNotAllowed, S3Error.missingContentLength, S3Error.noSuchKey, S3Error.noSuchUpload,
        S3Error.notImplemented("It is not served"), S3Error.preconditionFailed, S3Error.quotaExceeded,
        S3Error.requestTimeTooSkewed, S3Error.serviceUnavailable, S3Error.signatureDoesNotMatch(),
        S3Error.signatureDoesNotMatch(SigV4.Signed(stringToSign: "AWS4-HMAC-SHA256 …", canonicalRequest: "GET /…")),
        S3Error.contentSHA256Mismatch,
    ]
}
