/// Who a request acts for, taken from its token.
public struct Principal: Hashable, Sendable {
    /// The tenant that everything read or written belongs to.
    public let business: BusinessID
    /// The user; history is scoped to it (eka-v2.md 10.17).
    public let user: UserID
    /// The doctor that the user acts as.
    public let doctor: DoctorID
    /// The client that logged in; carries the quota.
    public let client: ClientID

    public init(business: BusinessID, user: UserID, doctor: DoctorID, client: ClientID) {
        self.business = business
        self.user = user
        self.doctor = doctor
        self.client = client
    }
}

/// An API client that may log in, with the one user it acts as.
public struct Client: Hashable, Sendable {
    public let principal: Principal
    /// Shown as the first name (`fn`) in the token.
    public let name: String
    /// Shown as the workspace name (`w-n`) in the token.
    public let workspace: String
    /// How many transactions this client may start in all; nil is unlimited.
    public let transactionLimit: Int?

    public init(principal: Principal, name: String, workspace: String, transactionLimit: Int?) {
        self.principal = principal
        self.name = name
        self.workspace = workspace
        self.transactionLimit = transactionLimit
    }
}
