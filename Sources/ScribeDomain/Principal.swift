/// Who a request acts for, taken from its token.
package struct Principal: Hashable, Sendable {
    /// The tenant that everything read or written belongs to.
    package let business: BusinessID
    /// The user; history is scoped to it (eka.md 10.17).
    package let user: UserID
    /// The doctor that the user acts as.
    package let doctor: DoctorID
    /// The client that logged in; carries the quota.
    package let client: ClientID

    package init(business: BusinessID, user: UserID, doctor: DoctorID, client: ClientID) {
        self.business = business
        self.user = user
        self.doctor = doctor
        self.client = client
    }

    /// A principal from the texts of its ids, as tokens and rows hold them.
    package init(businessID: String, userID: String, doctorID: String, clientID: String) {
        self.init(
            business: BusinessID(businessID), user: UserID(userID), doctor: DoctorID(doctorID),
            client: ClientID(clientID))
    }
}

/// An API client that may log in, with the one user it acts as.
package struct Client: Hashable, Sendable {
    package let principal: Principal
    /// Shown as the first name (`fn`) in the token.
    package let name: String
    /// Shown as the workspace name (`w-n`) in the token.
    package let workspace: String
    /// How many transactions this client may start in all; nil is unlimited.
    package let transactionLimit: Int?

    package init(principal: Principal, name: String, workspace: String, transactionLimit: Int?) {
        self.principal = principal
        self.name = name
        self.workspace = workspace
        self.transactionLimit = transactionLimit
    }
}
