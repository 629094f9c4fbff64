import Basics
import Foundation
import Hummingbird
import Journal
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// Search of the dialog "Go to": transactions and requests, as JSON for its script.
extension ConsoleFamily {
    /// Most transactions, and most requests.
    private static let mostFound = 8

    func found(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let text = request.searchText
        let world = context.world
        let query = world.namespace.map { "?namespace=\($0.rawValue)" } ?? ""
        var filter = RecordingFilter()
        filter.searchesNames = settings.showsWords
        filter.limit = Self.mostFound
        let page = try await StateChoice(.all, search: text).recordings(
            filter, in: world.runtime.store.transactions
        ) { state(of: $0, in: world, at: world.runtime.clock.now) }
        let recordings = page.found.prefix(Self.mostFound).map { recording, state -> JSON in
            let name = settings.showsWords ? recording.patientName ?? "" : ""
            let kind = settings.kinds[recording.kind] ?? recording.kind.rawValue
            return [
                "title": .string(name.isEmpty ? recording.id.rawValue : name),
                "detail": .string("\(state.word). \(name.isEmpty ? kind : recording.id.rawValue)"),
                "href": .string(Self.recordingLink(recording.key) + query),
            ]
        }
        let journal = world.runtime.journal
        let requests = try await EventLoopOffload.run(bytes: .max) {
            try Self.requests(in: journal, containing: text.lowercased())
        }
        let shown = requests.map { entry -> JSON in
            [
                "title": .string("\(entry.method) \(entry.path)"),
                "detail": .string("\(entry.status.map(String.init) ?? "open") \(entry.operation)"),
                "href": .string("/\(Self.root)/requests/\(entry.number)\(query)"),
            ]
        }
        return .json(.ok, ["consultations": .array(recordings) { $0 }, "requests": .array(shown) { $0 }])
    }

    /// The newest exchanges that contain a text; none for an empty one.
    private static func requests(in journal: Journal?, containing text: String) throws -> [JournalEntry] {
        var found: [JournalEntry] = []
        for entry in text.isEmpty ? [] : (journal?.entries ?? []).reversed() where found.count < mostFound {
            try Task.checkCancellation()
            let shown = JournalEntry(JournalIndex.documented.shown(entry), offset: 0)
            if shown.contains(text) { found.append(shown) }
        }
        return found
    }
}
