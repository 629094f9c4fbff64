import Testing

@testable import Engines

struct DecodedPaceTests {
    /// 96,000 bytes a second.
    private let options: LiveOptions = {
        var options = LiveOptions()
        options.sampleRate = 48_000
        return options
    }()

    @Test("an hour of Opus speech is decoded without a pause")
    func speech() throws {
        var pace = DecodedRateLimiter(options)
        for second in 1...3600 { #expect(try pace.take(96_000, of: second * 2000) == .zero) }
    }

    @Test("highly compressed silence is decoded at four times real time after 32 MB")
    func silence() throws {
        var pace = DecodedRateLimiter(options)
        let free = (32 << 20) + 200 * 1000
        #expect(try pace.take(free, of: 1000) == .zero)
        #expect(try pace.take(96_000, of: 1000) == .milliseconds(250))
        #expect(try pace.take(96_000 * 40, of: 1000) == .seconds(10))
    }

    @Test("the decoded bytes within the free part cause no pause")
    func border() throws {
        var pace = DecodedRateLimiter(options)
        #expect(try pace.take((32 << 20) + 9600, of: 0) == .milliseconds(25))
    }

    @Test("a live stream with more than thirteen hours of decoded audio ends as idle")
    func longest() throws {
        var pace = DecodedRateLimiter(options)
        for _ in 1...13 { _ = try pace.take(96_000 * 3600, of: 1 << 30) }
        let failure = #expect(throws: EngineFailure.self) { try pace.take(2, of: 1 << 30) }
        #expect(failure?.origin == .idleness)
    }
}
