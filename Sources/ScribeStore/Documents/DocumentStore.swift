/// Results of transactions, notes that are written later, and feedback on them.
package struct DocumentStore: StorePart {
    let store: Store
}
