import Basics
import Foundation
import ScribeDomain
import Testing

@testable import ScribeStore

struct StoredRequestTests {
    @Test("folders in different Unicode spellings stay different, also in the cache of requests")
    func spellings() throws {
        let cache = RequestCache()
        for url in ["s3://b/caf\u{E9}", "s3://b/cafe\u{301}", "s3://b/caf\u{E9}"] {
            let text = StoredJSON.text(TransactionRequest(transfer: .vaded, audioURL: url))
            let read = try cache.request(text).audioURL
            #expect(read.map { Array($0.utf8) } == Array(url.utf8))
        }
    }

    @Test(
        "a stored request is read back unchanged, for the cache keeps what was written",
        arguments: [
            "{}", #"{"age":41,"weight":41.0,"big":1e300,"id":9007199254740993,"small":-0.0}"#,
            #"{"name":"Asha \u0000 é e\u0301","list":[null,true,[],{"a":null}],"":""}"#,
        ])
    func unchanged(details: String) throws {
        let value = try StoredJSON.value(details, as: JSONValue.self)
        var request = TransactionRequest(
            transfer: .vaded, mode: "dictation", audioURL: "s3://b/f", announcedFiles: ["1.m4a"],
            inputLanguages: ["en-IN", "hi"], outputLanguage: "",
            templates: [.init(id: TemplateID("soap"), name: nil, type: "markdown")],
            modelType: "pro", patientDetails: value, additionalData: value,
            version: "v2", flavour: "web")
        request.processingError = value
        request.assignedFixture = "cough"
        request.hasStartedRecording = false
        request.intake = .arrived
        let text = StoredJSON.text(request)
        let read = try StoredJSON.request(text)
        #expect(read == request)
        #expect(StoredJSON.text(read) == text)
    }

    @Test("stored chunk times are read back unchanged, whatever the file names")
    func times() throws {
        let times = [
            "1.wav": ChunkTimes(start: 0, end: 1.56), "a\"b\\.wav": ChunkTimes(start: 6.24, end: 7.800000000000001),
            "é.wav": ChunkTimes(start: 1e-7, end: 3600),
        ]
        #expect(try StoredTimes(text: StoredTimes(times).text).value == times)
        #expect(
            try StoredTimes(text: StoredTimes(["1.wav": times["1.wav"]].compactMapValues(\.self)).text).value.count == 1
        )
        #expect(try StoredTimes(text: "{}").value.isEmpty)
        #expect(throws: DecodingError.self) { try StoredTimes(text: #"{"1.wav":{"start":"0"}}"#) }
    }

    @Test("stored speech is read back unchanged")
    func speech() throws {
        for text in ["I have a cough.", "he said \"no\"\n", ""] {
            let speech = RecognisedSpeech(text: text, quality: 0.3, confidence: nil, duration: 1.561125)
            let stored = try StoredJSON.text(StoredSpeech(speech))
            #expect(try StoredJSON.value(stored, as: StoredSpeech.self).value == speech)
        }
    }
}
