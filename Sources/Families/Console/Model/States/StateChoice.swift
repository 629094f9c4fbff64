import ScribeDomain
import ScribeStore

/// Choice of recordings by the states that the console shows, from a tab of the list and from its search.
struct StateChoice: Hashable, Sendable {
    /// Tabs of the list. Together they have each state once.
    enum Tab: String, CaseIterable, Sendable {
        case all = ""
        case open, failed, done, cancelled

        var title: String { self == .all ? "All" : rawValue.prefix(1).uppercased() + rawValue.dropFirst() }

        var kinds: Set<RecordingState.Kind> {
            switch self {
            case .all: Set(RecordingState.Kind.allCases)
            case .open: [.recording, .processing, .stuck]
            case .failed: [.failed, .expired]
            case .done: [.done, .partial, .skipped]
            case .cancelled: [.cancelled]
            }
        }
    }

    /// Most pages of the store that are read for one page of the list.
    private static let mostReads = 10

    private let kinds: Set<RecordingState.Kind>
    /// Word of the state that the search names; nil for none.
    private let word: String?
    /// Text that is searched, in place of a state; empty for all recordings.
    private let text: String

    init(_ tab: Tab, search: String) {
        let sought = search.lowercased()
        let named = RecordingState.Kind.allCases.filter {
            [$0.word, $0.word(isAsked: true)].contains { $0.lowercased() == sought }
        }
        kinds = named.isEmpty ? tab.kinds : tab.kinds.intersection(named)
        word = named.isEmpty ? nil : sought
        // The list shows fixtures in the form in which clients ask for them.
        text = named.isEmpty ? search.hasPrefix("fixture:") ? String(search.dropFirst(8)) : search : ""
    }

    /// Processing states of the store that may be shown so; empty for all.
    private var statuses: Set<Transaction.ProcessingStatus> {
        guard kinds.count < RecordingState.Kind.allCases.count else { return [] }
        return Set(
            kinds.flatMap { kind -> [Transaction.ProcessingStatus] in
                switch kind {
                case .recording, .processing, .stuck, .expired: [.inProgress]
                case .done, .partial, .failed, .skipped: [.success, .systemFailure, .requestFailure]
                case .cancelled: [.cancelled]
                }
            })
    }

    private func admits(_ state: RecordingState) -> Bool {
        guard kinds.contains(state.kind) else { return false }
        // The word alone finds those that a tester asked for, too.
        return word.map { $0 == state.word.lowercased() || $0 == state.kind.word.lowercased() } ?? true
    }

    /// Reads recordings with their states, the newest first: the limit of the filter and at most a page more.
    func recordings(
        _ filter: RecordingFilter, in store: TransactionStore, state: (RecordingSummary) -> RecordingState
    ) async throws -> (found: [(recording: RecordingSummary, state: RecordingState)], next: Int64?) {
        guard !kinds.isEmpty else { return ([], nil) }
        var filter = filter
        filter.text = text.isEmpty ? nil : text
        filter.processingStatuses = statuses
        var found: [(RecordingSummary, RecordingState)] = []
        for _ in 0..<Self.mostReads {
            let page = try await store.recordings(filter)
            found += page.items.map { ($0, state($0)) }.filter { admits($0.1) }
            filter.before = page.next
            guard page.next != nil, found.count < filter.limit else { break }
        }
        return (found, filter.before)
    }
}
