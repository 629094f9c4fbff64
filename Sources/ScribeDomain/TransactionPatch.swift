/// What a client changes of a transaction after init (eka.md 2.7). Nil leaves a thing as it is.
package struct TransactionPatch: Hashable, Sendable {
    /// Whether the transaction is given up. Other statuses follow from what happens and cannot be set.
    package var isCancellation = false
    /// Whether the client tells that it records.
    package var startsRecording = false
    /// Why it ended, as the client tells it; kept as it is.
    package var processingError: JSONValue?
    package var patientDetails: JSONValue?
    /// Merged into the patient's details: keys that are not in it stay.
    package var sessionDetails: JSONValue?
    /// Merged: keys that are not in it stay.
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
