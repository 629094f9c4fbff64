import Foundation
import Testing

/// Each fuzzer gets its corpus, whole and cut short, and mutations of it that are the same in every run. It runs in a
/// process of its own, which crashes where something does not hold.
struct FuzzTests {
    @Test("recordings")
    func audio() async {
        await #expect(processExitsWith: .success) {
            var run = try FuzzRun("audio")
            try run.mutate(times: 2000)
        }
        FuzzRun.report("audio")
    }

    @Test("bodies in aws-chunked framing")
    func chunked() async {
        await #expect(processExitsWith: .success) {
            var run = try FuzzRun("chunked")
            try run.mutate(times: 300)
        }
        FuzzRun.report("chunked")
    }

    @Test("forms")
    func form() async {
        await #expect(processExitsWith: .success) {
            var run = try FuzzRun("form")
            try run.mutate(times: 300)
        }
        FuzzRun.report("form")
    }

    @Test("bodies of init, stop and commit")
    func json() async {
        await #expect(processExitsWith: .success) {
            var run = try FuzzRun("json")
            try run.mutate(times: 2000)
        }
        FuzzRun.report("json")
    }

    @Test("transcripts")
    func notes() async {
        await #expect(processExitsWith: .success) {
            var run = try FuzzRun("notes")
            try run.mutate(times: 200)
        }
        FuzzRun.report("notes")
    }

    @Test("requests to the object API")
    func s3() async {
        await #expect(processExitsWith: .success) {
            var run = try FuzzRun("s3")
            try run.mutate(times: 500)
        }
        FuzzRun.report("s3")
    }

    @Test("frames of sockets")
    func websocket() async {
        await #expect(processExitsWith: .success) {
            var run = try FuzzRun("websocket")
            try run.mutate(times: 2000)
        }
        FuzzRun.report("websocket")
    }

    @Test("tokens, names, times and places")
    func words() async {
        await #expect(processExitsWith: .success) {
            var run = try FuzzRun("words")
            try run.mutate(times: 3000)
        }
        FuzzRun.report("words")
    }

    @Test("every corpus is one of these")
    func corpora() throws {
        #expect(
            try Set(FileManager.default.contentsOfDirectory(atPath: FuzzRun.folder + "/corpus")) == Set(fuzzers.keys))
    }
}
