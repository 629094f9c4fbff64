import ScribeDomain
import ScribeHTTP

/// What most requests that change a transaction are answered with. The older iOS SDK needs all four texts (C-104).
struct TransactionAcknowledgement: Encodable {
    private let status = "success"
    private let message: String
    private let transaction: TransactionID
    private let business: BusinessID
    /// Only init tells whose the transaction is.
    private let doctor: DoctorID?
    private let user: UserID?

    private enum CodingKeys: String, CodingKey {
        case status, message
        case transaction = "txn_id"
        case business = "b_id"
        case doctor = "oid"
        case user = "uuid"
    }

    init(_ message: String, _ key: Transaction.Key, owner: Principal? = nil) {
        self.message = message
        transaction = key.id
        business = key.business
        doctor = owner?.doctor
        user = owner?.user
    }
}
