// swift-format-ignore-file
// Declarations of SubQ's client, as its guide for iOS names them.
import Foundation

public final class StreamSession {
    public func sendAudio(_ audio: Data) {}
}

public final class SubQSTTClient {
    public init(token: String) {}
    public func streamSession(
        onTranscript: @escaping (String, Bool) -> Void, onError: @escaping (any Error) -> Void
    ) -> StreamSession { StreamSession() }
}
