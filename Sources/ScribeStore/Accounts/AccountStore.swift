/// Clients and their logins, providers, and the preferences of users.
package struct AccountStore: StorePart {
    let store: Store
}
