import Basics
import HTTPTypes
import ScribeDomain
import ScribeHTTP
import ScribeStore

/// Renders errors as `application/problem+json` (RFC 9457), with a `code` for programs.
struct ControlErrors: ProblemErrorTable {
    let statuses: [ScribeError.Kind: HTTPResponse.Status] = [
        .state: .conflict, .exhausted: .conflict, .refused: .conflict,
    ]

    func refusal(for error: any Error, shared: Refusal, _ context: ScribeContext) -> Refusal? {
        switch error {
        case let error as ControlError: error.refusal
        case let problem as NamespaceProblem: problem.refusal
        case let problem as SnapshotProblem: problem.refusal
        case let problem as SeedProblem: problem.refusal
        case let problem as FaultProblem: problem.refusal
        case let problem as JournalProblem: problem.refusal
        case HTTPProblem.namespaceNotFound: NamespaceProblem.unknown.refusal
        case ScribeError.invalidState: nil
        case ScribeError.transactionNotFound: ControlError.notFound("such transaction").refusal
        case ScribeError.resultNotFound: ControlError.notFound("such result").refusal
        case ScribeError.resourceNotFound(let reason): Refusal(.notFound, code: ControlError.notFoundCode, reason)
        case is ScribeError where shared.status == .conflict: shared.saying("Not now")
        case HTTPProblem.unauthenticated: shared.saying(shared.message, headers: [.wwwAuthenticate: "Bearer"])
        case HTTPProblem.routeNotFound(let hint):
            shared.saying(hint.replacing("/openapi.yaml", with: "/\(ControlFamily.root)/openapi.yaml"))
        case HTTPProblem.tooManyAttempts: shared.saying("Too many wrong tokens were sent, try again later")
        default: nil
        }
    }
}

extension NamespaceProblem {
    fileprivate var refusal: Refusal {
        switch self {
        case .exists: Refusal(.conflict, code: "namespace_exists", "A namespace of this name exists; delete it first")
        case .unknown:
            Refusal(.notFound, code: ControlError.notFoundCode, "There is no such namespace; POST it to make one")
        case .busy:
            Refusal(.conflict, code: "namespace_busy", "Another call changes this namespace; try again")
        case .tooMany(let limit):
            Refusal(
                .serviceUnavailable, code: "busy",
                "There are \(limit) namespaces already; delete some, or raise --namespaces-max")
        case .off:
            Refusal(
                .forbidden, code: "namespaces_off",
                "With --auth strict namespaces need the setting --namespaces")
        case .persistent:
            Refusal(
                .conflict, code: "reset_not_allowed",
                """
                The data folder is reset only by a server with --ephemeral or --allow-reset; \
                name another namespace with \(NamespaceUse.controlWays)
                """)
        case .clockOfFolder:
            Refusal(
                .conflict, code: "clock_not_allowed",
                """
                The clock of a data folder is moved only by a server with --ephemeral or --allow-reset; \
                name a namespace with \(NamespaceUse.controlWays)
                """)
        case .ambiguous:
            Refusal(
                .conflict, code: "namespaces_differ",
                "The header X-Scribe-Namespace and ?namespace= name different namespaces; leave one out")
        case .shared:
            Refusal(
                .conflict, code: "data_is_shared",
                """
                With --database several servers share the data, and this call would change one server alone; \
                use a server without --database
                """)
        case .backupRuns:
            Refusal(.conflict, code: "backup_runs", "A backup reads the data folder; try again when it has ended")
        }
    }
}

extension FaultProblem {
    var refusal: Refusal {
        switch self {
        case .exists(let id):
            Refusal(.conflict, code: "fault_exists", "There is a fault rule '\(id)'; remove it first")
        case .unknown(_, let nearest):
            Refusal(
                .notFound, code: ControlError.notFoundCode,
                "There is no such fault rule" + (nearest.map { "; the nearest is '\($0)'" } ?? ""))
        case .tooMany(let limit):
            Refusal(.conflict, code: "too_many_faults", "There are \(limit) fault rules already; remove some first")
        case .shadowed(let id):
            Refusal(
                .conflict, code: "fault_hidden",
                "The rule '\(id)' has the same conditions and always comes first; remove it, or give it 'times'")
        }
    }
}

