import Basics
import ScribeDomain

/// JSON of a transaction's `chunk_times` column: start and end of each chunk in seconds, by file name,
/// `{"1.wav":{"start":0,"end":9.5}}`. Every transaction writes and reads it, and a coder takes longer than the
/// statement.
struct StoredTimes {
    let value: [String: ChunkTimes]

    init(_ value: [String: ChunkTimes]) { self.value = value }

    /// Decodes the column.
    /// - Throws: `DecodingError` for any other text.
    init(text: String) throws {
        guard case .object(let members) = JSONDocument.written(text) else { throw Self.corrupt }
        value = try members.mapValues { times in
            guard let start = times["start"]?.numberValue, let end = times["end"]?.numberValue else {
                throw Self.corrupt
            }
            return ChunkTimes(start: start, end: end)
        }
    }

    /// Encodes the column.
    /// - Throws: `EncodingError` for a time that is not finite.
    var text: String {
        get throws {
            let members = try value.map { name, times -> JSON.Member in
                guard times.start.isFinite, times.end.isFinite else {
                    throw EncodingError.invalidValue(
                        times.start, .init(codingPath: [], debugDescription: "a time is not finite"))
                }
                return (name, ["start": .number(times.start), "end": .number(times.end)])
            }
            return StoredJSON.text(JSON.object(members))
        }
    }

    private static var corrupt: DecodingError {
        .dataCorrupted(.init(codingPath: [], debugDescription: "chunk_times holds no times"))
    }
}
