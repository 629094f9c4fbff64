import Basics
import Engines
import Foundation
import NIOCore
import ScribeDomain
import ScribeRuntime

/// Recording of a device's audio, and of the words in it.
extension OmiConversation {
    /// Opens a recording for the device's audio, at its first samples.
    func beginAudio(_ options: LiveOptions) async throws {
        try await order.withLock {
            let now = runtime.clock.now
            let conversation = try await runtime.conversations.open(beginning, for: principal)
            audioBegan = max(now, conversation.startedAt)
            recording = try await runtime.liveRecordings.open(
                TransactionID(conversation.id), options, keepsSilence: false, for: principal)
            try await follow(conversation)
        }
    }

    /// Records samples, before the engine recognises them.
    func record(_ samples: ByteBuffer, _ options: LiveOptions) async throws {
        try await recording?.take(samples, options)
    }

    func addResult(_ result: LiveResult, by engine: String) async throws {
        guard result.isFinal else { return }
        if !result.words.isEmpty {
            try await order.withLock {
                // Times count from the start of the conversation, so the conversation must be known first.
                let conversation = try await runtime.conversations.open(beginning, for: principal)
                try await follow(conversation)
                // Stored times have milliseconds.
                let offset = audioBegan.timeIntervalSince(conversation.startedAt)
                let turns = result.words.turns(after: abs(offset) < 0.001 ? 0 : offset).map { segment($0, by: engine) }
                try await store(turns, from: "audio")
            }
        }
        do {
            try await recording?.take(result)
        } catch ScribeError.invalidState, ScribeError.transactionNotFound {
            // The conversation was ended meanwhile: its words are stored, and its audio ends here.
        }
    }

    /// Ends the recording after the device disconnected and its audio was recognised.
    func endAudio() async throws { try await recording?.breakOff() }
}
