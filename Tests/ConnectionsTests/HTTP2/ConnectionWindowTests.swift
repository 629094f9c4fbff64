import NIOHTTP2
import ServerTestSupport
import Testing

@testable import Connections

struct ConnectionWindowTests {
    private let window = ConnectionWindow()

    /// What the other end is told, if anything.
    private func renew() -> Int? {
        let count = window.renewal
        if let count { window.renew(by: count) }
        return count
    }

    @Test("an HTTP/2 connection window grows to a megabyte at the first frame, and is renewed by halves")
    func reading() {
        #expect(renew() == (1 << 20) - 65_535, "at once: nobody has to wait for what comes first")
        var sent = 0
        var updates = 0
        for _ in 0..<1024 {
            window.received(16_384, on: 1)
            window.took(16_384, of: 1)
            sent += 16_384
            if let count = renew() {
                #expect(count >= 1 << 19)
                updates += 1
            }
        }
        #expect(updates == 32)
    }

    @Test("unread data of an HTTP/2 connection is at most a megabyte over all its streams")
    func unread() {
        _ = renew()
        var allowed = 1 << 20
        var sent = 0
        for frame in 0..<1000 where allowed >= 16_384 {
            window.received(16_384, on: HTTP2StreamID(1 + 2 * (frame % 32)))
            allowed -= 16_384
            sent += 16_384
            allowed += renew() ?? 0
        }
        #expect(sent == 1 << 20)
        #expect(renew() == nil)
        window.took(16_384, of: 1)
        #expect(renew() == 16_384, "what can hardly go on gets what there is")
    }

    @Test("unread data of ended or unknown HTTP/2 streams is given back to the window")
    func ended() {
        _ = renew()
        window.received(400_000, on: 1)
        window.received(300_000, on: 3)
        window.received(200_000, on: 5)
        window.end(1)
        #expect(renew() == nil, "it is not worth a frame yet")
        window.endAll(but: [5])
        #expect(renew() == 700_000)
        window.took(500_000, of: 5)
        window.took(500_000, of: 7)
        window.end(5)
        window.end(5)
        window.received(600_000, on: 9)
        window.end(9)
        #expect(renew() == 800_000)
    }
}
