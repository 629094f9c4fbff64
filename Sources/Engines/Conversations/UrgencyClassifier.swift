import Documents
package import ScribeDomain

/// Finds emergencies in speech: a rule of thumb for tests (streaming.md 4.8), and no medical device.
package enum UrgencyClassifier {
    private static let model: UrgencyModel = {
        let file = document_urgency()
        return UrgencyModel(String(decoding: UnsafeBufferPointer(start: file.start, count: file.count), as: UTF8.self))
    }()

    /// Words of conditions that want attention today.
    private static let urgent: Set = [
        "shortness of", "short of", "severe pain", "severe headache", "severe abdominal", "high fever", "stiff neck",
        "blood in", "fainted", "fainting", "confused", "confusion",
    ]
    /// Words of other times, other people and suppositions.
    private static let elsewhere: Set = [
        "if", "unless", "ago", "history", "#year", "used", "mother", "father", "ruled", "might", "could",
    ]

    /// Urgency of a text of one or several turns; nil if there is none.
    /// - Parameter question: text said just before, for an answer such as "Yes".
    package static func level(of text: String, after question: String? = nil) -> Urgency.Level? {
        // The text is at most one segment long; the caller has checked its combining marks.
        let features = UrgencyFeatures(text, after: question)
        if model.isEmergency(features) { return .emergency }
        let isUrgent = features.sentences.contains { sentence in
            sentence.features.contains(where: urgent.contains) && !sentence.features.contains(where: elsewhere.contains)
        }
        return isUrgent ? .urgent : nil
    }
}
