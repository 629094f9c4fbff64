import ScribeDomain
import Testing

struct PageTests {
    private func page(_ found: [Int]) -> Page<String, Int> {
        Page(found, limit: 2, item: String.init, cursor: { $0 })
    }

    @Test("a page with no more elements than its limit is the last page")
    func last() {
        #expect(page([]).items.isEmpty && page([]).next == nil)
        #expect(page([1, 2]).items == ["1", "2"])
        #expect(page([1, 2]).next == nil)
    }

    @Test("the next page begins after the last element of the page before")
    func next() {
        #expect(page([1, 2, 3]).items == ["1", "2"])
        #expect(page([1, 2, 3]).next == 2)
        #expect(Page([1], limit: 0, item: String.init, cursor: { $0 }).next == nil)
    }
}
