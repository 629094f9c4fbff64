import ScribeDomain
import Testing

struct IdentifierTests {
    @Test("ids are told apart by their bytes, also where letters look alike")
    func bytes() {
        let ids = ["caf\u{E9}", "cafe\u{301}", "CAF\u{C9}"].map { TransactionID($0) }
        #expect(Set(ids).count == 3)
        #expect(ids[0] != ids[1])
        #expect(ids[1] == TransactionID("cafe\u{301}"))
        let keys = ids.map { Dictionary(uniqueKeysWithValues: [($0, 1)]) }
        #expect(keys[0][ids[1]] == nil)
    }
}
