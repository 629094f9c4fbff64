/// Transactions and sessions, from init to their removal.
package struct TransactionStore: StorePart {
    let store: Store
}
