package import ScribeDomain

extension Template.Format {
    /// The JSON object of a medical record (eka.md 5.3).
    package static let ekaEMR = Template.Format("eka_emr")

    /// Those that notes can be written in.
    package static let written: [Template.Format] = [.markdown, .json, .ekaEMR, .transcript]
}
