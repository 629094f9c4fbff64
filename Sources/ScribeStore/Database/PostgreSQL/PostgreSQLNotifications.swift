import Basics
import Foundation
import ScribeDomain

/// Tells the other processes on a PostgreSQL database of changes, and learns theirs: LISTEN and NOTIFY.
///
/// A notification follows the commit, on a connection of its own: inside the SQL transaction its global lock would be
/// held over the commit. A lost notification costs time only, because waiting readers read again.
package final class PostgreSQLNotifications: Sendable {
    private struct State {
        var pending: [Change] = []
        var hasEnded = false
    }

    /// Time in which changes are collected for one notification, in seconds. Each costs PostgreSQL a SQL transaction,
    /// and every server a wake-up.
    private static let collection = 0.01
    /// Most bytes of the changes in one notification; PostgreSQL takes 8,000 with base64.
    private static let maxBytes = 5000
    /// Longest time between two looks at the connection, in milliseconds.
    private static let longestSilence: Int32 = 2000

    private let address: PostgreSQLAddress
    private let library: LibPQ
    private let receiver: any ChangeSink
    private let state = LockedValue(State())
    private let ended = DispatchSemaphore(value: 0)
    /// Ends of the pipe that wakes the thread.
    private let (wakeReader, wakeWriter): (Int32, Int32)

    /// - Parameter receiver: gets the changes of other processes.
    init(_ address: PostgreSQLAddress, _ library: LibPQ, receiver: any ChangeSink) {
        self.address = address
        self.library = library
        self.receiver = receiver
        var ends: [Int32] = [-1, -1]
        pipe(&ends)
        for end in ends { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
        (wakeReader, wakeWriter) = (ends[0], ends[1])
    }

    deinit {
        close(wakeReader)
        close(wakeWriter)
    }

    /// Starts the thread, which ends with ``end()``.
    func start() { Thread.detachNewThread { [self] in run() } }

    /// Ends the thread, once pending notifications are sent. Blocking, at most two seconds.
    func end() {
        state.withLock { $0.hasEnded = true }
        wake()
        _ = ended.wait(timeout: .now() + 2)
    }

    /// Sends changes to the other processes, after the commit of their write.
    func send(_ changes: [Change]) {
        let isFirst = state.withLock { state in
            defer { state.pending += changes }
            return state.pending.isEmpty
        }
        if isFirst { wake() }
    }

    private func wake() {
        var byte: UInt8 = 1
        _ = write(wakeWriter, &byte, 1)
    }

    // MARK: The thread

    private func run() {
        defer { ended.signal() }
        while !state.withLock({ $0.hasEnded }) {
            do {
                let connection = try PostgreSQLConnection(administering: address.url, library: library)
                guard connection.isConnected else { throw PostgreSQLError.disconnected }
                try connection.execute(address.setup)
                try connection.execute("LISTEN \(channel)")
                let process = try connection.execute("SELECT pg_backend_pid()").first.flatMap(\.self).flatMap {
                    Int32($0)
                }
                // Notifications sent while the connection was down are lost.
                for kind in Job.Kind.allCases { receiver.publish(.work(kind)) }
                for work in TimedWork.allCases { receiver.publish(.due(work)) }
                try serve(connection, process)
            } catch {
                Thread.sleep(forTimeInterval: 0.5)
            }
        }
    }

    private var channel: String { "scribe_\(address.schema)" }

    /// - Parameter process: PostgreSQL's process for this connection, which tells its own notifications from others.
    private func serve(_ connection: PostgreSQLConnection, _ process: Int32?) throws {
        while true {
            var waits = [
                pollfd(fd: connection.socket, events: Int16(POLLIN), revents: 0),
                pollfd(fd: wakeReader, events: Int16(POLLIN), revents: 0),
            ]
            _ = poll(&waits, 2, Self.longestSilence)
            var bytes = [UInt8](repeating: 0, count: 64)
            if waits[1].revents != 0 { Thread.sleep(forTimeInterval: Self.collection) }
            while read(wakeReader, &bytes, bytes.count) > 0 {}
            let (pending, hasEnded) = state.withLock { state in
                defer { state.pending = [] }
                return (state.pending, state.hasEnded)
            }
            for payload in payloads(of: pending) {
                try connection.execute("SELECT pg_notify('\(channel)', '\(payload)')")
            }
            for payload in try connection.notifications(exceptOf: process) { receive(payload) }
            if hasEnded { return }
        }
    }

    // MARK: Payloads

    /// Changes as texts: `t` transaction, `a` audio, `w` work, `d` delivery, `u` due, each with its values.
    private func payloads(of changes: [Change]) -> [String] {
        var payloads: [String] = []
        var (texts, size) = ([[String]](), 0)
        func end() {
            guard !texts.isEmpty, let data = try? JSONEncoder().encode(texts) else { return }
            payloads.append(data.base64EncodedString())
            (texts, size) = ([], 0)
        }
        var seen: Set<Change> = []
        for change in changes where seen.insert(change).inserted {
            guard let text = Self.text(of: change) else { continue }
            let length = text.reduce(4) { $0 + 6 * $1.utf8.count }
            // A change that fills a notification alone is found by reading again.
            guard length <= Self.maxBytes else { continue }
            if size + length > Self.maxBytes { end() }
            texts.append(text)
            size += length
        }
        end()
        return payloads
    }

    private static func text(of change: Change) -> [String]? {
        switch change {
        case .transaction(let key): ["t", key.business.rawValue, key.id.rawValue]
        case .audio(let key): ["a", key.business.rawValue, key.id.rawValue]
        case .work(let kind): ["w", kind.rawValue]
        case .delivery(let lane): ["d", lane]
        case .due(let work): ["u", "\(work)"]
        case .claimed: nil
        }
    }

    private func receive(_ payload: String) {
        guard let data = Data(base64Encoded: payload),
            let texts = try? JSONDocument(data).decode([[String]].self)
        else { return }
        for text in texts {
            if let change = Self.change(text) { receiver.publish(change) }
        }
    }

    private static func change(_ text: [String]) -> Change? {
        func key() -> Transaction.Key { Transaction.Key(business: BusinessID(text[1]), id: TransactionID(text[2])) }
        switch (text.first, text.count) {
        case ("t", 3): return .transaction(key())
        case ("a", 3): return .audio(key())
        case ("w", 2): return Job.Kind(rawValue: text[1]).map(Change.work)
        case ("d", 2): return .delivery(lane: text[1])
        case ("u", 2): return TimedWork.allCases.first { "\($0)" == text[1] }.map(Change.due)
        default: return nil
        }
    }
}
