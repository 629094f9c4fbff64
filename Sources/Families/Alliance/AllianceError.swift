import ScribeDomain

/// What only the session protocol knows to go wrong.
enum AllianceError: Error, Hashable, Sendable {
    /// What was sent is understood, and cannot be.
    case malformed(String)
    /// A session was to have a note that the business has no template for.
    case invalidTemplate
    /// There is no such template, or the session has no note of it.
    case templateNotFound
    case documentNotFound
    /// The business has none such.
    case webhookNotFound
    case tooManyWebhooks
    /// What is said at the start cannot be changed once the session has ended.
    case alreadyCommitted
    case chunkTooLarge
    /// What it is said to be.
    case invalidAudioFormat(String)
    /// A link that is expired, or none of ours.
    case unknownLink
    /// This machine cannot make one recording of many.
    case audioNotEnabled
    /// There is no audio, or not yet, or not any more.
    case audioNotAvailable
    /// A plain GET where a socket is served.
    case upgradeRequired
}
