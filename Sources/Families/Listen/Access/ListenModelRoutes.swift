import Basics
import Hummingbird
import ScribeDomain
import ScribeHTTP

/// `GET /v1/models` and `/v1/models/{id}`: lists the models of Deepgram that requests may name. No key is needed.
struct ListenModelRoutes: Sendable {
    static func add(to router: WorldRoutes<Self>) {
        router.get("v1/models", use: list)
        router.get("v1/models/{model_id}", use: read)
    }

    private static let models = ListenModelTable.models.map { model in
        let known = ListenModel(model.name, speaksSubQ: false)
        let isRecording = model.name.hasPrefix("whisper")
        return (
            known.uuid,
            [
                "name": .string(model.name), "canonical_name": .string(model.name),
                "architecture": .string(model.name.split(separator: "-").first.map(String.init) ?? model.name),
                "languages": .array(model.languages, JSON.string), "version": .string(ListenModel.version),
                "uuid": .string(known.uuid), "batch": true, "streaming": .bool(!isRecording),
                "formatted_output": true,
            ] as JSON
        )
    }

    @Sendable private func list(_ request: Request, _ context: ScribeContext) async throws -> Response {
        .json(.ok, ["stt": .array(Self.models) { $0.1 }, "tts": .array([JSON]()) { $0 }])
    }

    @Sendable private func read(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let id = try context.parameters.require("model_id")
        guard let model = Self.models.first(where: { $0.0 == id }) else { throw ListenError.modelNotFound }
        return .json(.ok, model.1)
    }
}
