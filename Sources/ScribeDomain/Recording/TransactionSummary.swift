package import Basics
package import Foundation

/// Transaction as lists show it (eka.md 2.8).
package struct TransactionSummary: Sendable {
    package let id: TransactionID
    package let business: BusinessID
    package let user: UserID
    package let doctor: DoctorID
    package let createdAt: Date
    package let flavour: String
    package let version: String?
    package let mode: String?
    package let userStatus: Transaction.UserStatus
    package let processingStatus: Transaction.ProcessingStatus
    package let patientDetails: JSONValue?

    package init(
        id: TransactionID, business: BusinessID, user: UserID, doctor: DoctorID, createdAt: Date, flavour: String,
        version: String?, mode: String?, userStatus: Transaction.UserStatus,
        processingStatus: Transaction.ProcessingStatus, patientDetails: JSONValue?
    ) {
        self.id = id
        self.business = business
        self.user = user
        self.doctor = doctor
        self.createdAt = createdAt
        self.flavour = flavour
        self.version = version
        self.mode = mode
        self.userStatus = userStatus
        self.processingStatus = processingStatus
        self.patientDetails = patientDetails
    }
}
