import Foundation
import Testing

/// Feeds a fuzzer without libFuzzer: no guidance, but no build of its own either, and the same bytes in every run.
struct FuzzRun {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().path

    private let fuzzer: @Sendable (Data) -> Void
    private let corpus: [Data]
    private let tokens: [Data]
    /// Holds the input that is being tried, and is left behind by a crash.
    private let trace: String
    private var random = SplitMix64(state: 1)

    init(_ name: String) throws {
        fuzzer = try #require(fuzzers[name])
        let files = try FileManager.default.contentsOfDirectory(atPath: "\(Self.folder)/corpus/\(name)").sorted()
        corpus = try files.map { try Data(contentsOf: URL(filePath: "\(Self.folder)/corpus/\(name)/\($0)")) }
        tokens = try Self.dictionary(name)
        trace = Self.trace(of: name)
    }

    /// Says which input a run has crashed on.
    static func report(_ name: String) {
        let trace = trace(of: name)
        guard FileManager.default.fileExists(atPath: trace) else { return }
        Issue.record("It crashed on \(trace): scripts/fuzz 1 \(name) builds .build/fuzz/fuzz, which takes that file")
    }

    private static func trace(of name: String) -> String { "\(NSTemporaryDirectory())/scribe-fuzz-\(name)" }

    /// - Parameter times: as many as take about a second; `make soak` asks for a multiple.
    mutating func mutate(times: Int) throws {
        let factor = ProcessInfo.processInfo.environment["SCRIBE_FUZZ_FACTOR"].flatMap(Int.init) ?? 1
        for data in corpus { try feed(data) }
        for _ in 0..<times * factor {
            var data = corpus[random.below(corpus.count)]
            for _ in 0...random.below(4) { data = mutated(data) }
            try feed(data.prefix(4096))
        }
        try? FileManager.default.removeItem(atPath: trace)
    }

    private func feed(_ data: Data) throws {
        try data.write(to: URL(filePath: trace))
        fuzzer(Data(data))
    }

    private mutating func mutated(_ data: Data) -> Data {
        let place = random.below(data.count + 1)
        let end = min(data.count, place + 1 + random.below(16))
        switch random.below(7) {
        case 0: return data.prefix(place)
        case 1: return data[..<place] + data[end...]
        case 2: return data[..<end] + data[place...]
        case 3: return data[..<place] + data[place..<end].map { _ in UInt8(random.below(256)) } + data[end...]
        case 4: return data[..<place] + data[place..<end].map { $0 ^ (1 << UInt8(random.below(8))) } + data[end...]
        case 5: return data[..<place] + (tokens.isEmpty ? Data() : tokens[random.below(tokens.count)]) + data[end...]
        default:
            let other = corpus[random.below(corpus.count)]
            return data[..<place] + other.suffix(random.below(other.count + 1))
        }
    }

    /// The tokens of one of libFuzzer's dictionaries: a text in quotes to a line, with `\\xAB`, `\\"` and `\\\\`.
    private static func dictionary(_ name: String) throws -> [Data] {
        guard let text = try? String(contentsOfFile: "\(folder)/dictionaries/\(name)", encoding: .utf8) else {
            return []
        }
        return text.split(separator: "\n").compactMap { line in
            guard line.hasPrefix("\""), line.hasSuffix("\"") else { return nil }
            var token = Data()
            var rest = Array(line.utf8.dropFirst().dropLast())[...]
            while let byte = rest.popFirst() {
                guard byte == UInt8(ascii: "\\"), let next = rest.popFirst() else {
                    token.append(byte)
                    continue
                }
                if next == UInt8(ascii: "x") {
                    token.append(UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) ?? 0)
                    rest = rest.dropFirst(2)
                } else {
                    token.append(next)
                }
            }
            return token
        }
    }
}

/// Numbers that look random and are the same everywhere.
private struct SplitMix64 {
    var state: UInt64

    mutating func below(_ limit: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int((mixed ^ (mixed >> 31)) % UInt64(limit))
    }
}
