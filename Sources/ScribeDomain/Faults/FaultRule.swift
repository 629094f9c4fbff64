/// Rule that makes requests, sockets, recognitions, notes or webhooks fail on purpose.
package struct FaultRule: Hashable, Sendable {
    /// Name of the rule within its namespace.
    package var id: String
    package var match = FaultMatch()
    /// Most applications of the rule; nil without a limit.
    package var times: Int?
    package var effect: FaultEffect
    /// Time that passes before the effect, or before the usual answer where there is no other effect.
    package var delay: FaultDelay?
    /// Whether the delay passes by the namespace's clock, not by the machine's.
    package var isByWorldClock = false

    package init(id: String, effect: FaultEffect) {
        self.id = id
        self.effect = effect
    }
}

/// Effect of a rule.
package enum FaultEffect: Hashable, Sendable {
    /// Fault of a request, before its handler runs or behind its write.
    case request(RequestFault, Moment)
    case socket(SocketFault)
    case recognition(PipelineFault)
    case note(PipelineFault)
    case webhook(WebhookFault)

    /// When a request's fault takes place.
    package enum Moment: String, Hashable, Sendable, CaseIterable {
        /// The request has changed nothing.
        case before
        /// The request's write is committed.
        case after
    }

    /// Place that looks the effect up.
    package var place: FaultPlace {
        switch self {
        case .request: .request
        case .socket: .socket
        case .recognition: .recognition
        case .note: .note
        case .webhook: .webhook
        }
    }
}

/// Place in the server that asks for faults. The names of those without a route are operations in rules.
package enum FaultPlace: String, Hashable, Sendable, CaseIterable {
    case request, socket
    case recognition = "transcription"
    case note, webhook
}

/// Fault of a request's answer.
package enum RequestFault: Hashable, Sendable {
    /// The usual answer, after the rule's delay.
    case delay
    case answer(FaultAnswer)
    case connection(FaultConnection)
    /// 429 to a client that asks more often.
    case limit(FaultLimit, FaultAnswer)
}

/// Answer in place of the usual one.
package struct FaultAnswer: Hashable, Sendable {
    /// nil for the status of the family's error code, or 500.
    package var status: Int?
    /// The family's error code; nil for the family's code of the status.
    package var code: String?
    package var message: String?
    /// Body in place of the family's error body, with its media type.
    package var body: Body?
    /// Seconds in `Retry-After`.
    package var retryAfter: Int?

    /// A body that the rule gives.
    package struct Body: Hashable, Sendable {
        package var text: String
        package var type: String

        package init(text: String, type: String) {
            self.text = text
            self.type = type
        }
    }

    package init() {}
}

/// Fault of the connection that carries an answer.
package enum FaultConnection: Hashable, Sendable {
    /// The connection is reset, and no answer arrives.
    case reset
    /// No answer arrives, and the connection stays open.
    case hang
    /// The head and half of the body arrive; then the connection is reset.
    case half
    /// The body arrives slowly.
    case dribble(bytesPerSecond: Int)
}

/// Rate limit of each client: a bucket of requests that fills up again evenly.
package struct FaultLimit: Hashable, Sendable {
    package let requests: Int
    /// Time in which an empty bucket fills up, in seconds.
    package let seconds: Double

    package init(requests: Int, seconds: Double) {
        self.requests = requests
        self.seconds = seconds
    }
}

/// Fault of an open socket. Counts are of text and binary messages.
package struct SocketFault: Hashable, Sendable {
    /// The socket ends after so many messages of the server.
    package var afterSent: Int?
    /// The socket ends after so many messages of the client.
    package var afterReceived: Int?
    /// Close code of that end; nil for a connection that is reset without a close frame.
    package var close: Int?
    package var reason: String?
    package var results: Results?
    /// Messages of the server that are doubled or missing, as a pattern; nil for all.
    package var messages: Pattern?

    /// Fault of the server's messages.
    package enum Results: String, Hashable, Sendable, CaseIterable {
        /// Each message waits for the rule's delay.
        case late
        case doubled, missing
    }

    package init() {}
}

/// Fault of a recognition, or of the notes of a transaction.
package enum PipelineFault: Hashable, Sendable {
    /// The usual result, after the rule's delay.
    case delay
    case failure(Diagnostic.Code)
    /// Silence, or an empty note.
    case empty
    /// Words that were said, or the text of the note.
    case result(String)
}

/// Fault of a webhook's delivery.
package enum WebhookFault: String, Hashable, Sendable, CaseIterable {
    /// The usual message, after the rule's delay.
    case delay
    case twice
    /// The session's next message goes first.
    case outOfOrder = "out_of_order"
    case wrongSignature = "wrong_signature"
}

extension FaultEffect {
    /// Whether the effect can be seen: a rule must not be used up by what it cannot change.
    func isPossible(with facts: FaultFacts) -> Bool {
        switch self {
        case .request(_, .after): !facts.opensSocket
        // Callbacks are not signed, and no message of theirs follows.
        case .webhook(.wrongSignature), .webhook(.outOfOrder): facts.event != FaultFacts.callback
        case .request, .socket, .recognition, .note, .webhook: true
        }
    }
}

extension FaultRule {
    /// Whether this rule always applies where another one would.
    package func shadows(_ other: FaultRule) -> Bool {
        guard times == nil, !match.isSelective, effect.place == other.effect.place else { return false }
        if case .request(.limit, _) = effect { return false }
        var others = other.match
        (others.nth, others.every, others.probability) = (nil, nil, nil)
        return others == match
    }
}
