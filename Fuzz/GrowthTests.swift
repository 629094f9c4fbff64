import Basics
import CoreFoundation
import Foundation
import HummingbirdCore
import NIOCore
import Testing

@testable import Eka
@testable import Engines
@testable import Listen
@testable import Omi
@testable import S3
@testable import ScribeDomain
@testable import ScribeHTTP
@testable import ScribeRuntime
@testable import Suki

/// What strangers send may not cost more than in proportion to its length.
///
/// Compared is the processor time of the test's own thread, for an input and for one eight times as long: no time is
/// asserted, and what else the machine does is not in it. In proportion is 8; to the square is 64.
struct GrowthTests {
    static let texts = [
        "fever ", "no fever ", "allergic to ", "dry ", "itchy ", "and ", "knee ", "paracetamol ", "paracetamol daily ",
        "insulin ", "500 ", "asthma ", "i have ", "take ", "history of ", "for three ", "since ", "fever.", "Doctor: ",
        "[", "\n", "come back ", "500 mg of ", "every 4 to 6 ", "...", "runs in the ", "not ",
    ]

    @Test("facts of a transcript", arguments: texts)
    func facts(unit: String) {
        expectLinear(unit, of: 500) { _ = FactExtraction.facts(in: $0) }
    }

    @Test(
        "emergencies in a transcript",
        arguments: texts + [
            "chest pain ", "no chest pain ", "if chest pain ", "um ", "yes ", "any chest pain ", "i can't breathe ",
            "chest ", "took took ", "in 2015 chest pain ", "my father had a stroke ",
        ])
    func emergencies(unit: String) {
        expectLinear(unit, of: 500) { _ = UrgencyClassifier.level(of: $0) }
    }

    @Test("words in scripts that take long to compare")
    func words() {
        for unit in ["İ ", "’İ’ ", "e\u{301} ", "।।"] { expectLinear(unit, of: 500) { _ = Token.words(in: $0[...]) } }
    }

    @Test("sentences and words to find a note's sources and diagnoses in")
    func plainWords() {
        for unit in ["pain ", "İ ", "e\u{301} ", "'-.", "दर्द। ", "x. "] {
            expectLinear(unit, of: 500) { text in _ = text.sentences.map(\.plainWords) }
        }
    }

    @Test(
        "names of diagnoses in notes",
        arguments: [
            "pain in the knee and so on. ", "pain in the knee and ", "no pain in the knee. ", "knee. pain. ",
            "knee pain. ",
        ])
    func diagnoses(unit: String) {
        // Up to 760 names, and as much more text to find them in.
        expectLinear { length in
            let note = makeNote(naming: 95 * length, saying: String(repeating: unit, count: 300 * length))
            return { _ = AmbientContext.Diagnosis.mentioned(in: [note]) }
        }
        // Up to 72 sessions of one encounter, each with the same 760 names.
        expectLinear { length in
            let notes = Array(repeating: makeNote(naming: 760, saying: unit), count: 9 * length)
            return { _ = AmbientContext.Diagnosis.mentioned(in: notes) }
        }
    }

