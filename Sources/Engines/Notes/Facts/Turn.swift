import Basics

/// Line of a transcript, with its speaker as far as a label tells.
struct Turn {
    /// Index of the line, from 0.
    let index: Int
    /// Label in lower case.
    let label: String?
    let text: Substring
    /// Speaker by the label, or by the one before. Nil in a transcript that has no label yet.
    let speaker: Dialogue.Speaker?
    /// Whether the label names a person beside clinician and patient.
    let isGuest: Bool

    static func all(in transcript: String) -> [Turn] {
        let lines = transcript.lines.map(SpeakerLabels.split)
        let labels = SpeakerLabels(lines)
        var speaker: Dialogue.Speaker?
        return lines.enumerated().map { index, line in
            let (label, text) = line
            if let label { speaker = labels.speaker(of: label) }
            return Turn(
                index: index, label: label, text: text, speaker: speaker, isGuest: label.map(labels.isGuest) ?? false)
        }
    }

    /// Words as rules read them: without fillers, repetitions and what was taken back, and Hindi ones in English.
    var tokens: [Token] {
        HindiSpeech.inEnglish(
            Token.tokens(of: text).withoutFillers().withoutSpelling().withoutRepeats().withoutCorrections())
    }
}

/// Speaker labels before colons, mapped to clinician or patient.
struct SpeakerLabels {
    private static let longest = 32
    private static let clinicians = Lexicon.set("speakers/clinicians")
    private static let patients: Set = ["patient", "pt", "p"]

    /// Speaker of each label that names one, and the inferred speaker of each other label.
    private var named: [String: Dialogue.Speaker] = [:]
    private var inferred: [String: Dialogue.Speaker] = [:]

    init(_ lines: [(label: String?, text: Substring)]) {
        var addressed: [String: Int] = [:]
        for case (let label?, let text) in lines where named[label] == nil {
            if addressed[label] == nil, let speaker = Self.named(label) {
                named[label] = speaker
                continue
            }
            let asked = text.utf8.lazy.filter { $0 == UInt8(ascii: "?") }.count
            addressed[label, default: 0] += asked * 2 + (text.firstIndex(ofASCII: "your") == nil ? 0 : 1)
        }
        let knowsClinician = named.values.contains(.clinician)
        let asking = knowsClinician ? nil : addressed.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key
        for label in addressed.keys { inferred[label] = label == asking && addressed.count > 1 ? .clinician : .patient }
    }

    func speaker(of label: String) -> Dialogue.Speaker { named[label] ?? inferred[label] ?? .patient }

    /// Whether a label names a person beside clinician and patient, for example a parent.
    func isGuest(_ label: String) -> Bool { inferred[label] == .patient }

    /// Speaker that a label names; nil for a name of a person.
    static func named(_ label: String) -> Dialogue.Speaker? {
        let words = label.split { !$0.isLetter }.map(String.init)
        if words.contains(where: clinicians.contains) { return .clinician }
        return words.contains(where: patients.contains) ? .patient : nil
    }

    /// Splits a line into its label in lower case, if any, and its text. `[00:12]` is a time, not a label.
    static func split(_ line: Substring) -> (label: String?, text: Substring) {
        var line = line
        // Fast path: few lines have a label, and character comparison is slow.
        let marks = [UInt8(ascii: "["), UInt8(ascii: ":"), UInt8(ascii: "-")]
        guard line.utf8.prefix(80).contains(where: marks.contains) else { return (nil, line) }
        if line.hasPrefix("["), let end = line.prefix(40).firstIndex(of: "]") {
            let inside = line[line.index(after: line.startIndex)..<end]
            line = line[line.index(after: end)...].drop { $0 == " " || $0 == ":" }
            if inside.first?.isLetter ?? false { return (inside.lowercased(), line) }
        }
        let start = line.prefix(longest)
        guard let mark = start.firstIndex(of: ":") ?? start.firstIndex(ofASCII: " - ") else { return (nil, line) }
        let label = line[..<mark].trimmingPunctuation()
        let isDash = line[mark] != ":"
        let words = label.split { $0 == " " }
        let after = line[mark...].dropFirst()
        guard let first = label.first, first.isLetter, words.count <= 3, !label.contains(","),
            isDash || after.isEmpty || after.first == " ", !isDash || named(label.lowercased()) != nil,
            first.isUppercase || named(label.lowercased()) != nil || label.lowercased().hasPrefix("guest")
                || label.lowercased().hasPrefix("speaker")
        else { return (nil, line) }
        return (label.lowercased(), line[mark...].drop { $0 == ":" || $0 == "-" || $0 == " " })
    }
}
