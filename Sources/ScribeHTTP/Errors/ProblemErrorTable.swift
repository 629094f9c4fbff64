package import Basics
package import HTTPTypes
import Hummingbird

/// Error table of operators' routes: `application/problem+json` (RFC 9457), with a `code` for programs.
package protocol ProblemErrorTable: ErrorTable {}

extension ProblemErrorTable {
    package func envelope(_ refusal: Refusal, _ context: ScribeContext) -> JSON {
        [
            "type": "about:blank", "title": .string(refusal.status.reasonPhrase),
            "status": .integer(refusal.status.code), "detail": .string(refusal.message),
            "code": .string(refusal.code), "request_id": .string(context.requestID),
        ]
    }

    package func headers(_ refusal: Refusal, _ context: ScribeContext) -> HTTPFields {
        [.contentType: "application/problem+json"]
    }
}
