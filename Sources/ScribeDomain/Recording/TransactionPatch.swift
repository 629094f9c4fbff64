package import Basics

/// Changes to a transaction after init (eka.md 2.7). Nil leaves a field unchanged.
package struct TransactionPatch: Hashable, Sendable {
    /// Whether the client cancels the transaction. Clients cannot set any other status.
    package var isCancellation = false
    /// Whether the client reports that recording has started.
    package var startsRecording = false
    /// Reason for the end as the client sent it, stored unchanged.
    package var processingError: JSONValue?
    package var patientDetails: JSONValue?
    /// Members to merge into the patient details; members that the patch lacks stay.
    package var sessionDetails: JSONValue?
    /// Members to merge into the additional data; members that the patch lacks stay.
    package var additionalData: JSONValue?
    package var mode: String?
    package var modelType: String?
    package var inputLanguages: [String]?
    package var outputLanguage: String?
    package var templates: [TransactionRequest.RequestedTemplate]?

    package init() {}

    func update(_ request: inout TransactionRequest) {
        if startsRecording { request.hasStartedRecording = true }
        if let processingError { request.processingError = processingError }
        if let patientDetails { request.patientDetails = patientDetails }
        if let sessionDetails {
            request.patientDetails = request.patientDetails?.merged(with: sessionDetails) ?? sessionDetails
        }
        if let additionalData {
            request.additionalData = request.additionalData?.merged(with: additionalData) ?? additionalData
        }
        if let mode { request.mode = mode }
        if let modelType { request.modelType = modelType }
        if let inputLanguages { request.inputLanguages = inputLanguages }
        if let outputLanguage { request.outputLanguage = outputLanguage }
        if let templates { request.templates = templates }
    }
}
