import ArgumentParser
import Basics
import ScribeRuntime

struct ClientCommands: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "client", abstract: "Make entries of a clients file.", subcommands: [NewClient.self])
}

struct NewClient: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new",
        abstract: "Print a client with a new secret and a new API key, for a clients file.",
        discussion: """
            Append it to the list clients: of the file that --clients names. The server reads the file again.
              scribe-emulator client new clinic >> clients.yaml
            """
    )

    @Argument(help: "The client's id.")
    var id: String

    @Option(help: "The id of the business, which clients share whose transactions are the same.")
    var business: String?

    func validate() throws {
        for text in [id, business ?? id] where text.isEmpty || !text.utf8.allSatisfy(\.isInIdentifier) {
            throw ValidationError("'\(text)' is no id: use letters, digits, - and _")
        }
    }

    func run() {
        let random = IdentifierSource.random
        print("  - client_id: \(id)\n    client_secret: \(random.secret())")
        print("    business_id: \(business ?? "b-\(id)")\n    api_keys: [org_\(random.secret())]")
    }
}
