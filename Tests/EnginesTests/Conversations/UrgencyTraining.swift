import Foundation
import TestSupport

@testable import Engines

/// Labelled utterances, and the weights that are learned from them.
struct UrgencyTraining {
    struct Utterance {
        let text: String
        let urgent: Bool
        let part: String
    }

    /// Parts that no weight is learned from.
    static let held: Set = ["unseen", "held-1", "held-2"]

    /// Parts in which no emergency may be missed.
    static let certain: Set = ["practice", "check", "standard-wordings"]

    /// Parts of the utterances: files of `Tests/Notes/urgency`, each written at once by one author.
    ///
    /// A line is a 1 or a 0 and a text, in which `\n` ends a turn.
    static let utterances: [Utterance] = {
        let folder = projectFile("Tests/Notes/urgency")
        let files = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
        return files.filter { $0.pathExtension == "txt" }.sorted { $0.path < $1.path }.flatMap { file in
            let lines = (try? String(contentsOf: file, encoding: .utf8))?.split(separator: "\n") ?? []
            return lines.map { line in
                Utterance(
                    text: String(line.dropFirst(2)).replacing("\\n", with: "\n"), urgent: line.hasPrefix("1"),
                    part: file.deletingPathExtension().lastPathComponent)
            }
        }
    }()

    /// Sparse sample: the features that it has, by number.
    private struct Sample {
        let features: [Int]
        let isUrgent: Bool
        /// Cost of a wrong answer.
        let importance: Double
    }

    private var names: [String] = []
    private var samples: [Sample] = []

    init(_ utterances: [Utterance]) {
        let texts = utterances.flatMap { utterance in
            let sentences = UrgencyFeatures(utterance.text).sentences
            return UrgencyModel.windows(of: sentences).map {
                (features: Set(sentences[$0].flatMap(\.features)), of: utterance)
            }
        }
        var counts: [String: Int] = [:]
        for (features, _) in texts { for feature in features { counts[feature, default: 0] += 1 } }
        // A feature of a single utterance says little.
        names = counts.filter { $0.value >= 2 }.keys.sorted()
        let numbers = Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, $0) })
        samples = texts.map { text in
            Sample(
                features: text.features.compactMap { numbers[$0] }.sorted(), isUrgent: text.of.urgent,
                importance: Self.certain.contains(text.of.part) ? 5 : 1)
        }
    }

    /// Features with their weights in hundredths, as a text for `urgency.txt`.
    ///
    /// Logistic regression with features scaled by their log-count ratio (Wang and Manning, 2012), solved by coordinate
    /// descent on the dual problem (Yu, Huang and Lin, 2011).
    func learned() -> String {
        let scales = ratios()
        let bias = names.count
        // A constant feature stands for the bias.
        var weights = [Double](repeating: 0, count: names.count + 1)
        let all = samples.map { $0.features.map { ($0, scales[$0]) } + [(bias, 1.0)] }
        let norms = all.map { $0.reduce(0) { $0 + $1.1 * $1.1 } }
        let mosts = samples.map(\.importance)
        var alphas = mosts.map { $0 * 1e-3 }
        for (index, features) in all.enumerated() {
            let sign = samples[index].isUrgent ? 1.0 : -1.0
            for (feature, value) in features { weights[feature] += alphas[index] * sign * value }
        }
        // Passes through the samples in an order that mixes the parts.
        let stride = 7919
        for _ in 0..<60 {
            for position in samples.indices {
                let index = position * stride % samples.count
                let sign = samples[index].isUrgent ? 1.0 : -1.0
                let margin = sign * all[index].reduce(0) { $0 + weights[$1.0] * $1.1 }
                let (old, norm, most) = (alphas[index], norms[index], mosts[index])
                var new = old
                for _ in 0..<12 {
                    let gradient = norm * (new - old) + margin + log(new / (most - new))
                    let step = gradient / (norm + most / (new * (most - new)))
                    let next = new - step
                    new = next <= 0 ? new / 10 : next >= most ? most - (most - new) / 10 : next
                    if abs(step) < 1e-9 * most { break }
                }
                alphas[index] = new
                for (feature, value) in all[index] { weights[feature] += (new - old) * sign * value }
            }
        }
        // A missed emergency is worse than a false alarm.
        var lines = ["\(Int((weights[bias] * 100).rounded()) + 60) ="]
        for (feature, name) in names.enumerated() {
            let weight = Int((weights[feature] * scales[feature] * 100).rounded())
            if abs(weight) >= 15 { lines.append("\(weight) \(name)") }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// For each feature, the logarithm of how much more frequent it is in emergencies.
    private func ratios() -> [Double] {
        let smoothing = 0.2
        var urgent = [Double](repeating: smoothing, count: names.count)
        var other = urgent
        for sample in samples {
            for feature in sample.features {
                if sample.isUrgent { urgent[feature] += 1 } else { other[feature] += 1 }
            }
        }
        let (allUrgent, allOther) = (urgent.reduce(0, +), other.reduce(0, +))
        return zip(urgent, other).map { log(($0 / allUrgent) / ($1 / allOther)) }
    }
}
