import Foundation
import ScribeDomain

/// Puts pictures together that come in pieces: few at a time, and none without end.
struct OmiPicture {
    struct Piece: Hashable, Sendable {
        let id: String
        let index: Int
        let total: Int
        let data: String

        init?(_ body: JSONValue) {
            guard let id = OmiCommand.name(body["id"]), case .integer(let index)? = body["index"],
                case .integer(let total)? = body["total"], (1...1000).contains(total), (0..<total).contains(index),
                let data = body["data"]?.stringValue, !data.isEmpty
            else { return nil }
            self.id = id
            self.index = Int(index)
            self.total = Int(total)
            self.data = data
        }
    }

    private struct Pieces {
        let id: String
        let total: Int
        var parts: [Int: String] = [:]
        var size = 0
    }

    private static let mostAtOnce = 4
    private var begun: [Pieces] = []
    private let memory: MemoryShare

    /// - Parameter memory: holds the pieces of those that are not whole.
    init(memory: MemoryShare) { self.memory = memory }

    /// Waits until there is room for a piece.
    /// - Throws: `MemoryBudget.Exhausted` when there is none in time.
    func makeRoom(for piece: Piece) async throws { try await memory.take(piece.data.utf8.count) }

    /// - Returns: the whole picture as base64, once its last piece is there.
    mutating func add(_ piece: Piece) -> String? {
        defer { memory.hold(begun.reduce(0) { $0 + $1.size }) }
        if !begun.contains(where: { $0.id == piece.id && $0.total == piece.total }) {
            begun.removeAll { $0.id == piece.id }
            // The oldest is given up: a device sends one after another.
            if begun.count >= Self.mostAtOnce { begun.removeFirst() }
            begun.append(Pieces(id: piece.id, total: piece.total))
        }
        guard let place = begun.firstIndex(where: { $0.id == piece.id }) else { return nil }
        begun[place].size += piece.data.utf8.count - (begun[place].parts[piece.index]?.utf8.count ?? 0)
        begun[place].parts[piece.index] = piece.data
        guard begun[place].size <= Limits.photo else {
            begun.remove(at: place)
            return nil
        }
        guard begun[place].parts.count == piece.total else { return nil }
        let picture = begun.remove(at: place)
        let whole = (0..<picture.total).compactMap { picture.parts[$0] }.joined()
        return Data(base64Encoded: whole) == nil ? nil : whole
    }
}
