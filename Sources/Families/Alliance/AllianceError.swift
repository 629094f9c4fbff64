/// Errors of the session protocol, beside the shared `ScribeError`s.
enum AllianceError: Error, Hashable, Sendable {
    /// A request that parses but has invalid content; the text describes the problem.
    case malformed(String)
    /// A session asks for a template that its business does not have.
    /// - Parameters:
    ///   - id: Id as sent, or `?` for one that may be anybody's words.
    ///   - known: Ids that the business may use.
    case invalidTemplate(_ id: String, known: [String])
    /// The template does not exist, or the session has no note from that template.
    case templateNotFound
    case documentNotFound
    /// The business has no webhook with this id.
    case webhookNotFound
    case tooManyWebhooks
    /// The request changes a recording setting after the session has ended.
    case alreadyCommitted
    case chunkTooLarge
    /// The content type or extension of the upload is no supported audio format; the text is that type.
    case invalidAudioFormat(String)
    /// The ticket in a link is expired, or was not issued by this server.
    case unknownLink
    /// The machine has no ffmpeg to join a session's files into one recording.
    case audioNotEnabled
    /// The session has no audio, no final audio yet, or its audio was deleted.
    case audioNotAvailable
    /// A plain GET to a WebSocket path.
    case upgradeRequired
}
