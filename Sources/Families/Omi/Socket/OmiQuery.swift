import Basics
import Engines
import Foundation
import HummingbirdCore
import ScribeDomain
import ScribeHTTP

/// Parses the query of a device's socket (streaming.md 4.1).
struct OmiQuery: Hashable, Sendable {
    /// Format of the audio: 16-bit samples, also for `pcm8`, or Opus with one packet per message, or ADTS.
    var options = LiveOptions()
    /// Whether the device's audio can be decoded here. A device that sends text alone needs no decoder.
    private(set) var isDecodable = true
    let source: String
    /// Silence that ends a conversation, in seconds; nil if the client sets none.
    let timeout: Int?
    /// The client's id for its next conversation, a UUID.
    var conversation: String?
    /// Whether the client is sent the ids of its conversations.
    var sendsConversationIDs = false
    /// Whether the device's text comes from another recogniser (streaming.md 4.3).
    let usesCustomRecogniser: Bool

    private static let sources: Set<String> = [
        "omi", "friend", "friend_com", "openglass", "phone", "desktop", "apple_watch", "bee", "xor", "frame", "plaud",
        "fieldy", "limitless", "screenpipe", "workflow", "sdcard", "external_integration", "onboarding",
    ]

    /// Parses the query.
    /// - Throws: ``ScribeError/invalidRequest(field:problem:)``, which closes the socket.
    init(_ query: FlatDictionary<Substring, Substring>) throws(ScribeError) {
        let name = query.text("codec") ?? "pcm8"
        switch name {
        case "pcm8", "pcm16": break
        case "aac":
            guard FFmpeg.isInstalled else {
                throw .invalidRequest(field: "codec", problem: "needs ffmpeg, which is not installed here")
            }
            options.codec = .aac
        case "opus", "opus_fs320":
            guard OpusDecoder.isAvailable else {
                throw .invalidRequest(field: "codec", problem: "needs libopus, which is not installed here")
            }
            options.codec = .opus
        case "lc3", "lc3_fs1030": isDecodable = false
        default: throw .invalidRequest(field: "codec", problem: "is not a known codec")
        }
        let usual = name == "pcm8" ? 8000 : 16_000
        guard let rate = query.text("sample_rate").map({ Int($0) }) ?? usual, (8000...48_000).contains(rate) else {
            throw .invalidRequest(field: "sample_rate", problem: "must be a number from 8000 to 48000")
        }
        guard let channels = query.text("channels").map({ Int($0) }) ?? 1, (1...2).contains(channels) else {
            throw .invalidRequest(field: "channels", problem: "must be 1 or 2")
        }
        // Opus decodes to any of its rates; recognisers work at 16 kHz.
        options.sampleRate = options.codec == .opus ? 16_000 : rate
        options.channels = options.codec == .opus ? 1 : channels
        let language = query.text("language") ?? "en"
        guard ["auto", "multi"].contains(language) || SpokenLanguage.isKnown(language) else {
            throw .invalidRequest(field: "language", problem: "is not supported")
        }
        options.language = ["auto", "multi"].contains(language) ? "multi" : language
        options.endpointing = .milliseconds(300)
        options.isEndpointingExplicit = true
        options.punctuate = true
        options.diarize = true
        let device = query.text("source") ?? "omi"
        source = Self.sources.contains(device) ? device : "omi"
        timeout = query.text("conversation_timeout").flatMap { Int($0) }
        conversation = query.text("client_conversation_id").flatMap { UUID(uuidString: $0)?.uuidString.lowercased() }
        usesCustomRecogniser = query.text("custom_stt") == "enabled"
    }

    /// Silence that ends a conversation, in seconds (streaming.md 4.1).
    /// - Parameter least: The least value, and the default.
    func timeout(atLeast least: Duration) -> Int {
        let least = max(1, Int(saturating: least / .seconds(1)))
        guard let timeout else { return least }
        return timeout == -1 ? 4 * 3600 : min(max(timeout, least), 24 * 3600)
    }
}
