package import Basics
package import Foundation
package import HTTPTypes
package import ScribeDomain
import Synchronization

/// Settings that the records of a journal share.
package final class RecordSettings: Sendable {
    package let mode: JournalMode
    package let clock: WallClock

    package init(mode: JournalMode, clock: WallClock) {
        self.mode = mode
        self.clock = clock
    }
}

/// Entry of a journal: an exchange that is being recorded, or has ended. Its journal may be chosen after the request's
/// head, when the body or the first message names the world.
package final class JournalRecord: Sendable {
    private enum Place {
        /// The world is not known yet.
        case unknown
        /// The exchange enters its journal with its answer, which comes soon.
        case before(Journal)
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

        var size: Int { exchange.headSize + growth }
    }

    /// Whether the request had come whole when the record was made.
    package let isWhole: Bool
    /// Start of the exchange. Read without the lock of the exchange.
    let startedAt: Date
    package var mode: JournalMode { settings.mode }
    private let settings: RecordSettings
    /// In the record's own memory: there is a record for each request.
    private let state: Mutex<State>

    /// - Parameters:
    ///   - prefix: Prefix `/ns/NAME` that the path had.
    ///   - requestID: Empty for none.
    package init(
        _ kind: Exchange.Kind, _ head: RecordedHead, at time: Date, _ settings: RecordSettings,
        prefix: String = "", requestID: String = ""
    ) {
        isWhole = if case .bytes = head { true } else { false }
        self.settings = settings
        startedAt = time
        // The exchange is made here, because a copy costs as much as all else.
        state = Mutex(State(exchange: Exchange(kind, head, at: time, prefix: prefix, requestID: requestID)))
    }

    /// The exchange as it is now.
    package var exchange: Exchange { state.withLock { $0.exchange } }

    /// Chooses the journal of the exchange, and removes the exchange from its former journal.
    ///
    /// A request that came whole enters with its answer, unless ``enter()`` is called before.
    /// - Parameters:
    ///   - journal: nil to keep the exchange nowhere.
    ///   - family: nil to leave family and operation as they are.
    package func put(in journal: Journal?, family: String? = nil, operation: String? = nil) {
        var former: (journal: Journal, number: Int)?
        let enters = state.withLock { state -> Bool in
            if family != nil { (state.exchange.family, state.exchange.operation) = (family, operation) }
            switch state.place {
            case .over: return false
            case .journal(let present, _) where present === journal: return false
            case .journal(let present, let number): former = (present, number)
            case .unknown, .before: break
            }
            state.place = journal.map(Place.before) ?? .over
            return former != nil || !isWhole
        }
        if let former { former.journal.remove(former.number) }
        if enters { enter() }
    }

    /// Puts the exchange into its journal before its answer, which may take long.
    package func enter() {
        let entered = state.withLock { state -> (journal: Journal, size: Int, isOver: Bool)? in
            guard case .before(let journal) = state.place else { return nil }
            state.place = .unknown
            return (journal, state.size, state.exchange.end != nil)
        }
        guard let (journal, size, isOver) = entered else { return }
        let number = journal.add(self, size: size)
        let (growth, hasEnded) = state.withLock { state in
            // A journal must not be held by its own entries.
            state.place = state.exchange.end == nil ? .journal(journal, number: number) : .over
            return (state.size - size, !isOver && state.exchange.end != nil)
        }
        // Meanwhile the record had no journal to tell.
        guard growth != 0 || hasEnded, !journal.changed(number, growth: growth, isNews: hasEnded) else { return }
        forget()
    }

    /// Releases the frames of an open socket, which holds its record after that has left its journal.
    func forget() {
        state.withLock { state in
            guard state.exchange.end == nil else { return }
            state.place = .over
            state.exchange.frames = []
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

    /// Notes that the request's body was read to its end.
    package func noteWholeBody() { state.withLock { $0.exchange.requestBody?.isWhole = true } }

    /// Notes the object that the request's body has become.
    /// - Parameter md5: MD5 of its bytes.
    package func note(objectWith md5: [UInt8]) {
        state.withLock { $0.exchange.requestBody?.md5 = Hex.encode(md5) }
    }

    /// Notes that the answer will be one that is given many times.
    package func note(_ answer: RepeatedAnswer) { state.withLock { $0.exchange.note(answer) } }

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
        // The entry was evicted; stop recording.
        forget()
    }

    package func note(_ principal: Principal?) {
        guard mode.isFull else { return }
        state.withLock { $0.exchange.principal = principal }
    }

    /// Ends the exchange with an answer that is sent whole.
    /// - Parameter length: Bytes of the answer's body; nil if that is not known.
    /// - Returns: false if the exchange has no journal yet, or if its body is not noted or is sent piece by piece.
    package func end(_ head: AnswerHead, bodyLength length: Int?, at time: Date) -> Bool {
        end(at: time) { exchange in
            length == exchange.responseBody?.size ?? 0 ? exchange.note(head) : nil
        }
    }

    /// Ends the exchange, if its answer is the one that was noted.
    /// - Parameters:
    ///   - fields: Fields of the answer that is sent.
    ///   - length: Bytes of its body; nil if that is not known.
    ///   - endpoint: Pattern of the route; a name for requests without a route.
    ///   - requestID: Id that the answer has.
    /// - Returns: false if the exchange has no journal yet, or if another answer is sent.
    package func end(
        repeated fields: HTTPFields, bodyLength length: Int?, endpoint: String?, requestID: String, at time: Date
    ) -> Bool {
        end(at: time) {
            $0.noteRepeated(fields, bodyLength: length, endpoint: endpoint, requestID: requestID)
        }
    }

    /// Ends the exchange with an answer that is sent whole, unless `note` returns nil.
    /// - Parameter note: Notes the answer, and returns how much more memory the exchange takes.
    @inline(__always) private func end(at time: Date, _ note: (inout Exchange) -> Int?) -> Bool {
        var ended = Ended()
        let place = state.withLock { state -> Place in
            switch state.place {
            case .unknown: return .unknown
            case .over: return .over
            case .before, .journal: break
            }
            guard !state.isStreamed, let added = note(&state.exchange) else { return .unknown }
            state.growth += added
            state.exchange.end = .whole
            state.exchange.endedAt = time
            ended = Ended(of: state, growth: added)
            return state.place.leave()
        }
        if case .unknown = place { return false }
        tell(place, ended)
        return true
    }

    /// Facts for the journal of an exchange that has ended.
    private struct Ended {
        /// Memory of the record.
        var size = 0
        /// Memory that the end has added to the record.
        var growth = 0
        /// nil for an exchange that stays in its record.
        var packed: PackedExchange?

        init() {}

        init(of state: borrowing State, growth: Int = 0) {
            (size, self.growth) = (state.size, growth)
            // The record's objects take more than their bytes.
            packed = PackedExchange(state.exchange, upTo: size)
        }
    }

    private func tell(_ place: Place, _ ended: Ended) {
        switch place {
        case .unknown, .over: break
        case .before(let journal):
            _ = journal.add(self, ended.packed, size: ended.size)
        case .journal(let journal, let number):
            _ = journal.changed(number, growth: ended.growth, isNews: true, ended.packed)
        }
    }

    /// Ends the exchange. Later ends and changes do nothing: the journal must not be held by its own entries.
    package func end(_ end: Exchange.End, reason: String? = nil) {
        let now = settings.clock.now
        var ended = Ended()
        let place = state.withLock { state -> Place in
            guard state.exchange.end == nil else { return .over }
            state.exchange.end = end
            state.exchange.endedAt = now
            if let reason, state.exchange.reason == nil { state.exchange.reason = reason }
            // One that has no place yet must still find one.
            if case .unknown = state.place { return .unknown }
            ended = Ended(of: state)
            return state.place.leave()
        }
        tell(place, ended)
    }

    /// Adds a frame to a socket.
    package func add(_ frame: @autoclosure () -> RecordedFrame.Content, from sender: RecordedFrame.Sender) {
        let now = settings.clock.now
        update(isNews: true) { exchange in
            let frame = RecordedFrame(
                time: now, sender: sender, content: mode.isFull ? frame() : frame().withoutReason)
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
