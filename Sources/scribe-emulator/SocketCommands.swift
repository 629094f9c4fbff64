import ArgumentParser
import NIOHTTP1
import ScribeHTTP

struct RecordSocket: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record",
        abstract: "Write the frames of a socket to a new file. The words and names of the conversation are in it.")

    @OptionGroup var options: FaultOptions
    @Argument(help: "The number of the socket.") var id: Int
    @Argument(help: "The file.", completion: .file(), transform: Setting.path) var file: String

    func run() async throws {
        try await options.client().download("requests/\(id)/recording", to: file)
        print(options.json ? "{}" : "recorded: \(file)")
    }
}

struct PlaySocket: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "play", abstract: "Play a recording to the next socket of its route.")

    @OptionGroup var options: FaultOptions

    @Flag(help: "Send the frames without pauses.")
    var fast = false

    @Flag(help: "Close a socket (1008) whose client sends something else.")
    var match = false

    @Option(help: "The number of sockets that get it.")
    var times = 1

    @Argument(help: "The file.", completion: .file(), transform: Setting.path)
    var file: String

    private struct Added: Decodable {
        let id: String
        let path: String
    }

    func run() async throws {
        let client = try options.client()
        let data = try await client.upload(
            file, as: SocketRecording.contentType, by: .POST, "playbacks?fast=\(fast)&match=\(match)&times=\(times)")
        if options.json { return print(String(decoding: data, as: UTF8.self)) }
        let added: Added = try client.read(data)
        print("\(added.id): the next socket of \(added.path) gets \(file)")
    }
}
