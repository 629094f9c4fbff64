import Basics
import Foundation
import NIOCore
import ScribeDomain
import TestSupport
import Testing

@testable import Engines

struct DeepgramLiveEngineTests {
    private let manual = ManualClock()
    private static let rate = Double(LiveService.rate)

    /// Clock of the test, on which the pauses before a further connection pass at once.
    private var impatient: WallClock {
        let manual = manual.clock
        return WallClock(now: { manual.now }) { duration, name in
            guard name == .upstream, duration < .seconds(1) else {
                return try await manual.sleep(for: duration, as: name)
            }
            try Task.checkCancellation()
        }
    }

    private func engine(
        _ url: String, key: String? = nil, model: String? = nil, clock: WallClock? = nil
    ) throws -> DeepgramLiveEngine {
        var settings = SpeechService.Settings()
        (settings.key, settings.model) = (key, model)
        return DeepgramLiveEngine(
            service: SpeechService(baseURL: try #require(URL(string: url)), settings: settings),
            policy: .init(timeLimit: .seconds(100)), identifiers: .counting(), clock: clock ?? manual.clock)
    }

    /// Events of a stream, with the error that ended it.
    private func events(
        _ engine: DeepgramLiveEngine, _ options: LiveOptions = LiveOptions(), words: Int = 5,
        finalizingAfter: Int? = nil
    ) async -> (events: [LiveEvent], failure: EngineFailure?) {
        let heard = LockedValue<[LiveEvent]>([])
        do {
            try await engine.withSession(options) { event in
                heard.withLock { $0.append(event) }
            } _: { session in
                var audio = LiveService.audio(words: words)
                var count = 0
                while let piece = audio.readSlice(length: 2 * LiveService.word) {
                    try await session.feed(piece)
                    count += 1
                    if count == finalizingAfter { try await session.finalize() }
                }
                try await session.close()
            }
            return (heard.withLock { $0 }, nil)
        } catch {
            return (heard.withLock { $0 }, error as? EngineFailure)
        }
    }

    private func results(_ events: [LiveEvent]) -> [LiveResult] {
        events.compactMap { if case .result(let result) = $0 { result } else { nil } }
    }

    @Test("words arrive once and in order, however often the service breaks the connection", arguments: 0..<4)
    func brokenConnections(seed: UInt64) async throws {
        try await withinTheTimeOfATest {
            var dice = Dice(seed: seed)
            let cuts = (0..<20).map { _ in
                LiveService.Behaviour.recognises(cutAt: Int.random(in: 1..<30_000, using: &dice))
            }
            let service = try await LiveService(cuts)
            let engine = try engine(service.url, key: "secret", clock: impatient)
            var options = LiveOptions()
            options.interimResults = true
            let (heard, failure) = await events(engine, options, words: 200, finalizingAfter: 150)
            #expect(failure == nil)
            let results = results(heard)
            #expect(results.contains { !$0.isFinal })
            let final = results.filter(\.isFinal)
            let words = final.flatMap(\.words)
            #expect(words.map(\.text) == (0..<200).map { "w\($0)" })
            #expect(words.map(\.start) == (0..<200).map { (Double($0) / 10).inThousandths })
            #expect(results.count { $0.fromFinalize } == 1)
            for (before, after) in zip(final, final.dropFirst()) {
                #expect(after.start >= before.start + before.duration - 1e-9)
            }
            #expect(service.connections > 5)
            #expect(Set(service.log.keys) == ["Token secret"])
            #expect(engine.condition == .available)
        }
    }

    /// Numbers that are the same in every run (SplitMix64).
    private struct Dice: RandomNumberGenerator {
        var state: UInt64

        init(seed: UInt64) { state = seed }

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
    }

    @Test("the options of a stream reach the service as parameters of the query", arguments: ["", "/v1"])
    func options(path: String) async throws {
        try await withinTheTimeOfATest {
            let service = try await LiveService()
            var options = LiveOptions()
            options.model = "nova-2-medical"
            options.vocabulary = ["Atenolol", "Pune & Nashik"]
            options.language = "en-IN"
            options.endpointing = .milliseconds(300)
            options.isEndpointingExplicit = true
            options.utteranceEnd = .seconds(1)
            options.diarize = true
            let (_, failure) = await events(try engine(service.url + path), options)
            #expect(failure == nil)
            let target = try #require(service.log.targets.first.flatMap { URLComponents(string: $0) })
            #expect(target.path == "/v1/listen")
            let query = (target.queryItems ?? []).map { "\($0.name)=\($0.value ?? "")" }
            for part in [
                "model=nova-2-medical", "keywords=Atenolol", "keywords=Pune & Nashik", "language=en-IN",
                "endpointing=300",
                "utterance_end_ms=1000", "interim_results=true", "diarize=true", "punctuate=false", "sample_rate=16000",
                "channels=1", "encoding=linear16", "vad_events=false",
            ] {
                #expect(query.contains(part), "\(part)")
            }
            #expect(service.log.keys == [nil])
        }
    }

    @Test("the configured model comes before the client's, and each model has the parameter for its vocabulary")
    func model() async throws {
        try await withinTheTimeOfATest {
            let service = try await LiveService()
            var options = LiveOptions()
            options.model = "nova-2"
            options.vocabulary = ["Atenolol"]
            options.endpointing = nil
            options.language = "auto"
            _ = await events(try engine(service.url, model: "nova-3-tiny"), options)
            let target = try #require(service.log.targets.first)
            for part in ["model=nova-3-tiny", "keyterm=Atenolol", "language=multi"] { #expect(target.contains(part)) }
            #expect(!target.contains("endpointing"), "the service has a default of its own")
        }
    }

    @Test(
        "a service that ends the stream for good is not asked again, and a client that sends nothing hears of it",
        arguments: [1002, 1003, 1007, 1008, 4000] as [UInt16])
    func refusal(code: UInt16) async throws {
        try await withinTheTimeOfATest {
            // The service sends the close frame together with its 101.
            let service = try await LiveService(then: .closesWithUpgrade(code))
            let engine = try engine(service.url, clock: impatient)
            let heard = AsyncStream.makeStream(of: LiveEvent.self)
            let failure = await #expect(throws: EngineFailure.self) {
                try await engine.withSession(LiveOptions()) { event in
                    heard.continuation.yield(event)
                } _: { _ in
                    for await event in heard.stream { if case .failed = event { return } }
                }
            }
            #expect(failure?.reason == "the service ends the stream with \(code)")
            #expect(failure?.isRetryable == false)
            #expect(await events(engine).failure == failure, "also for a client that sends audio")
            #expect(service.connections == 2)
            #expect(engine.condition == .available)
        }
    }

    @Test(
        "a service that closes for a passing reason gets a close frame at once, and is asked five times",
        arguments: [1001, 1011] as [UInt16])
    func passingClose(code: UInt16) async throws {
        try await withinTheTimeOfATest {
            let service = try await LiveService(then: .closesWithUpgrade(code))
            let (_, failure) = await events(try engine(service.url, clock: impatient))
            #expect(failure?.reason == "the service does not keep a connection")
            #expect(failure?.isRetryable == true)
            #expect(service.connections == 5)
            try await service.wait(until: { $0.closes == 5 })
        }
    }

    @Test("the pauses before further connections double from 100 ms")
    func pauses() async throws {
        try await withinTheTimeOfATest {
            let service = try await LiveService(then: .refuses(503))
            let engine = try engine(service.url)
            let stream = Task { await events(engine) }
            for pause in [0.1, 0.2, 0.4, 0.8] {
                try await manual.waitFor(.upstream)
                let waking = try #require(manual.nextWaking)
                #expect(abs(waking.timeIntervalSince(manual.now) - pause) < 1e-6)
                manual.advance(by: .seconds(pause))
            }
            #expect(await stream.value.failure?.reason == "the service does not keep a connection")
            #expect(service.connections == 5)
        }
    }

    @Test("an unreachable service opens the circuit for 15 s, and a reachable one closes it", arguments: [true, false])
    func circuit(refusesConnections: Bool) async throws {
        try await withinTheTimeOfATest {
            let port = try RefusingPort()
            let service = try await LiveService(then: .hangsUp)
            let engine = try engine(
                refusesConnections ? "http://127.0.0.1:\(port.number)" : service.url, clock: impatient)
            #expect(engine.condition == .available)
            #expect(await events(engine).failure?.reason == "the service does not keep a connection")
            #expect(engine.condition == .unavailable)
            manual.advance(by: .seconds(14))
            let refusal = await events(engine).failure
            #expect(refusal?.origin == .refusal)
            #expect(refusal?.isRetryable == true)
            #expect(refusal?.retryAfter == 1)
            #expect(service.connections == (refusesConnections ? 0 : 5), "the service is left alone")
            manual.advance(by: .seconds(1))
            #expect(
                await events(engine).failure?.origin == .refusal, "one connection is tried, and the next is refused")
            #expect(engine.condition == .unavailable)
            guard !refusesConnections else { return }
            #expect(service.connections == 6)
            service.become(.recognises())
            manual.advance(by: .seconds(15))
            let heard = await events(engine)
            #expect(heard.failure == nil)
            #expect(results(heard.events).filter(\.isFinal).flatMap(\.words).count == 5)
            #expect(engine.condition == .available)
        }
    }

