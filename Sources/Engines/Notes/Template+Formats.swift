package import ScribeDomain

extension Template.Format {
    /// The JSON object of a medical record (eka.md 5.3).
    package static let ekaEMR = Template.Format("eka_emr")
    /// FHIR R4 document, see ``FHIRDocument``.
    package static let fhir = Template.Format("fhir")

    /// Formats that note writers can produce.
    package static let written: [Template.Format] = [.markdown, .json, .ekaEMR, .fhir, .transcript]
}
