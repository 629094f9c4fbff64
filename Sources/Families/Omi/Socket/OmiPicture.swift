import Basics
import Foundation
import ScribeDomain

/// Assembles pictures that arrive in pieces, within limits on their number and size.
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

    private static let maxAtOnce = 4
    private var begun: [Pieces] = []
    private let memory: MemoryShare

    /// - Parameter memory: Memory share for the pieces of incomplete pictures.
    init(memory: MemoryShare) { self.memory = memory }

    /// Waits until memory is available for a piece.
    /// - Throws: `MemoryBudget.Exhausted` if none becomes available in time.
    func makeRoom(for piece: Piece) async throws { try await memory.take(piece.data.utf8.count) }

    /// Adds a piece.
    /// - Returns: The whole picture as base64 once complete, else nil.
    mutating func add(_ piece: Piece) -> String? {
        defer { memory.hold(begun.total(\.size)) }
        if !begun.contains(where: { $0.id == piece.id && $0.total == piece.total }) {
            begun.removeAll { $0.id == piece.id }
            // The oldest picture is dropped: a device sends one picture after another.
            if begun.count >= Self.maxAtOnce { begun.removeFirst() }
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