    @Test("a service gets a keep-alive every 5 s, and one that says nothing is left after 25 s")
    func keepAlive() async throws {
        try await withinTheTimeOfATest {
            let service = try await LiveService([.saysNothing])
            let engine = try engine(service.url, clock: impatient)
            let stream = Task { await events(engine) }
            try await service.wait(until: { $0.targets.count == 1 })
            // The stream is closed, and waits for its last results.
            try await manual.waitFor(.timeLimit)
            for _ in 0..<5 {
                #expect(service.connections == 1)
                try await manual.waitFor(.upstream)
                manual.advance(by: .seconds(5))
            }
            let heard = await stream.value
            #expect(heard.failure == nil)
            #expect(
                results(heard.events).filter(\.isFinal).flatMap(\.words).count == 5,
                "the next connection gets all audio")
            #expect(service.connections == 2)
        }
    }

    @Test("a service that answers each keep-alive keeps its connection as long as a client is silent")
    func answeredKeepAlive() async throws {
        try await withinTheTimeOfATest {
            let service = try await LiveService()
            let engine = try engine(service.url)
            var options = LiveOptions()
            options.vadEvents = true
            let heard = AsyncStream.makeStream(of: LiveEvent.self)
            try await engine.withSession(options) { event in
                heard.continuation.yield(event)
            } _: { session in
                var events = heard.stream.makeAsyncIterator()
                for count in 1...12 {
                    try await manual.waitFor(.upstream)
                    manual.advance(by: .seconds(5))
                    #expect(await events.next() == .speechStarted(channel: 0, at: Double(count)))
                }
                try await session.close()
            }
            #expect(service.log.messages == Array(repeating: "KeepAlive", count: 12) + ["CloseStream"])
            #expect(service.connections == 1)
        }
    }

    @Test("a service that does not end a closed stream within the time limit has failed")
    func noEnd() async throws {
        try await withinTheTimeOfATest {
            let service = try await LiveService(then: .saysNothing)
            let engine = try engine(service.url)
            let stream = Task { await events(engine) }
            try await manual.waitFor(.timeLimit)
            manual.advance(by: .seconds(100))
            let failure = await stream.value.failure
            #expect(failure?.code == .transcriptionTimeout)
            #expect(failure?.origin == .service)
        }
    }
}
