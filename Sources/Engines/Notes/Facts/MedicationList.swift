import ScribeDomain

/// Medications of a visit without duplicates; later mentions complete or change earlier ones.
struct MedicationList {
    private var order: [String] = []
    private var mentions: [String: MedicationMention] = [:]
    /// Rule that has read each medication as it stands.
    private var rules: [String: String] = [:]
    /// Medication mentioned last, for "keep that as it is".
    private(set) var last: String?
    /// Medication named last, if it is no medication of the visit.
    private(set) var named: String?
    /// Names of one word that the lexicon lacks.
    private(set) var unlisted: Set<String> = []

    /// Adds a mention or merges it with a known medication.
    mutating func add(_ mention: MedicationMention, by rule: String) {
        let key = known(like: mention.name.lowercased()) ?? mention.name.lowercased()
        last = key
        named = nil
        guard var known = mentions[key] else {
            order.append(key)
            mentions[key] = mention
            rules[key] = rule
            if !key.contains(" "), mention.name.first?.isUppercase ?? false { unlisted.insert(key) }
            return
        }
        if mention.name.utf8.count > known.name.utf8.count { known.name = mention.name }
        let turn = Self.turn(from: known, to: mention)
        known.dose = mention.dose ?? known.dose
        known.frequency = mention.frequency ?? known.frequency
        known.duration = mention.duration ?? known.duration
        known.change = turn ?? mention.change ?? known.change
        if mention.dose != nil || mention.frequency != nil || mention.change != nil {
            known.tokens = mention.tokens
            rules[key] = rule
        }
        mentions[key] = known
    }

    /// Change that follows from the doses alone: "change the ramipril to 10 mg" after "ramipril 5 mg".
    private static func turn(from old: MedicationMention, to new: MedicationMention) -> MedicationMention.Change? {
        guard new.isOfClinician, new.change == nil || new.change == .started || new.change == .continued,
            old.frequency == nil || new.frequency == nil || old.frequency == new.frequency,
            let before = old.dose?.split(separator: " "), let after = new.dose?.split(separator: " "),
            before.count == 2, after.count == 2, before[1] == after[1], let first = Double(before[0]),
            let second = Double(after[0]), first != second
        else { return nil }
        return first < second ? .increased : .decreased
    }

    /// Completes the medication mentioned last.
    /// - Parameter isAsked: whether the fragment answers a question about a medication that may not be known yet.
    /// - Returns: whether that medication lacked the fragment's information.
    mutating func complete(with fragment: MedicationMention, isAsked: Bool, by rule: String) -> Bool {
        if isAsked, let named, fragment.dose != nil {
            var mention = fragment
            mention.name = named
            add(mention, by: rule)
            return true
        }
        guard let last, var known = mentions[last],
            fragment.dose != nil && known.dose == nil || fragment.frequency != nil && known.frequency == nil
        else { return false }
        known.dose = known.dose ?? fragment.dose
        known.frequency = known.frequency ?? fragment.frequency
        known.tokens += fragment.tokens
        mentions[last] = known
        rules[last] = rule
        return true
    }

    /// Removes the medication mentioned last.
    /// - Returns: name of the medication; nil if there is none.
    mutating func removeLast() -> String? {
        if let named { return named }
        guard let key = last, let mention = mentions.removeValue(forKey: key) else { return nil }
        order.removeAll { $0 == key }
        last = order.last
        // "It" goes on to mean the removed one.
        named = mention.name
        return mention.name
    }

    /// Changes a known medication, to another dose or frequency if they were said.
    mutating func change(
        _ key: String, _ change: MedicationMention.Change, with fragment: MedicationMention, by rule: String
    ) {
        guard var known = mentions[key] else { return }
        known.change = change
        known.dose = fragment.dose ?? known.dose
        // "You can keep taking it with food": a continued medication keeps its dose.
        known.frequency =
            change == .continued ? known.frequency ?? fragment.frequency : fragment.frequency ?? known.frequency
        known.tokens += fragment.tokens
        mentions[key] = known
        rules[key] = rule
    }

    /// Stops the medication mentioned last, because another one takes its place.
    mutating func stopLast(_ tokens: [Token], by rule: String) {
        let mention = MedicationMention(name: named ?? "", change: .stopped, tokens: tokens)
        if named != nil { add(mention, by: rule) } else if let last { change(last, .stopped, with: mention, by: rule) }
    }

    /// Whether a medication is named that "it" can mean.
    var wasNamedLast: Bool { named != nil || last != nil }

    func knows(_ name: String) -> Bool { known(like: name.lowercased()) != nil }

    mutating func speak(of name: String) {
        let key = known(like: name.lowercased())
        last = key ?? last
        named = key == nil ? name : nil
    }

    /// Finds a known medication by a shorter name: "metformin" is "metformin slow release".
    private func known(like name: String) -> String? {
        if mentions[name] != nil { return name }
        guard let first = name.split(separator: " ").first else { return nil }
        return order.first { $0.split(separator: " ").first == first }
    }

    var facts: [ClinicalFact] {
        order.compactMap { key in
            guard let mention = mentions[key] else { return nil }
            var details = ["name": mention.name]
            details["dose"] = mention.dose
            details["frequency"] = mention.frequency
            details["duration"] = mention.duration
            details["change"] = mention.change?.rawValue
            let parts = [mention.name, mention.dose, mention.frequency, mention.duration].compactMap(\.self)
            let text = parts.joined(separator: " ")
            let said =
                switch mention.change {
                case .stopped: "stop \(text)"
                case .increased: "increase \(mention.dose == nil ? text : Self.changed(mention))"
                case .decreased: "reduce \(mention.dose == nil ? text : Self.changed(mention))"
                case .continued: "continue \(text)"
                case .started, nil: text
                }
            return ClinicalFact(
                .medication, said, details: details, source: mention.tokens.source, rule: rules[key])
        }
    }

    private static func changed(_ mention: MedicationMention) -> String {
        [mention.name, mention.dose.map { "to \($0)" }, mention.frequency, mention.duration].compactMap(\.self)
            .joined(separator: " ")
    }
}
