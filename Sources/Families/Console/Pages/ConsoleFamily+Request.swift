import Basics
import Foundation
import HTTPTypes
import Hummingbird
import Journal
import Lint
import NIOCore
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// One exchange of the journal.
extension ConsoleFamily {
    /// Farthest number at which the page looks for the next exchange.
    private static let farthestNeighbour = 1000

    func request(_ number: Substring, _ pageRequest: PageRequest) async throws -> Page {
        guard let number = Int(number) else { throw ConsoleError.notFound }
        let world = pageRequest.context.world
        guard let journal = world.runtime.journal, let record = journal[number] else {
            return Page(key: "requests", title: "Not recorded", template: "dropped", status: .notFound)
        }
        let shown = JournalIndex.documented.shown(number, record)
        let entry = JournalEntry(shown, offset: 0)
        let exchange = shown.exchange
        var model = entry.model(pageRequest.query)
        model["sent"] = Self.fields(shown.requestFields)
        model["body"] = Self.body(shown.requestBody, "request")
        model["isAnswered"] = shown.response != nil
        model["received"] = Self.fields(shown.response?.headerFields ?? [:])
        model["answer"] = Self.body(exchange.responseBody, "answer")
        // The nearest operation says more.
        if shown.nearest != nil { model["reason"] = "" }
        model["contract"] = shown.contract ?? ""
        model["findings"] = exchange.findings.map { ["place": $0.place, "problem": $0.problem] as ConsoleViews.Model }
        model["hasFindings"] = !exchange.findings.isEmpty
        let lint = try await lint(.init(request: number), pageRequest)
        model["lint"] = lint
        model["hasLint"] = !lint.isEmpty
        model["consultation"] = try await consultation(of: shown, world).map {
            Self.recordingLink($0) + pageRequest.query
        }
        for (name, step) in [("previous", -1), ("next", 1)] {
            let other = (1...Self.farthestNeighbour).lazy.map { number + step * $0 }.first { journal.contains($0) }
            model[name] = other.map { "/\(Self.root)/requests/\($0)\(pageRequest.query)" }
        }
        if entry.kind == .socket {
            let frames = SocketFrames(shown)
            model["frames"] = frames.models
            model["hasFrames"] = !frames.models.isEmpty
            model["framesLeftOut"] = frames.leftOut > 0 ? String(frames.leftOut) : ""
            model["said"] = frames.said
        }
        if entry.kind == .delivery {
            let command = Self.curl(exchange)
            model["curl"] = command ?? ""
            model["isToReceiver"] = command != nil
        } else {
            model["curl"] = curl(shown, pageRequest)
        }
        return Page(key: "requests", title: "\(entry.method) \(entry.path)", template: "request", model: model)
    }

    /// The recording that an exchange is about; nil if there is none.
    private func consultation(of shown: ShownExchange, _ world: World) async throws -> Transaction.Key? {
        guard let business = shown.exchange.principal?.business else { return nil }
        for id in shown.transactions where TransactionID.isValid(id) {
            let key = Transaction.Key(business: business, id: TransactionID(id))
            if try await world.runtime.store.transactions.transaction(key) != nil { return key }
        }
        return nil
    }

    private static func fields(_ fields: HTTPFields) -> [ConsoleViews.Model] {
        fields.map { ["field": $0.name.rawName, "content": SecretMask.value(of: $0)] }
    }

    /// A body, laid out if it is JSON; nothing for an empty one.
    private static func body(_ body: RecordedBody?, _ side: String) -> [ConsoleViews.Model] {
        guard let body, body.size > 0 else { return [] }
        var model: ConsoleViews.Model = ["side": side, "size": Self.size(body.size)]
        if let text = body.shownText {
            model["content"] = body.isTruncated ? text + "\n…" : JSONLayout.markup(of: text) ?? text as Any
        } else {
            model["isData"] = true
        }
        return [model]
    }
}

extension ShownExchange {
    /// Method and path of the contract's operation; nil for a request that reached none.
    fileprivate var contract: String? {
        operation.flatMap { OperationIndex.documented[$0] }.map { "\($0.method.rawValue) \($0.path)" }
    }
}
