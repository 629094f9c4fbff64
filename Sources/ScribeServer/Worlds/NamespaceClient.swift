import Basics
import ScribeDomain
import ScribeHTTP
import ScribeStore
import Suki

/// Client of a namespace, made with the namespace: for SDKs that can set neither a header nor a path prefix.
struct NamespaceClient: Sendable {
    let client: Client
    let secret: String
    let key: String
    /// A second API key of 40 hex digits, the form that Deepgram's SDK 2 requires.
    let hexKey: String
    let partner: Partner

    var credentials: NamespaceCredentials { NamespaceCredentials(secret: secret, key: key, hexKey: hexKey) }

    /// The client in snapshots of its namespace.
    var owner: SnapshotOwner { SnapshotOwner(client.principal) }

    init(_ name: NamespaceName, _ identifiers: IdentifierSource) {
        client = Client(
            principal: Principal(
                businessID: "b-ns-\(name)", userID: "u-ns-\(name)", doctorID: "o-ns-\(name)",
                clientID: name.mark("client")),
            name: "Asha", workspace: name.rawValue, transactionLimit: nil)
        secret = identifiers.secret()
        key = name.mark(identifiers.secret())
        hexKey = identifiers.secret()
        partner = Partner(
            id: name.mark("partner"), client: client.principal.client, keys: nil, organisations: [], isBearer: false)
    }
}
