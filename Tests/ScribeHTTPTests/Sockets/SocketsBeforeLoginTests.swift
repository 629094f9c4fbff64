import Basics
import ServerTestSupport
import Testing

@testable import ScribeHTTP

struct SocketsBeforeLoginTests {
    @Test("with too many sockets before login, the oldest of the busiest address is closed")
    func eviction() {
        let closed = LockedValue<[String]>([])
        let sockets = SocketsBeforeLogin(most: 3)
        func enter(_ name: String, from address: String) -> SocketPlace {
            sockets.enter(from: address) { closed.withLock { $0.append(name) } }
        }
        let places = [
            enter("quiet", from: "a"), enter("first", from: "b"), enter("second", from: "b"), enter("third", from: "b"),
        ]
        let afterThird = closed.withLock { $0 }
        #expect(afterThird == ["first"])
        places[2].giveBack()
        let late = enter("fourth", from: "c")
        let afterFourth = closed.withLock { $0 }
        #expect(afterFourth == ["first"], "who has logged in has made room")
        let fifth = enter("fifth", from: "c")
        let afterFifth = closed.withLock { $0 }
        #expect(afterFifth == ["first", "quiet"], "of addresses with as many, the oldest")
        withExtendedLifetime((places, late, fifth)) {}
    }
}
