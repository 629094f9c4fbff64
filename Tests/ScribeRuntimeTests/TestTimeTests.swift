import TestSupport
import Testing

@Suite struct TestTimeTests {
    @Test("a test whose time is over fails, also where its cancellation ends it well")
    func timeOfATest() async {
        await #expect(throws: TestIsTooLong.self) {
            try await withinTheTimeOfATest(.milliseconds(1)) {
                while !Task.isCancelled { await Task.yield() }
            }
        }
    }
}
