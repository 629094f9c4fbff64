package import Foundation
package import HTTPTypes
package import NIOCore
package import ScribeDomain
import Synchronization

/// Entry of a journal: an exchange that is being recorded, or has ended. Its journal may be chosen after the request's
/// head, when the body or the first message names the world.
package final class JournalRecord: Sendable {
    private enum Place {
        /// The world is not known yet.
        case unknown
        case journal(Journal, number: Int)
        /// The exchange has ended, has left its journal, or belongs to none.
        case over

        /// Sets the place to ``over``.
        /// - Returns: the place before.
        mutating func leave() -> Place {
            var place = Place.over
            swap(&self, &place)
            return place
        }
    }

    private struct State {
        var exchange: Exchange
        var place = Place.unknown
        /// Memory that the exchange has taken beside its head.
        var growth = 0
        /// Whether the request names its world only in its body or first message.
        var isLate = false
        var isStreamed = false
    }

    package let mode: JournalMode
    package let clock: WallClock
    /// In the record's own memory: there is a record for each request.
    private let state: Mutex<State>

    /// - Parameters:
    ///   - size: bytes of the names and values of the request's fields.
    ///   - change: A first change. The exchange is made here, because a copy costs as much as all else.
    package init(
        _ kind: Exchange.Kind, _ request: HTTPRequest, fieldsSize size: Int, at time: Date, mode: JournalMode,
        clock: WallClock, _ change: (inout Exchange) -> Void = { _ in }
    ) {
        self.mode = mode
        self.clock = clock
        state = Mutex(State(exchange: Exchange(kind, request, fieldsSize: size, at: time)))
        state.withLock { change(&$0.exchange) }
    }

    /// The exchange as it is now.
    package var exchange: Exchange { state.withLock { $0.exchange } }

    /// Puts the exchange into a journal, and removes it from its former journal.
    /// - Parameter journal: nil to keep it nowhere.
    package func put(in journal: Journal?, _ change: (inout Exchange) -> Void = { _ in }) {
        let (before, size) = state.withLock { state in
            change(&state.exchange)
            defer { if journal == nil { state.place = .over } }
            return (state.place, state.exchange.headSize + state.growth)
        }
        switch before {
        case .unknown: break
        case .journal(let before, let number):
            guard before !== journal else { return }
            before.remove(number)
        case .over: return
        }
        guard let journal else { return }
        let number = journal.add(self, size: size)
        state.withLock { state in
            // A journal must not be held by its own entries.
            state.place = state.exchange.end == nil ? .journal(journal, number: number) : .over
        }
    }

    /// Leaves the exchange without a journal until its body or its first message names one.
    package func postpone(_ change: (inout Exchange) -> Void) {
        state.withLock { state in
            state.isLate = true
            change(&state.exchange)
        }
    }

    package var isPlaced: Bool { situation.isPlaced }

    /// State of a record when its answer is known.
    package struct Situation: Sendable {
        package let isPlaced: Bool
        /// Whether the exchange waits for its world.
        package let isLate: Bool
        /// Whether a fault sends the answer's body piece by piece, so that the journal must not collect it first.
        package let isStreamed: Bool
    }

    package var situation: Situation {
        state.withLock { state in
            let isPlaced = if case .unknown = state.place { false } else { true }
            return Situation(isPlaced: isPlaced, isLate: state.isLate, isStreamed: state.isStreamed)
        }
    }

    /// Notes that a fault sends the answer's body piece by piece.
    package func stream() { state.withLock { $0.isStreamed = true } }

    /// Changes the exchange, unless it has ended.
    /// - Parameter change: returns how much more memory the exchange takes.
    package func update(isNews: Bool = false, _ change: (inout Exchange) -> Int) {
        let place = state.withLock { state -> (journal: Journal, number: Int, growth: Int)? in
            if case .over = state.place { return nil }
            let growth = change(&state.exchange)
            state.growth += growth
            guard case .journal(let journal, let number) = state.place else { return nil }
            return (journal, number, growth)
        }
        guard let (journal, number, growth) = place, growth != 0 || isNews,
            !journal.changed(number, growth: growth, isNews: isNews)
        else { return }
        // What no one can read any more must not grow.
        state.withLock { $0.place = .over }
    }

    package func note(_ principal: Principal?) {
        guard mode.isFull else { return }
        update {
            $0.principal = principal
            return 0
        }
    }

    /// Names the fault rules that were applied to the request.
    package func note(fault: String) {
        update {
            $0.fault = fault
            return 0
        }
    }

    /// Ends the exchange. Later ends and changes do nothing: the journal must not be held by its own entries.
    /// - Parameters:
    ///   - time: nil for now.
    ///   - change: A last change; it returns how much more memory the exchange takes.
    package func end(
        _ end: Exchange.End, reason: String? = nil, at time: Date? = nil,
        _ change: (inout Exchange) -> Int = { _ in 0 }
    ) {
        let now = time ?? clock.now
        var growth = 0
        let place = state.withLock { state -> Place in
            guard state.exchange.end == nil else { return .over }
            state.exchange.end = end
            state.exchange.endedAt = now
            if let reason, state.exchange.reason == nil { state.exchange.reason = reason }
            growth = change(&state.exchange)
            state.growth += growth
            guard case .journal = state.place else { return .unknown }
            return state.place.leave()
        }
        guard case .journal(let journal, let number) = place else { return }
        _ = journal.changed(number, growth: growth, isNews: true)
    }

    /// Adds a frame to a socket.
    package func add(_ frame: @autoclosure () -> RecordedFrame.Content, from sender: RecordedFrame.Sender) {
        let now = clock.now
        update(isNews: true) { exchange in
            let frame = RecordedFrame(mode.isFull ? frame() : frame().withoutReason, from: sender, at: now)
            let size = frame.content.size
            guard exchange.frames.count < JournalSettings.frameLimit,
                exchange.frameBytes + size <= JournalSettings.socketLimit
            else {
                exchange.framesLeftOut += 1
                return 0
            }
            exchange.frames.append(frame)
            exchange.frameBytes += size
            return size
        }
    }
}

extension RecordedFrame.Content {
    /// A message.
    /// - Parameter mode: without ``JournalMode/full`` only the size is kept.
    package static func message(_ payload: ByteBuffer, isText: Bool, _ mode: JournalMode) -> Self {
        var body = RecordedBody(size: payload.readableBytes)
        if mode.isFull {
            body = RecordedBody(type: isText ? "text/plain" : "audio")
            _ = body.add(payload)
        }
        return isText ? .text(body) : .binary(body)
    }

    /// A reason may repeat what was said.
    fileprivate var withoutReason: Self {
        if case .close(let code, _) = self { return .close(code: code, reason: "") }
        return self
    }

    /// About the memory that the frame takes, in bytes.
    var size: Int {
        switch self {
        case .text(let body), .binary(let body): 300 + (body.text?.storageCapacity ?? 0)
        case .ping, .pong: 200
        case .close(_, let reason): 200 + reason.utf8.count
        }
    }
}
