import Basics
import Foundation
import NIOPosix
import ScribeDomain
import TestSupport
import Testing

@testable import Engines

struct CommandTranscriberTests {
    let folder: TemporaryFolder
    let manual = ManualClock()

    init() throws { folder = try TemporaryFolder() }

    func transcribe(_ commandLine: String, _ audio: Data = TestAudio.wav(seconds: 1)) async throws -> RecognisedSpeech {
        let path = try folder.write(audio, as: UUID().uuidString)
        let work = try TemporaryFolder()
        let transcriber = try CommandTranscriber(
            commandLine: commandLine,
            temporary: TemporaryFiles(folder: work.path, identifiers: .counting(), files: .singleton),
            timeLimit: .seconds(60), clock: manual.clock,
            files: .singleton
        )
        let result = try await transcriber.transcribe(
            Recording(LocalAudio(path: path), ordinal: 3, languages: ["en-IN"])
        )
        #expect(try FileManager.default.contentsOfDirectory(atPath: work.path).isEmpty, "nothing is left behind")
        return result
    }

    func failure(_ commandLine: String, _ audio: Data = TestAudio.wav(seconds: 1)) async -> EngineFailure? {
        do {
            _ = try await transcribe(commandLine, audio)
            return nil
        } catch {
            return error as? EngineFailure
        }
    }

    @Test("a transcriber program gets the language as an argument, and its standard output is the text")
    func output() async throws {
        #expect(try await transcribe("printf ' two\\nwords {language} \\n' {file}").text == "two\nwords en-IN")
    }

    @Test("{file} in a transcriber command is the upload, with the extension of its format")
    func file() async throws {
        let text = try await transcribe("sh -c 'echo ${0##*.}; wc -c < $0' {file}").text
        #expect(text.hasPrefix("wav"))
        #expect(text.contains("\(TestAudio.wav(seconds: 1).count)"))
    }

    @Test("{wav} in a transcriber command is 16 kHz mono, whatever was uploaded")
    func wave() async throws {
        let data = try #require(EncodedAudio.files["m4a"])
        #expect(try await transcribe("od -A n -t u4 -j 24 -N 4 {wav}", data).text == "16000")
        #expect(try await transcribe("od -A n -t u2 -j 22 -N 2 {wav}", data).text == "1")
    }

    @Test("a transcriber program has its standard streams, and no file of the server")
    func descriptors() async throws {
        let file = try FileOfThisProcess()
        let listed = try await transcribe("sh -c 'ls /proc/self/fd' {file}").text.split(separator: "\n").compactMap {
            Int32($0)
        }
        // The fourth is ls's own, of the folder.
        #expect(listed.sorted().starts(with: [0, 1, 2]) && listed.count == 4, "\(listed)")
        #expect(!listed.contains(file.descriptor))
    }

    @Test("a transcriber program is not started for a file that is no audio")
    func noAudio() async {
        #expect(
            await failure("touch \(folder.path)/called {file}", Data(repeating: 7, count: 200))?.code
                == .undecodableAudio)
        #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/called"))
    }

    @Test("a transcriber program that exits with an error may be tried again")
    func exitCode() async {
        let failure = await failure("sh -c 'echo half; exit 3' {file}")
        #expect(failure?.code == .transcriptionFailed)
        #expect(failure?.isRetryable == true)
    }

    @Test("more than a megabyte of a transcriber program's output is a failure")
    func flood() async {
        #expect(await failure("head -c 3000000 /dev/zero {file}")?.code == .transcriptionFailed)
    }

    @Test("a transcriber program beyond its time limit is ended with its children")
    func timeLimit() async throws {
        // A child of the program holds the writing end: the reader hears the end of it when all that hold it are gone.
        let pipe = "\(folder.path)/pipe"
        try #require(mkfifo(pipe, 0o600) == 0)
        async let failed = failure("sh -c '(echo alive; sleep 100000) > \(pipe) & wait' {file}")
        let end = try await NIOThreadPool.singleton.runIfActive {
            FileHandle(forReadingAtPath: pipe)
        }
        let reader = try #require(end)
        let alive = try await NIOThreadPool.singleton.runIfActive { try reader.read(upToCount: 6) }
        #expect(alive == Data("alive\n".utf8))
        try await manual.waitFor(.timeLimit)
        manual.advance(by: .seconds(60))
        #expect(await failed?.code == .transcriptionTimeout)
        #expect(try await NIOThreadPool.singleton.runIfActive { try reader.readToEnd() } == nil, "nobody is left")
    }

    @Test("a transcriber program that does not exist is reported at the start")
    func missing() {
        #expect(throws: CommandTranscriber.MissingProgram(name: "/nowhere/stt")) {
            try CommandTranscriber(
                commandLine: "/nowhere/stt {wav}",
                temporary: TemporaryFiles(folder: "/tmp", identifiers: .counting(), files: .singleton),
                timeLimit: .seconds(1), clock: manual.clock,
                files: .singleton
            )
        }
    }
}
