import Foundation
import ScribeDomain

@testable import Engines

/// Transcripts. An even first byte: the rest is the text. An odd one: each two bytes choose a word that the rules
/// know, for no fuzzer guesses whole sentences of them.
@Sendable func fuzzNotes(_ data: Data) {
    guard let first = data.first else { return }
    let rest = Array(data.dropFirst())
    let transcript: String
    if first.isMultiple(of: 2) {
        transcript = String(decoding: rest, as: UTF8.self)
    } else {
        transcript = stride(from: 0, to: rest.count - 1, by: 2)
            .map { vocabulary[(Int(rest[$0]) << 8 | Int(rest[$0 + 1])) % vocabulary.count] }
            .joined(separator: " ")
    }
    _ = UrgencyClassifier.level(of: transcript, after: transcript)
    let spoken = Set(words(of: transcript.lowercased()))
    for fact in FactExtraction.facts(in: transcript) {
        for text in [fact.text] + fact.details.values {
            require(!text.isEmpty, "a fact has words")
            for word in words(of: text.lowercased()) where !isVoice(word) {
                // Punctuation around it may be gone.
                require(
                    spoken.contains(word) || spoken.contains { $0.firstRange(of: word) != nil },
                    "every word of a fact was spoken, or belongs to the note's voice"
                )
            }
        }
    }
}

private func words(of text: String) -> [[UInt8]] {
    text.split(whereSeparator: \.isWhitespace).map { Array($0.trimmingPunctuation().utf8) }.filter { !$0.isEmpty }
}

/// Words that a note may contain without their being spoken.
private let voice: Set<String> = {
    let file = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../Sources/Engines/Language/voice.txt")
    let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
    require(!text.isEmpty, "voice.txt has words")
    return Set(text.split(whereSeparator: \.isWhitespace).map(String.init))
}()

/// Numbers are written in digits, spelt abbreviations as one word, and Hindi in English.
private func isVoice(_ word: [UInt8]) -> Bool {
    let text = String(decoding: word, as: UTF8.self)
    return text.contains(where: \.isNumber) || voice.contains(text)
        || HindiSpeech.english.contains(text)
}

private let vocabulary: [String] = {
    let others = [
        ".", ",", "?", "\n", "\nDoctor:", "\nPatient:", "for", "since", "of", "every", "times", "per", "500", "20mg",
        "2.5", "milligrams", "no", "yes", "any", "if", "and", "but", "my", "your", "i", "you", "take", "stop",
        "come back",
        "one", "fifty", "over", "point", "days", "weeks", "um", "hai", "nahi", "do you", "tonsillitis",
    ]
    // Sorted, so that a find means the same in the next run.
    return others + Terms.kindsByPhrase.keys.sorted()
}()