    @Test("what a device says")
    func commands() {
        for unit in ["so ", "İ ", "e\u{301} "] {
            expectLinear(unit, of: 500) { text in
                _ = OmiCommand(#"{"type":"transcript_segment","text":"\#(text)"}"#)
            }
        }
    }

    @Test(
        "the head of a live stream, a byte at a time", arguments: ["RIFF\0\0\0\0WAVEjunk", "\0\0\0\0", "ID3\u{4}\0\0"])
    func heads(beginning: String) throws {
        let query = try ListenQuery(
            [:], at: .stream, of: ListenClientProfile(seesRefusals: false, isSubQ: false), speaksSubQ: false)
        expectLinear { length in
            var size = UInt32(length * 200).littleEndian
            let head = Array(beginning.utf8) + withUnsafeBytes(of: &size) { Array($0) }
            let bytes = head + [UInt8](repeating: 0, count: length * 200)
            return {
                var audio = ListenAudio(query)
                for byte in bytes { _ = try? audio.decode(ByteBuffer(bytes: [byte])) }
            }
        }
    }

    @Test("headers of frames that never end, in a FLAC stream that is cut")
    func frames() {
        expectLinear { length in
            // Code, rate, channels and number of a frame, and the CRC-8 of these.
            let header: [UInt8] = [0xFF, 0xF8, 0x10, 0x08, 0x00]
            let crc = (0...255).first { last in
                FLACAudio.frameEnd(at: 0, of: AudioBytes(Data(header + [UInt8(last)])), blockSize: 0) != nil
            }
            let frame = header + [UInt8(crc ?? 0)]
            let bytes =
                Data(Array("fLaC".utf8) + [UInt8](repeating: 0, count: 38))
                + (0..<length * 20).flatMap { _ in frame }
            return {
                var stream = FLACStream()
                stream.add(bytes)
                _ = stream.cut()
            }
        }
    }

    static let pieces: [String: (beginning: [UInt8], repeated: [UInt8])] = [
        "ID3": ([], [0x49, 0x44, 0x33, 4, 0, 0, 0, 0, 0, 0]),
        "MP3 frames": ([], [0xFF, 0xFB, 0x10, 0xC4] + [UInt8](repeating: 0, count: 100)),
        "zeros": ([], [0]),
        "RIFF": (Array("RIFF\u{0}\u{0}\u{0}\u{0}WAVE".utf8), Array("LIST\u{0}\u{0}\u{0}\u{0}".utf8)),
        "boxes": ([0, 0, 0, 8] + Array("ftyp".utf8), [0, 0, 0, 8] + Array("free".utf8)),
        "nested boxes": ([0, 0, 0, 8] + Array("ftyp".utf8), [0, 0xF, 0xFF, 0xFF] + Array("moov".utf8)),
        "fragments": (
            [0, 0, 0, 8] + Array("ftyp".utf8), [0, 0, 0, 16] + Array("moof".utf8) + [0, 0, 0, 8] + Array("traf".utf8)
        ),
        "EBML": ([0x1A, 0x45, 0xDF, 0xA3, 0x80], [0x1F, 0x43, 0xB6, 0x75, 0x80]),
        "open EBML": (
            [0x1A, 0x45, 0xDF, 0xA3, 0x80], [0x1F, 0x43, 0xB6, 0x75, 0x01, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]
        ),
        "Ogg": ([], Array("OggS".utf8) + [UInt8](repeating: 0, count: 23)),
        "FLAC": (Array("fLaC".utf8), [0, 0, 0, 0]),
    ]

    @Test("recordings", arguments: pieces.keys.sorted())
    func audio(name: String) throws {
        let (beginning, repeated) = try #require(Self.pieces[name])
        expectLinear { length in
            let data = Data(beginning + (0..<length * 20).flatMap { _ in repeated })
            return { _ = try? AudioFormat(reading: AudioBytes(data)) }
        }
    }

    @Test("forms: parts, parameters and text without an end")
    func forms() {
        expectLinear("--b\r\nContent-Disposition: form-data; name=a\r\n\r\nx\r\n", of: 50) { decodeForm($0, piece: 7) }
        expectLinear("--b\r\nContent-Disposition: form-data; name=a\r\n\r\n\r\n--", of: 50) { decodeForm($0, piece: 7) }
        expectLinear("\r\n-", of: 500) {
            decodeForm("--b\r\nContent-Disposition: form-data; name=a\r\n\r\n" + $0, piece: 64)
        }
        expectLinear("; a=\"\\\"", of: 200) { _ = ParameterisedValue($0) }
        expectLinear("; a", of: 200) { _ = ParameterisedValue($0) }
    }

    @Test("JSON")
    func json() {
        for unit in ["[", "{\"a\":", "[],", "\"\\u0041\",", "1e9,", "\"\\\"", "{\"a\":1},"] {
            expectLinear(unit, of: 500) { text in
                let data = Data(("[" + text).utf8)
                guard !JSONDocument.isTooLarge(data) else { return }
                _ = try? JSONDocument(data).decode(JSONValue.self)
            }
        }
    }

    @Test("lists within each other, to nearly the deepest that is accepted")
    func deepJSON() {
        expectLinear { length in
            let nested = String(repeating: "[", count: 14 * length) + String(repeating: "]", count: 14 * length)
            let data = Data("[\(Array(repeating: nested, count: 100).joined(separator: ","))]".utf8)
            return { _ = try? JSONDocument(data).decode(JSONValue.self) }
        }
    }

    @Test("signatures, queries and escapes")
    func requests() {
        let values = String(repeating: "v", count: 1000)
        expectLinear("z;", of: 200) { names in
            let message = SigV4.Message(method: "GET", path: "/", query: "") { name in
                switch name {
                case "authorization":
                    "AWS4-HMAC-SHA256 Credential=A/20260510/r/s3/aws4_request,SignedHeaders=host;\(names),Signature=00"
                case "x-amz-date": "20260510T000000Z"
                default: values
                }
            }
            if let signature = try? SigV4.read(from: message) {
                _ = signature.canonicalRequest(message, payloadHash: "")
            }
        }
        expectLinear("a=b&", of: 500) { _ = SigV4Query($0)?.canonical }
        expectLinear("%41", of: 500) { text in
            if let decoded = PercentEncoding.decode(text) { _ = PercentEncoding.encode(decoded, keepingSlashes: true) }
        }
    }

    @Test("policies, manifests and lists of parts")
    func documents() {
        expectLinear("[\"eq\",\"$a\",\"b\"],", of: 100) { conditions in
            let text = "{\"expiration\":\"2030-01-01T00:00:00Z\",\"conditions\":[\(conditions)[\"eq\",\"$a\",\"b\"]]}"
            _ = try? PostPolicy(base64: Data(text.utf8).base64EncodedString())
        }
        for piece in ["<Part><PartNumber>1</PartNumber><ETag>x</ETag></Part>", "<Part>", "&amp;", "<!-- -->"] {
            expectLinear(piece, of: 50) {
                _ = try? PartList(xml: "<CompleteMultipartUpload>\($0)</CompleteMultipartUpload>")
            }
        }
    }

    @Test("words of chunks that are joined")
    func stitching() {
        expectLinear("fever ", of: 200) { text in
            let chunks = (0..<4).map { index in
                SpokenChunk(
                    text: text, words: [], times: ChunkTimes(start: Double(index) * 9, end: Double(index) * 9 + 10))
            }
            _ = Transcript.stitch(chunks)
        }
        // Each was heard at the time that the client has said, over the whole of the other.
        expectLinear { length in
            let words = (0..<100 * length).map {
                TimedWord(text: "no", start: Double($0) / 10, end: Double($0) / 10 + 0.1)
            }
            let text = words.map(\.text).joined(separator: " ")
            let chunk = SpokenChunk(text: text, words: words, times: ChunkTimes(start: 0, end: 86_400))
            return { _ = Transcript.stitch([chunk, chunk]) }
        }
        expectLinear("silence_start: 1\nsilence_end: 2\n", of: 100) { report in
            let silences = RecordingCuts.silences(inReport: report)
            _ = RecordingCuts(
                duration: 1_000_000, silences: silences, longest: Double(8_000_000 / max(1, report.utf8.count)))
        }
    }

    /// Makes the note of an ambient session whose context has so many diagnoses, each of another code.
    private func makeNote(naming count: Int, saying transcript: String) -> AmbientSessions.Note {
        let diagnoses = (0..<count).map { number in
            let code: [String: JSONValue] = [
                "type": .string("IMO"), "code": .string("K\(number)"), "description": .string("Knee pain"),
            ]
            return JSONValue.object(["codes": .array([.object(code)])])
        }
        var terms = AmbientTerms(encounter: "e")
        terms.context = AmbientContext(stored: .object(["diagnoses": .object(["values": .array(diagnoses)])]))
        let request = TransactionRequest(transfer: .stream, kind: .ambient, terms: terms.stored)
        let owner = Principal(businessID: "b", userID: "u", doctorID: "d", clientID: "c")
        let transaction = Transaction(
            id: TransactionID("t"), owner: owner, request: request, createdAt: .distantPast)
        return AmbientSessions.Note(transaction: transaction, transcript: transcript, sections: [])
    }

    private func decodeForm(_ text: String, piece: Int) {
        guard var decoder = FormDecoder(contentType: "multipart/form-data; boundary=b") else { return }
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: piece) {
            guard (try? decoder.decode(ByteBuffer(bytes: bytes[start..<min(start + piece, bytes.count)]))) != nil else {
                return
            }
        }
    }

    private func expectLinear(
        _ unit: String, of count: Int, sourceLocation: SourceLocation = #_sourceLocation,
        _ work: @escaping (String) -> Void
    ) {
        expectLinear(sourceLocation: sourceLocation) { length in
            let text = String(repeating: unit, count: count * length)
            return { work(text) }
        }
    }

    /// - Parameter make: the work on an input of so many lengths.
    private func expectLinear(sourceLocation: SourceLocation = #_sourceLocation, _ make: (Int) -> () -> Void) {
        func cost(_ length: Int) -> Double {
            let work = make(length)
            return (0..<3).map { _ in
                let start = threadTime()
                work()
                return threadTime() - start
            }.min() ?? 0
        }
        // What takes less than this is below the clock's grain.
        let growth = cost(8) / max(cost(1), 0.0005)
        #expect(growth < 28, "eight times as long takes \(growth) times as much", sourceLocation: sourceLocation)
    }

    private func threadTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
