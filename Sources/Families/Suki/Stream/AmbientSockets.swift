import ScribeDomain
import ScribeHTTP

/// The socket of each session: one at a time, the newest (suki.md addendum 6).
final class AmbientSockets: Sendable {
    private struct Place: Hashable {
        let business: BusinessID
        let session: TransactionID
    }

    private struct State {
        var open: [Place: (number: Int, socket: WebSocket)] = [:]
        var next = 0
    }

    private let state = LockedValue(State())

    private static let replaced = WebSocketClosure(1008, "Another socket goes on with the session")

    /// Takes the session over.
    /// - Returns: what gives it back.
    func open(_ socket: WebSocket, for session: TransactionID, of business: BusinessID) -> @Sendable () -> Void {
        let place = Place(business: business, session: session)
        let (number, before) = state.withLock { state in
            state.next += 1
            let before = state.open.updateValue((state.next, socket), forKey: place)
            return (state.next, before?.socket)
        }
        before?.close(Self.replaced)
        return { [state] in
            state.withLock { state in
                if state.open[place]?.number == number { state.open[place] = nil }
            }
        }
    }

    /// Whoever is connected is told that it is over.
    func close(_ session: TransactionID, of business: BusinessID, _ closure: WebSocketClosure) {
        let place = Place(business: business, session: session)
        state.withLock { $0.open.removeValue(forKey: place)?.socket }?.close(closure)
    }
}
