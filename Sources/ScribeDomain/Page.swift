/// A part of a list, and where the next part begins. Each API renders it in its own dialect: a cursor, a marker, an offset
/// or a stream.
package struct Page<Item, Cursor> {
    package let items: [Item]
    /// Where the next page begins; nil on the last page.
    package let next: Cursor?

    package init(items: [Item], next: Cursor?) {
        self.items = items
        self.next = next
    }

    /// The page of a read that asked for one element more than the page holds.
    /// - Parameter limit: the most elements on the page.
    package init<Element>(
        _ found: [Element], limit: Int, item: (Element) throws -> Item, cursor: (Element) throws -> Cursor
    ) rethrows {
        let shown = found.prefix(limit)
        items = try shown.map(item)
        next = found.count > limit ? try shown.last.map(cursor) : nil
    }
}

extension Page: Sendable where Item: Sendable, Cursor: Sendable {}
