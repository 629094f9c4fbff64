/// Jobs, the assembly of results, and the leases of the processes that work.
package struct WorkStore: StorePart {
    let store: Store
}
