import Foundation
import Logging
import NIOPosix
import ScribeDomain
import ScribeHTTP
import ScribeStore
import ServiceLifecycle
import Suki

/// Asks a running server to read its clients file again, as SIGHUP does.
package final class ClientsFileRequest: Sendable {
    private let isMade = LockedValue(false)

    package init() {}

    package func make() { isMade.withLock { $0 = true } }

    /// Whether one was made since the last look.
    fileprivate func take() -> Bool {
        isMade.withLock { isMade in
            defer { isMade = false }
            return isMade
        }
    }
}

/// Reads the clients file again when it has changed, so that clients and partners come and go without a restart.
///
/// A file is read once its mark has stood still for one look: whoever writes it is done by then. A file that cannot be
/// used changes nothing, because every client that a list leaves out loses its tokens.
actor ClientsFileWatch: Service {
    private let configuration: Configuration
    private let request: ClientsFileRequest
    private let store: Store
    private let secrets: ClientSecrets
    private let clients: KnownClients
    private let partners: KnownPartners
    private let clock: ScribeClock
    private let threads: NIOThreadPool
    private let logger: Logger

    /// The mark of the file that was read last, or could not be used.
    private var readMark: FileMark?
    private var lastMark: FileMark?

    static let interval: Duration = .seconds(2)

    /// - Parameter mark: of the file as it was before the start read it.
    init(
        _ configuration: Configuration, mark: FileMark?, _ request: ClientsFileRequest, store: Store,
        secrets: ClientSecrets, clients: KnownClients, partners: KnownPartners, clock: ScribeClock,
        threads: NIOThreadPool, logger: Logger
    ) {
        self.configuration = configuration
        self.request = request
        self.store = store
        self.secrets = secrets
        self.clients = clients
        self.partners = partners
        self.clock = clock
        self.threads = threads
        self.logger = logger
        readMark = mark
        lastMark = mark
    }

    /// What the service group logs; the parts would otherwise be spelled out, secrets included.
    nonisolated var description: String { "ClientsFileWatch" }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while (try? await self.clock.sleep(for: Self.interval, as: .clientsFile)) != nil { await self.look() }
        }
    }

    private func look() async {
        let isRequested = request.take()
        guard let path = configuration.clientsFile else {
            if isRequested { logger.notice("there is no clients file to read again") }
            return
        }
        let mark = (try? await threads.runIfActive { FileMark(path: path) }) ?? nil
        defer { lastMark = mark }
        guard isRequested || (mark != readMark && mark == lastMark) else { return }
        do {
            try await read(path, mark)
            readMark = mark
        } catch is Unfinished {
            // Somebody is writing it at this moment; the next look sees another mark.
        } catch is CancellationError {
            // The server stops.
        } catch  where error is StartupProblem || error is UnusableEntry {
            readMark = mark
            logger.error("the clients stay as they are: \(error)")
        } catch {
            // Of the store. The next look tries again.
            logger.error("the clients cannot be stored", metadata: ["error": "\(error)"])
        }
    }

    /// The file changed while it was read.
    private struct Unfinished: Error {}

    private func read(_ path: String, _ mark: FileMark?) async throws {
        let logins = try await threads.runIfActive { [configuration] in
            let logins = try Logins(configuration)
            guard FileMark(path: path) == mark else { throw Unfinished() }
            return logins
        }
        guard logins.listsClients else {
            throw StartupProblem.unreadableSeed(path: path, reason: "names no client")
        }
        try await logins.register(in: store, secrets, as: clients)
        partners.replace(logins.partners)
        try await logins.configureWebhooks(in: store, pauses: configuration.webhookPauses, at: clock.now)
        logger.notice("the clients file was read again", metadata: ["clients": "\(clients.registrations.count)"])
    }
}

extension ClientsFileWatch: CustomStringConvertible {}
