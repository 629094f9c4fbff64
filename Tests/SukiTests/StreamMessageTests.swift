import Connections
import Foundation
import NIOCore
import ServerTestSupport
import Testing

@testable import ScribeHTTP
@testable import Suki

struct StreamMessageTests {
    @Test(
        "a START_TIME is read as an RFC 3339 time",
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("2026-05-10T09:12:33Z", 1_778_404_353),
            ("2026-05-10t09:12:33z", 1_778_404_353),
            ("2026-05-10T14:42:33+05:30", 1_778_404_353), ("2026-05-10T09:12:33.25Z", 1_778_404_353.25),
            ("2000-02-29T23:59:59-00:01", 951_868_859), ("0001-01-01T00:00:00Z", -62_135_596_800),
            ("9999-12-31T23:59:59.999999999Z", 253_402_300_799.999999999), ("1969-12-31T23:59:59Z", -1),
            ("2100-03-01T00:00:00Z", 4_107_542_400),
        ])
    func times(text: String, seconds: Double) throws {
        #expect(try #require(Date(rfc3339: text)).timeIntervalSince1970 == seconds)
    }

    @Test(
        "a START_TIME that is no RFC 3339 time is refused",
        arguments: [
            "", "now", "2026-05-10", "2026-05-10T09:12:33", "2026-02-31T09:12:33Z", "2026-05-10T24:00:00Z",
            "2026-05-10T09:60:33Z", "2026-05-10T09:12:61Z", "2026-05-10T09:12:33.Z", "2026-05-10T09:12:33ZZ",
            "2026-05.1-10T09:12:33Z", "2026-05-10 09:12:33Z", "2026-05-10T09:12:33+0530", "2026-05-10T09:12:33+99:00",
            "99999-01-01T00:00:00Z", "2026-05-10T09:12:33." + String(repeating: "9", count: 60) + "Z",
            "２０２６-05-10T09:12:33Z",
        ])
    func noTimes(text: String) { #expect(Date(rfc3339: text) == nil) }

    @Test("an ambient stream message is read by its type, in the newer and the older spelling")
    func messages() throws {
        func message(_ text: String) throws -> StreamMessage { try StreamMessage(.text(text)) }
        #expect(try message(#"{"type":"AUDIO","data":"AQID/w=="}"#) == .audio(ByteBuffer(bytes: [1, 2, 3, 255])))
        #expect(try message(#"{"type":"AUDIO","data":""}"#) == .audio(ByteBuffer()))
        #expect(try message(#"{"type":"AUDIO","data":"RU9G"}"#) == .end)
        #expect(try message(#"{"type":"EVENT","event":"PAUSE","extra":1}"#) == .event(.pause))
        #expect(try message(#"{"type":"EVENT","data":"CANCEL"}"#) == .event(.cancel))
        #expect(try message(#"{"type":"EVENT","data":"EOF"}"#) == .end)
        // URL-safe base64 and hex are none.
        for wrong in [#"{"type":"AUDIO","data":"AQID_w=="}"#, #"{"type":"AUDIO","data":"0x01"}"#] {
            #expect(throws: StreamMessage.Problem.self) { try message(wrong) }
        }
    }
}
