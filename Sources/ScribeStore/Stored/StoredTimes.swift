import ScribeDomain

/// The `chunk_times` column of a transaction: start and end of each chunk in seconds, by the name of its file:
/// `{"1.wav":{"start":0,"end":9.5}}`.
struct StoredTimes {
    private struct Times: Codable {
        let start: Double
        let end: Double

        enum CodingKeys: String, CodingKey {
            case start = "start"
            case end = "end"
        }
    }

    let value: [String: ChunkTimes]

    init(_ value: [String: ChunkTimes]) { self.value = value }

    /// - Throws: `DecodingError` for any other text.
    init(text: String) throws {
        value = try StoredJSON.value(text, as: [String: Times].self)
            .mapValues { ChunkTimes(start: $0.start, end: $0.end) }
    }

    /// - Throws: `EncodingError` for a time that is not finite.
    var text: String {
        get throws { try StoredJSON.text(value.mapValues { Times(start: $0.start, end: $0.end) }) }
    }
}