extension JournalProblem {
    fileprivate var refusal: Refusal {
        switch self {
        case .off: Refusal(.conflict, code: "journal_off", "The journal is off; start the server with --journal full")
        case .noContent:
            Refusal(
                .conflict, code: "journal_without_content",
                "The journal keeps nothing of what clients sent; start the server with --journal full")
        case .notSocket(let number):
            Refusal(.conflict, code: "not_a_socket", "Request \(number) is no socket that was opened")
        case .notWhole(let number):
            Refusal(
                .conflict, code: "not_recorded",
                "The journal has not all frames of socket \(number), or only their sizes")
        case .tooManyStreams(let limit):
            Refusal(.serviceUnavailable, code: "busy", "There are \(limit) event streams already; close some")
        case .tooManyPlaybacks(let limit):
            Refusal(
                .conflict, code: "too_many_playbacks", "There are \(limit) recordings to be played; remove some first")
        }
    }
}

extension SnapshotProblem {
    fileprivate var refusal: Refusal {
        let (status, code): (HTTPResponse.Status, String) =
            switch self {
            case .foreign: (.badRequest, "not_a_snapshot")
            case .newer: (.badRequest, "newer_snapshot")
            case .damaged: (.badRequest, "damaged_snapshot")
            case .beyondQuota: (.contentTooLarge, "quota_exceeded")
            case .unknown: (.notFound, ControlError.notFoundCode)
            case .busy: (.conflict, "namespace_busy")
            case .tooMany: (.conflict, "too_many_snapshots")
            case .tooManyFiles: (.contentTooLarge, "quota_exceeded")
            }
        return Refusal(status, code: code, description.prefix(1).uppercased() + description.dropFirst())
    }
}

extension SeedProblem {
    var refusal: Refusal {
        func conflict(_ code: String, _ text: String) -> Refusal { Refusal(.conflict, code: code, text) }
        return switch self {
        case .clientOfOtherOrigin(_, .file):
            conflict("client_exists", "The clients file has a client of this id; choose another id")
        case .clientOfOtherOrigin: conflict("client_exists", "The demo has a client of this id; choose another id")
        case .keyOfOtherClient: conflict("key_exists", "Another client has one of the API keys; choose another key")
        case .templateOfOtherBusiness:
            conflict("template_exists", "Another business has a template or section of this id; choose another id")
        case .isApplied: conflict("seeded", "The file was applied before")
        case .tooManyTemplates: conflict("too_many", "The business has as many templates as it may have")
        case .tooManyProviders: conflict("too_many", "The partner has as many clinicians as it may have")
        }
    }
}

/// Errors of the operator API, beside the shared ones.
enum ControlError: Error, Hashable, Sendable {
    /// The request's host name could belong to a web page (DNS rebinding).
    case foreignHost
    /// A page of another site sent the request, by the browser's `Sec-Fetch-Site`.
    case foreignPage
    /// A proxy forwarded the request to an API without a token, so the sender may be on another machine.
    case forwarded
    case notJSON
    case notArchive
    case notRecording
    /// A browser request without a token lacks the header that operators' pages send.
    case missingAdminHeader
    /// The server has no such thing; the text names the thing asked for.
    case notFound(String)

    fileprivate static let notFoundCode = "not_found"

    fileprivate var refusal: Refusal {
        switch self {
        case .foreignHost:
            Refusal(
                .forbidden, code: "foreign_host",
                "Use an IP address, localhost or a host name without a dot; other names could belong to a web page")
        case .foreignPage:
            Refusal(.forbidden, code: "foreign_page", "Web pages of other origins may not call the operator API")
        case .missingAdminHeader:
            Refusal(
                .forbidden, code: "unmarked", "A browser request without a token needs the header X-Scribe-Admin: 1")
        case .forwarded:
            Refusal(
                .forbidden, code: "forwarded",
                "Requests through a proxy need a token; start the server with --admin-token")
        case .notJSON:
            Refusal(
                .unsupportedMediaType, code: "not_json",
                "Bodies are JSON: send the header Content-Type: application/json")
        case .notArchive:
            Refusal(
                .unsupportedMediaType, code: "not_archive",
                "A snapshot's file is sent with the header Content-Type: \(SnapshotRoutes.contentType)")
        case .notRecording:
            Refusal(
                .unsupportedMediaType, code: "not_recording",
                "A recording is sent with the header Content-Type: \(SocketRecording.contentType)")
        case .notFound(let what): Refusal(.notFound, code: Self.notFoundCode, "There is no \(what)")
        }
    }
}
