import Connections
import Foundation
import NIOCore
import ServerTestSupport
import Testing

@testable import ScribeHTTP
@testable import Suki

struct StreamMessageTests {
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
