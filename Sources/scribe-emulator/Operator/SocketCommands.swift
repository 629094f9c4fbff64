import ArgumentParser
import NIOHTTP1
import ScribeHTTP

struct RecordSocket: NamespacedCommand {
    static let configuration = CommandConfiguration(
        commandName: "record",
        abstract: "Write the frames of a socket to a new file. The words and names of the conversation are in it.")

    @OptionGroup var options: OperatorOptions<WholeWorld>
    @Argument(help: "The number of the socket.") var id: Int
    @Argument(help: "The file.", completion: .file(), transform: Setting.path) var file: String

    func call() -> OperatorCall {
        .init(done: "recorded: \(file)") { try await $0.download("requests/\(id)/recording", to: file) }
    }
}

struct PlaySocket: NamespacedCommand {
    static let configuration = CommandConfiguration(
        commandName: "play", abstract: "Play a recording to the next socket of its route.")

    @OptionGroup var options: OperatorOptions<WholeWorld>

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

    func call() -> OperatorCall {
        let path = "playbacks?fast=\(fast)&match=\(match)&times=\(times)"
        return .init({ try await $0.upload(file, as: SocketRecording.contentType, by: .POST, path) }) {
            (added: Added) in "\(added.id): the next socket of \(added.path) gets \(file)"
        }
    }
}
