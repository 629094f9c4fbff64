/// Page of a list with the start of the next page. Each API renders pages in its own
/// dialect: cursor, marker, offset or stream.
package struct Page<Item, Cursor> {
    package let items: [Item]
    /// Start of the next page; nil on the last page.
    package let next: Cursor?

    package init(items: [Item], next: Cursor?) {
        self.items = items
        self.next = next
    }

    /// Creates a page from a read of one element more than the page holds.
    /// - Parameter limit: most elements on the page.
    package init<Element>(
        _ found: [Element], limit: Int, item: (Element) throws -> Item, cursor: (Element) throws -> Cursor
    ) rethrows {
        let shown = found.prefix(limit)
        items = try shown.map(item)
        next = found.count > limit ? try shown.last.map(cursor) : nil
    }
}

extension Page: Sendable where Item: Sendable, Cursor: Sendable {}
