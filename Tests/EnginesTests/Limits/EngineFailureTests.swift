import ScribeDomain
import Testing

@testable import Engines

struct EngineFailureTests {
    @Test("an engine failure is printed as its reason, not as a type with its members")
    func description() {
        #expect("\(EngineFailure(.undecodableAudio, "no known container"))" == "no known container")
        let answered = EngineFailure(.transcriptionFailed, "the service answered 400", detail: "no such model")
        #expect("\(answered)" == "the service answered 400: no such model")
    }
}
