import Basics
import Logging
import NIOPosix
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ServiceLifecycle

/// Flag that asks the server to read the clients file again. SIGHUP sets it.
package final class ClientsFileRequest: Sendable {
    private let isMade = LockedValue(false)

    package init() {}

    package func make() { isMade.withLock { $0 = true } }

    /// Whether a request was made since the last call.
    fileprivate func take() -> Bool {
        isMade.withLock { isMade in
            defer { isMade = false }
            return isMade
        }
    }
}

/// Service that reads the clients file again after a change, so that clients and partners change without a restart.
///
/// It reads a file once its mark is the same at two checks in a row: the writer has finished by then. An invalid file
/// changes nothing, since every client that a file leaves out loses its tokens.
struct ClientsFileWatch: Service {
    let configuration: Configuration
    /// Fingerprint of the clients file from before the start read it; nil without a file.
    let mark: FileFingerprint?
    let request: ClientsFileRequest
    /// Worlds of the server; the default one gets the clients.
    let directory: WorldDirectory
    /// The clients and partners with which further worlds begin.
    let configuredClients: LockedValue<ConfiguredClients>
    let clock: WallClock
    let threads: NIOThreadPool
    let logger: Logger

    /// The time between two checks of the file.
    static let interval: Duration = .seconds(2)

    func run() async throws {
        await cancelWhenGracefulShutdown {
            // The mark of the file that was read or is invalid, and the mark at the last check.
            var (settled, last) = (mark, mark)
            while (try? await clock.sleep(for: Self.interval, as: .clientsFile)) != nil {
                let isRequested = request.take()
                guard let path = configuration.clientsFile else {
                    if isRequested { logger.notice("there is no clients file to read again") }
                    continue
                }
                let mark = (try? await threads.runIfActive { FileFingerprint(path: path) }) ?? nil
                if isRequested || mark != settled && mark == last {
                    if await read(path, mark) { settled = mark } else if isRequested { request.make() }
                }
                last = mark
            }
        }
    }

    /// Error for a file that changed while it was read.
    private struct Unfinished: Error {}

    /// Reads the file and replaces the clients and partners of the world.
    /// - Returns: False if the file must be read again: it changed meanwhile, the world was reset, or the store failed.
    private func read(_ path: String, _ mark: FileFingerprint?) async -> Bool {
        do {
            let configuredClients = try await threads.runIfActive { [configuration] in
                let configuredClients = try ConfiguredClients(configuration)
                guard FileFingerprint(path: path) == mark else { throw Unfinished() }
                return configuredClients
            }
            guard configuredClients.listsClients else {
                throw StartupProblem.unreadableSeed(path: path, reason: "names no client")
            }
            let world = directory.main
            let runtime = world.runtime
            try await configuredClients.register(in: runtime.store, world.secrets, as: world.authenticator.clients)
            configuredClients.register(partnersIn: world)
            try await configuredClients.configureWebhooks(
                in: runtime.store, pauses: configuration.webhookPauses, at: runtime.clock.now)
            self.configuredClients.withLock { $0 = configuredClients }
            // A reset meanwhile made a world with the clients before.
            guard directory.main === world else { return false }
            configuredClients.warn(logger)
            logger.notice(
                "the clients file was read again", metadata: ["clients": .stringConvertible(configuredClients.count)])
            return true
        } catch let problem as StartupProblem {
            logger.error("the clients stay as they are: \(problem)")
            return true
        } catch is Unfinished {
            return false
        } catch {
            if !(error is CancellationError) {
                logger.error("the clients cannot be stored", metadata: ["error": "\(error)"])
            }
            return false
        }
    }
}
