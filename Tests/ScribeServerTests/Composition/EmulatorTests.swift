import DataFolder
import Engines
import Foundation
import Logging
import NIOPosix
import ScribeHTTP
import ScribeRuntime
import ScribeStore
import ServerTestSupport
import ServiceLifecycle
import TestSupport
import Testing

@testable import ScribeServer

struct EmulatorTests {
    private func opened(_ server: TestServer) async throws -> (main: World, services: [any Service]) {
        let (_, directory, services) = try await open(
            server.configuration,
            .init(
                clock: server.manual.clock, identifiers: .counting(),
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }))
        return (directory.main, services)
    }

    @Test("the data folder is released even if the service that closes it is cancelled")
    func closesWhenCancelled() async throws {
        let server = try TestServer()
        let path = server.configuration.dataFolder
        let opened = try await opened(server)
        let main = try #require(opened.services.first as? MainWorld)
        let store = opened.main.runtime.store
        let task = Task { try await main.run() }
        task.cancel()
        try await task.value
        #expect(throws: Never.self) { try DataFolder(path: path).release() }
        #expect(await !store.isReachable())
    }

    @Test("a family's key file has a fixed name, which backups and mounted secrets rely on")
    func secrets() {
        #expect(FamilySecrets.names.contains("suki-signing-key.pem"))
    }

    @Test("the host names of families are listed in their fixed order")
    func hosts() {
        #expect(
            HostNames.groups.map(\.title) == [
                "EkaScribe", "its buckets at S3", "live speech (Deepgram, SubQ, Aldea)", "Suki", "Omi",
            ])
    }

    @Test("two servers in one process share nothing")
    func isolation() async throws {
        let (first, second) = (try TestServer(), try TestServer())
        try await first.run { one in
            try await second.run { other in
                let (one, other) = (try await one.login(), try await other.login())
                try await one.consultation("t", at: first.manual.now)
                #expect(try await one.status("t").status == 200)
                #expect(try await other.status("t").status == 400, "the same id of the same tenant, elsewhere")
                try await other.consultation("t", at: second.manual.now)
                #expect(try await other.status("t").status == 200)
            }
        }
    }

    @Test("two servers cannot use one data folder")
    func oneFolder() async throws {
        let server = try TestServer()
        let running = try await opened(server)
        await #expect(throws: DataFolder.Problem.self) { _ = try await opened(server) }
        withExtendedLifetime(running) {}
    }

    @Test("stray files in the folder of uploads do not keep a server from starting")
    func strayFile() async throws {
        let server = try TestServer()
        try DataFolder(path: server.configuration.dataFolder).release()
        let objects = server.configuration.dataFolder + "/states/1/objects"
        try FileManager.default.createDirectory(atPath: objects + "/lost+found", withIntermediateDirectories: true)
        try Data().write(to: URL(fileURLWithPath: objects + "/stray"))
        try await server.run { client in
            let login = try await client.login()
            try await login.consultation("t", at: server.manual.now)
            #expect(try await login.status("t").status == 200)
        }
    }
}
