import Basics
import Engines

extension [LiveWord] {
    /// Splits a live result into turns: consecutive words of one speaker.
    /// - Parameter offset: Start of the audio, in seconds since the start of the conversation.
    func turns(after offset: Double) -> [OmiCommand.Words] {
        var turns: [[LiveWord]] = []
        for word in self {
            if let last = turns.last?.last, last.speaker == word.speaker {
                turns[turns.count - 1].append(word)
            } else {
                turns.append([word])
            }
        }
        func time(_ seconds: Double) -> Double { Swift.max(0, (offset + seconds).inThousandths) }
        return turns.compactMap { turn in
            guard let first = turn.first, let last = turn.last else { return nil }
            let number = Swift.min(Swift.max(first.speaker ?? 0, 0), 99)
            return OmiCommand.Words(
                text: turn.map { $0.punctuated ?? $0.text }.joined(separator: " "),
                speaker: "SPEAKER_\(number.padded(to: 2))", isUser: false, start: time(first.start),
                end: time(last.end), confidence: turn.total(\.confidence) / Double(turn.count))
        }
    }
}
