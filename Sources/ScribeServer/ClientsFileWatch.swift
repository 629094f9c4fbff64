import Foundation
import Logging
import NIOPosix
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore
import ServiceLifecycle

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
struct ClientsFileWatch: Service, CustomStringConvertible {
    let configuration: Configuration
    /// The mark of the file as it was before the start read it.
    let mark: FileMark?
    let request: ClientsFileRequest
    let world: World
    /// Those with which worlds begin from now on.
    let logins: LockedValue<Logins>
    let threads: NIOThreadPool
    let logger: Logger

    static let interval: Duration = .seconds(2)

    var description: String { "ClientsFileWatch" }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            // Of the file that was read, or could not be used, and of the file at the last look.
            var (settled, last) = (mark, mark)
            while (try? await world.runtime.clock.wall.sleep(for: Self.interval, as: .clientsFile)) != nil {
                let isRequested = request.take()
                guard let path = configuration.clientsFile else {
                    if isRequested { logger.notice("there is no clients file to read again") }
                    continue
                }
                let mark = (try? await threads.runIfActive { FileMark(path: path) }) ?? nil
                if isRequested || mark != settled && mark == last {
                    if await read(path, mark) { settled = mark } else if isRequested { request.make() }
                }
                last = mark
            }
        }
    }

    /// Somebody writes the file at this moment.
    private struct Unfinished: Error {}

    /// - Returns: whether it need not be read again: false while it is being written, and when the store has failed.
    private func read(_ path: String, _ mark: FileMark?) async -> Bool {
        do {
            let logins = try await threads.runIfActive { [configuration] in
                let logins = try Logins(configuration)
                guard FileMark(path: path) == mark else { throw Unfinished() }
                return logins
            }
            guard logins.listsClients else {
                throw StartupProblem.unreadableSeed(path: path, reason: "names no client")
            }
            let runtime = world.runtime
            try await logins.register(in: runtime.store, world.secrets, as: world.authenticator.clients)
            logins.register(partnersIn: world)
            try await logins.configureWebhooks(
                in: runtime.store, pauses: configuration.webhookPauses, at: runtime.clock.now)
            self.logins.withLock { $0 = logins }
            logger.notice("the clients file was read again", metadata: ["clients": .stringConvertible(logins.count)])
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
