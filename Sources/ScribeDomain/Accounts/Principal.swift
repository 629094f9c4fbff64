/// Authenticated identity of a request, taken from its token.
package struct Principal: Hashable, Sendable {
    /// Business that owns all data that the request reads or writes.
    package let business: BusinessID
    /// User that the request acts for; history is scoped to the user (eka.md 2.8).
    package let user: UserID
    /// Doctor that the user acts as.
    package let doctor: DoctorID
    /// OAuth client that logged in; quotas apply to the client.
    package let client: ClientID

    package init(business: BusinessID, user: UserID, doctor: DoctorID, client: ClientID) {
        self.business = business
        self.user = user
        self.doctor = doctor
        self.client = client
    }

    /// Creates a principal from raw id strings, as tokens and rows hold them.
    package init(businessID: String, userID: String, doctorID: String, clientID: String) {
        self.init(
            business: BusinessID(businessID), user: UserID(userID), doctor: DoctorID(doctorID),
            client: ClientID(clientID))
    }
}

/// OAuth client that may log in, with the one user that it acts as.
package struct Client: Hashable, Sendable {
    package let principal: Principal
    /// First name (`fn`) in the token.
    package let name: String
    /// Workspace name (`w-n`) in the token.
    package let workspace: String
    /// Most transactions that the client may start in all; nil means unlimited.
    package let transactionLimit: Int?

    package init(principal: Principal, name: String, workspace: String, transactionLimit: Int?) {
        self.principal = principal
        self.name = name
        self.workspace = workspace
        self.transactionLimit = transactionLimit
    }
}
