import Foundation
import ScribeRuntime
import Testing

@testable import Console

/// Sessions of the console.
struct ConsoleSessionsTests {
    private let now = Date(timeIntervalSince1970: 1_000_000)

    @Test("a console login ends after twelve hours, or when it is ended")
    func lifetime() {
        let sessions = ConsoleSessions()
        let (id, session) = sessions.begin(isOpen: true, at: now, .random)
        #expect(sessions.session(id, at: now.addingTimeInterval(12 * 3600 - 1)) == session)
        #expect(sessions.session(id, at: now.addingTimeInterval(12 * 3600)) == nil)
        #expect(sessions.session(id, at: now) == nil, "an ended one does not come back")
        let (other, _) = sessions.begin(isOpen: true, at: now, .random)
        sessions.end(other)
        #expect(sessions.session(other, at: now) == nil)
        #expect(sessions.session("", at: now) == nil)
    }

    @Test("console sessions without a login use no memory and end no other console session")
    func strangers() {
        let sessions = ConsoleSessions()
        let (operators, _) = sessions.begin(isOpen: true, at: now, .random)
        let (first, session) = sessions.begin(isOpen: false, at: now, .random)
        for second in 1...2000 {
            _ = sessions.begin(isOpen: false, at: now.addingTimeInterval(Double(second)), .random)
        }
        #expect(sessions.session(first, at: now) == session)
        #expect(sessions.session(operators, at: now)?.isOpen == true)
        #expect(sessions.session(first, at: now.addingTimeInterval(12 * 3600)) == nil)
    }

    @Test("a console session without a login cannot be forged, changed or moved to another server")
    func forged() {
        let sessions = ConsoleSessions()
        let (id, _) = sessions.begin(isOpen: false, at: now, .random)
        #expect(ConsoleSessions().session(id, at: now) == nil)
        let parts = id.split(separator: "-")
        for forged in [
            "99999999999-\(parts[1])-\(parts[2])", "\(parts[0])-0-\(parts[2])", "\(parts[0])-\(parts[1])-0", "--",
            "a-b-c",
            "\(id)-", String(repeating: "9", count: 400) + "-a-b",
        ] {
            #expect(sessions.session(forged, at: now) == nil, "\(forged)")
        }
    }

    @Test("no two console sessions share an id or a page token")
    func values() {
        let sessions = ConsoleSessions()
        let made = (0..<100).map { _ in sessions.begin(isOpen: true, at: now, .random) }
        #expect(Set(made.map(\.id) + made.map(\.session.token)).count == 200)
        #expect(made.allSatisfy { $0.id.count == 40 && $0.session.token.count == 40 })
    }
}
