package import Basics
package import Foundation
package import ScribeDomain

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
}
