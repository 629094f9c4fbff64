import ArgumentParser
import Basics
import NIOHTTP1
import ScribeHTTP

struct SocketCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sockets",
        abstract: "List and close the open sockets of a running server.",
        subcommands: [ListSockets.self, CloseSocket.self])
}

/// Open socket in an answer of the server.
private struct ListedSocket: Decodable {
    let id: Int
    let path: String
    let operation: String?
    let client: String?
    let openedAt: String
    let sent: Int
    let received: Int
    let fault: String?

    var line: String {
        var words = ["\(id)", path, "client \(client ?? "unknown")", openedAt, "sent \(sent)", "received \(received)"]
        if let fault { words.append("fault \(fault)") }
        return words.joined(separator: "  ")
    }
}

struct ListSockets: NamespacedCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Print the open sockets, with the number of their messages.")

    @OptionGroup var options: OperatorOptions<WholeWorld>

    func call() -> OperatorCall {
        .init("GET", "sockets") { (answer: [String: [ListedSocket]]) in
            let lines = answer["sockets"]?.map(\.line) ?? []
            return lines.isEmpty ? "no open sockets" : lines.joined(separator: "\n")
        }
    }
}

struct CloseSocket: NamespacedCommand {
    static let configuration = CommandConfiguration(
        commandName: "close", abstract: "Close an open socket, with 1001 unless --code names another close code.")

    @OptionGroup var options: OperatorOptions<WholeWorld>

    @Option(help: "The close code, such as 1011 or 4001.")
    var code: Int?

    @Option(help: ArgumentHelp("The reason in the close frame.", valueName: "text"))
    var reason: String?

    @Flag(help: "Reset the connection, without a close frame.")
    var reset = false

    @Argument(help: "The number of the socket, as list prints it.")
    var id: Int

    func validate() throws {
        if reset, code != nil || reason != nil {
            throw ValidationError("--reset sends no close frame; leave --code and --reason out")
        }
    }

    func call() -> OperatorCall {
        let body: JSON = [
            "code": code.map(JSON.integer), "reason": reason.map(JSON.string), "reset": reset ? true : nil,
        ]
        return .init("POST", "sockets/\(id)/close", body) { (socket: ListedSocket) in "closed: \(socket.line)" }
    }
}

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
