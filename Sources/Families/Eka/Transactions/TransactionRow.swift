import Basics
import Foundation
import ScribeDomain
import ScribeHTTP

extension Transaction {
    /// Encodes the transaction for a read by its id (eka.md 2.7).
    var json: JSON {
        let address = request.audioURL.map(JSON.string)
        let isVaded = request.transfer == .vaded
        return [
            "txn_id": .string(id.rawValue),
            "b_id": .string(owner.business.rawValue),
            "uuid": .string(owner.user.rawValue),
            "oid": .string(owner.doctor.rawValue),
            "created_at": .string(createdAt.apiTime),
            "flavour": .string(request.flavour),
            "version": .string(request.version ?? ""),
            "mode": .string(request.mode ?? ""),
            "user_status": .string(userStatusWord),
            "processing_status": .string(processingStatus.rawValue),
            "patient_details": request.patientDetails.map(JSON.value),
            "c_id": .string(owner.client.rawValue),
            "transfer": .string(request.transfer.rawValue),
            "s3_url": isVaded ? address : nil,
            "batch_s3_url": isVaded ? nil : address,
            "input_language": .array(request.inputLanguages, JSON.string),
            "output_language": request.outputLanguage.map(JSON.string),
            "output_format_template": .array(request.templates) { $0.json },
            "model_type": .string(request.modelType ?? "pro"),
            "speciality": request.speciality.map(JSON.string),
            "section": request.section.map(JSON.string),
            "additional_data": .value(request.additionalData ?? .object([:])),
            "client_generated_files": .array(generatedFiles, JSON.string),
            "client_uploaded_files": .array(committedFiles, JSON.string),
            "processing_error": request.processingError.map(JSON.value),
            "commit_at": (committedAt?.apiTime).map(JSON.string),
            "processed_at": (processedAt?.apiTime).map(JSON.string),
        ]
    }

    static let recordingStarted = "recording_started"

    /// `user_status` with the web client's extra value `recording_started` (eka.md 4.1).
    ///
    /// Histories use the plain status: older iOS SDKs could not read the extra value.
    var userStatusWord: String {
        let isRecorded = userStatus == .initialized && request.hasStartedRecording == true
        return isRecorded ? Self.recordingStarted : userStatus.rawValue
    }

    /// Audio files that the client announced: at stop, or at init if there was no stop.
    var generatedFiles: [String] { stopped.files.isEmpty ? request.announcedFiles : stopped.files }
}

extension TransactionRequest.RequestedTemplate {
    fileprivate var json: JSON {
        [
            "template_id": .string(id.rawValue), "template_name": name.map(JSON.string),
            "template_type": type.map(JSON.string),
        ]
    }
}
