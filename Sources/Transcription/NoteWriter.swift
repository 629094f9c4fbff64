package import ScribeDomain

/// Turns a transcript into a note after a template.
package protocol NoteWriter: Sendable {
    /// Whether a note takes no time to speak of, so that nobody needs to be given the transcript before it.
    var isInstant: Bool { get }

    /// Writes the note in the template's format: see ``Template/Format``.
    func write(_ template: Template, from transcript: String) async throws -> String
}
