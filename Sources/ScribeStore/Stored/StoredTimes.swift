import ScribeDomain

/// When chunks were spoken, by their names, in the `chunk_times` column of a transaction: `{"1.wav":{"start":0.0,"end":9.5}}`.
/// Each consultation writes and reads it, and a coder takes longer for it than the statement.
struct StoredTimes {
    let value: [String: ChunkTimes]

    init(_ value: [String: ChunkTimes]) { self.value = value }

    /// - Throws: `DecodingError` for what is none.
    init(text: String) throws {
        guard case .object(let members) = JSONDocument.written(text) else { throw Self.corrupt }
        value = try members.mapValues { times in
            guard let start = times["start"]?.numberValue, let end = times["end"]?.numberValue else {
                throw Self.corrupt
            }
            return ChunkTimes(start: start, end: end)
        }
    }

    /// - Throws: `EncodingError` for a time that is no number.
    var text: String {
        get throws {
            if value.contains(where: { $0.key.needsJSONEscape || !$0.value.start.isFinite || !$0.value.end.isFinite }) {
                return try StoredJSON.text(
                    value.mapValues { JSONValue.object(["start": .number($0.start), "end": .number($0.end)]) })
            }
            return "{\(value.map { "\"\($0)\":{\"start\":\($1.start),\"end\":\($1.end)}" }.joined(separator: ","))}"
        }
    }

    private static var corrupt: DecodingError {
        .dataCorrupted(.init(codingPath: [], debugDescription: "chunk_times are no times"))
    }
}
