import Basics
import Documents
import Foundation
import Hummingbird
import NIOCore
import ScribeHTTP

/// `/livez`, `/voice/ping`, and the OpenAPI and AsyncAPI documents: routes that do not depend on a namespace.
enum DocumentRoutes {
    static func add(to router: RouteGroup) {
        // By the process a start tells whether the server of a ready file runs.
        let process = JSON.integer(Int64(ProcessInfo.processInfo.processIdentifier))
        router.get("livez") { _, _ in Response.json(.ok, ["status": "alive", "pid": process]) }
        router.get("voice/ping") { _, _ in Response.json(.ok, ["ping": "pong"]) }
        router.get("openapi.yaml") { _, _ in served(document_scribe) }
        for index in 0..<family_document_count() {
            let family = family_document(index)
            router.get("openapi/\(String(cString: family.name)).yaml") { _, _ in
                served { family_document(index).document }
            }
        }
        router.get("ambient.asyncapi.yaml") { _, _ in served(document_ambient) }
        router.get("omi.asyncapi.yaml") { _, _ in served(document_omi) }
        router.get("listen.asyncapi.yaml") { _, _ in served(document_listen) }
    }

    private static func served(_ document: @escaping @Sendable () -> document) -> Response {
        Response(status: .ok, headers: [.contentType: "application/yaml"], body: ResponseBody(document))
    }
}
