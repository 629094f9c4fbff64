import ScribeDomain
import ScribeHTTP

/// Decodes the body of stop and commit (eka.md 2.2). Times may be numbers or strings (C-19), empty (C-20) or absent
/// (C-21).
struct ChunkListBody: Decodable {
    let list: ChunkList

    private struct TimesBody: Decodable {
        let start: Double?
        let end: Double?

        private enum CodingKeys: String, CodingKey {
            case start = "st"
            case end = "et"
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            func seconds(_ key: CodingKeys) throws -> Double? {
                // Numbers first: they are the usual case, and a thrown error is slow.
                if let number = try? container.decodeIfPresent(Double.self, forKey: key) { return number }
                if let text = try? container.decode(String.self, forKey: key) { return ChunkTimes.seconds(from: text) }
                return try container.decodeIfPresent(Double.self, forKey: key)
            }
            start = try seconds(.start)
            end = try seconds(.end)
        }
    }

    private enum CodingKeys: String, CodingKey {
        case files = "audio_files"
        case times = "chunk_info"
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        var times: [String: ChunkTimes] = [:]
        for entry in try container.decodeIfPresent([[String: TimesBody]].self, forKey: .times) ?? [] {
            for (file, body) in entry {
                // Invalid times count as absent, like empty ones: the audio is worth more.
                guard let start = body.start, let end = body.end, ChunkTimes.canBe(start, end) else { continue }
                times[file] = ChunkTimes(start: start, end: end)
            }
        }
        let files = try container.decode([String].self, forKey: .files).filter { !$0.isEmpty }
        for name in files { try Limits.require(name, within: Limits.fileName, CodingKeys.files.rawValue) }
        guard files.allSatisfy(\.isPlain) else {
            throw ScribeError.invalidRequest(field: CodingKeys.files.rawValue, problem: "contains an invalid file name")
        }
        list = ChunkList(files: files, times: times)
    }
}
