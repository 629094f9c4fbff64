import Foundation
package import NIOCore
package import ScribeDomain

/// Writes one exchange into the journal of its world, which may become known later.
package final class JournalRecord: Sendable {
    private enum Place {
        /// The world is not known yet; the growth so far.
        case unknown(growth: Int)
        case journal(Journal, number: Int)
        /// The entry has left its journal, or belongs to none.
        case gone
    }

    package let mode: JournalMode
    package let clock: WallClock
    private let entry: JournalEntry
    private let place = LockedValue(Place.unknown(growth: 0))
    private let streams = LockedValue(false)

    package init(_ exchange: Exchange, mode: JournalMode, clock: WallClock) {
        self.mode = mode
        self.clock = clock
        entry = JournalEntry(exchange)
    }

    /// Puts the exchange into a journal. It leaves the one where it was.
    /// - Parameter journal: nil to keep it nowhere.
    package func put(in journal: Journal?) {
        var growth = 0
        switch place.withLock({ $0 }) {
        case .unknown(let before): growth = before
        case .journal(let before, let number):
            guard before !== journal else { return }
            before.remove(number)
        case .gone: return
        }
        guard let journal else { return place.withLock { $0 = .gone } }
        let number = journal.add(entry)
        place.withLock { $0 = .journal(journal, number: number) }
        if growth > 0 { _ = journal.changed(number, growth: growth, isNews: false) }
    }

    package var isPlaced: Bool {
        place.withLock { place in
            if case .unknown = place { return false }
            return true
        }
    }

    /// Whether the answer's body must reach the client piece by piece, such as a slow one.
    package var isStreamed: Bool {
        get { streams.withLock { $0 } }
        set { streams.withLock { $0 = newValue } }
    }

    /// Changes the exchange.
    /// - Parameter change: returns how much more memory the exchange takes.
    package func update(isNews: Bool = false, _ change: (inout Exchange) -> Int) {
        let before = place.withLock { $0 }
        if case .gone = before { return }
        let growth = entry.update(change)
        guard growth != 0 || isNews else { return }
        switch before {
        case .unknown(let grown): place.withLock { $0 = .unknown(growth: grown + growth) }
        case .journal(let journal, let number):
            guard !journal.changed(number, growth: growth, isNews: isNews) else { return }
            // What no one can read any more must not grow.
            place.withLock { $0 = .gone }
        case .gone: break
        }
    }

    package func note(_ principal: Principal?) {
        guard mode == .full else { return }
        update {
            $0.principal = principal
            return 0
        }
    }

    /// Ends the exchange. Later ends do nothing.
    package func end(_ end: Exchange.End, reason: String? = nil) {
        let now = clock.now
        let isFirst = entry.update { exchange in
            guard exchange.end == nil else { return false }
            exchange.end = end
            exchange.endedAt = now
            exchange.reason = exchange.reason ?? reason
            return true
        }
        if isFirst { update(isNews: true) { _ in 0 } }
    }

    /// Adds a frame to a socket.
    package func add(_ frame: @autoclosure () -> RecordedFrame.Content, from sender: RecordedFrame.Sender) {
        let now = clock.now
        update(isNews: true) { exchange in
            let frame = RecordedFrame(frame(), from: sender, at: now)
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
        if mode == .full {
            body = RecordedBody(type: isText ? "text/plain" : "audio")
            _ = body.add(payload)
        }
        return isText ? .text(body) : .binary(body)
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
