import Basics
import Engines
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import Outbound
import ScribeDomain
import ScribeHTTP
import ScribeRuntime

/// `POST /v1/listen`: recognises a whole recording, sent as bytes or as a URL (streaming.md 1.8).
struct ListenRecordingRoutes: Sendable {
    let runtime: Runtime
    let authentication: ListenAuthentication
    let settings: ListenFamily.Settings

    private struct Link: Decodable {
        let url: String
    }

    static func add(to router: WorldRoutes<Self>) {
        router.post("v1/listen", use: recognise)
    }

    @Sendable private func recognise(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let credentials = ListenCredentials(request.headers)
        let principal = try await authentication.principal(credentials)
        context.noteCaller(principal)
        let query = try ListenQuery(
            request.query, at: .recording, of: ListenClientProfile(request), speaksSubQ: settings.speaksSubQ,
            models: settings.models)
        context.note(query.warnings.map(\.ignored))
        let id = runtime.identifiers.uuid(.transcription)
        let callback = try ListenCallback(request.query, isStream: false, request: id, key: credentials.key)
        let link = try await link(in: request, context)
        if let callback {
            try await runtime.outbound.check(callback.address, within: ListenCallback.patience, for: principal.business)
        }
        return try await context.cancellingOnDisconnect {
            let hearing =
                if let link {
                    try await runtime.outbound.get(link, within: settings.fetchTime, for: principal.business) {
                        try await runtime.recognitions.recognise(
                            $0, samples: query.samples, eachChannel: query.options.multichannel, size: $0.size,
                            languages: query.options.languages, for: principal)
                    }
                } else {
                    try await runtime.recognitions.recognise(
                        request.body, samples: query.samples, eachChannel: query.options.multichannel,
                        size: request.headers.value(of: .contentLength).flatMap { Int($0) },
                        languages: query.options.languages,
                        for: principal)
                }
            let answer = await EventLoopOffload.run(bytes: .max) {
                hearing.json(query, request: id, speaksSubQ: settings.speaksSubQ, at: runtime.clock.now) {
                    runtime.identifiers.uuid(.utterance)
                }
            }
            var response =
                if let callback {
                    try await storeCallback(answer, to: callback, request: id, of: principal.business)
                } else {
                    try await Response.longJSON(.ok, answer)
                }
            response.headers[.dgRequestID] = id
            return response
        }
    }

    /// The URL of the recording, if the body is JSON; nil for audio. Other content types are not trusted.
    private func link(in request: Request, _ context: ScribeContext) async throws -> OutboundURL? {
        guard request.headers.value(of: .contentType)?.lowercased().hasPrefix("application/json") ?? false else {
            return nil
        }
        let link = try await request.decodeJSON(as: Link.self, in: context)
        return try OutboundURL(field: "url", link.url)
    }

    /// Stores the result as a callback, which is delivered with retries, and answers the sender at once.
    private func storeCallback(
        _ answer: JSON, to callback: ListenCallback, request: String, of business: BusinessID
    ) async throws -> Response {
        let message = Callback(
            address: callback.address.url, method: callback.method, request: request,
            headers: callback.headers,
            body: await EventLoopOffload.run(bytes: .max) { Data(answer.bytes) })
        try await runtime.webhooks.sendCallback(message, at: callback.address, of: business)
        return .json(.ok, ["request_id": .string(request)])
    }
}
