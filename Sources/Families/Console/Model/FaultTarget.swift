import Basics
import ScribeHTTP

/// Operation that the test bench can make fail once.
struct FaultTarget: Hashable, Sendable {
    /// Heading of the list. The targets that testers use most come first.
    enum Group: String, CaseIterable, Sendable {
        case common = "Common"
        case requests = "Requests"
        case uploads = "Uploads"
        case results = "Recognition and note"
        case webhooks = "Webhooks"
        case sockets = "Sockets"

        /// Ways to fail, each as members of a rule with its words.
        fileprivate var answers: [(rule: String, words: String)] {
            switch self {
            case .common, .requests:
                [
                    ("status=503", "503"), ("status=500", "500"), ("status=429", "429"), ("status=401", "401"),
                    ("connection=reset", "a reset"), ("connection=hang", "no answer"),
                    ("when=after connection=reset", "a lost answer"), ("delay=5s", "5 s of delay"),
                ]
            case .uploads:
                [("code=SlowDown", "SlowDown"), ("code=InternalError", "InternalError")] + Group.requests.answers
            case .results:
                [
                    ("fail=transcription_failed", "transcription_failed"),
                    ("fail=processing_failed", "processing_failed"),
                    ("empty=true", "nothing"), ("delay=20s", "20 s of delay"),
                ]
            case .webhooks:
                [
                    ("twice=true", "a repetition"), ("wrong_signature=true", "a wrong signature"),
                    ("delay=20s", "20 s of delay"),
                ]
            case .sockets:
                [
                    ("after_received=20", "an end after 20 messages"), ("after_received=20 close=1011", "close 1011"),
                    ("status=503", "503 for the upgrade"), ("results=missing", "no results"),
                ]
            }
        }
    }

    let operation: String
    let group: Group

    /// Targets that testers use most.
    private static let common = [
        "commitTransaction", "PutObject", "transcription", "note", "webhook", "openListenSocket",
    ]

    /// - Parameter others: Operations without a path, such as those of S3, and `transcription`, `note` and `webhook`.
    static func all(_ operations: OperationIndex, others: [String]) -> [FaultTarget] {
        let documented = operations.ids.compactMap { operations[$0] }.map { operation in
            FaultTarget(
                operation: operation.id,
                group: operation.isSocket ? .sockets : operation.id.hasPrefix("upload") ? .uploads : .requests)
        }
        return documented
            + others.map { name in
                let group: Group =
                    switch name {
                    case "transcription", "note": .results
                    case "webhook": .webhooks
                    default: .uploads
                    }
                return FaultTarget(operation: name, group: group)
            }
    }

    /// The list, as the page's script fills it: each group with its operations, and each operation with its group.
    static func model(_ all: [FaultTarget]) -> ConsoleViews.Model {
        let known = Dictionary(all.map { ($0.operation, $0.group) }, uniquingKeysWith: { first, _ in first })
        let first = common.compactMap { name in known[name].map { FaultTarget(operation: name, group: $0) } }
        let groups = Group.allCases.map { group -> ConsoleViews.Model in
            let members = group == .common ? first : all.filter { $0.group == group }
            return [
                "group": group.rawValue,
                "targets": members.map { ["target": $0.operation, "kind": $0.group.rawValue] as ConsoleViews.Model },
            ]
        }
        let answers = JSON.object(
            Group.allCases.map { group in
                (group.rawValue, .array(group.answers) { [.string($0.rule), .string($0.words)] })
            })
        return ["groups": groups, "answers": String(decoding: answers.bytes, as: UTF8.self)]
    }
}
