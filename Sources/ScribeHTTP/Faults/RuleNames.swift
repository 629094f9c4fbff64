/// Names in fault rules and in searches of the journal, with the sentences that help and pages have for them.
package struct RuleNames: Sendable {
    package struct Name: Sendable {
        /// As an operator writes it. More than one share a sentence.
        package let names: [String]
        /// Markdown. A page needs the links, and help does not.
        package let sentence: String

        fileprivate init(_ names: String, _ sentence: String) {
            self.names = names.split(separator: " ").map(String.init)
            self.sentence = sentence
        }

        /// The sentence without marks and links.
        package var plainSentence: String {
            sentence.replacing(/\[([^\]]*)\]\([^)]*\)/) { $0.output.1 }.replacing("`", with: "")
                .replacing("\\|", with: "|")
        }
    }

    package let title: String
    package let names: [Name]

    private init(_ title: String, _ names: [Name]) {
        self.title = title
        self.names = names
    }

    /// The group for `--help`: a line for each name.
    package var help: String {
        let lines = names.map { name in "  \(name.names.joined(separator: ", ")): \(name.plainSentence)" }
        return ([title + ":"] + lines).joined(separator: "\n")
    }

    /// The rows of a page's table.
    package var rows: String {
        names.map { name in
            "| \(name.names.map { "`\($0)`" }.joined(separator: ", ")) | \(name.sentence) |\n"
        }.joined()
    }

    /// Conditions of fault rules and of searches alike.
    package static let conditions = RuleNames(
        "Conditions",
        [
            Name(
                "operation",
                """
                one of `GET /__admin/operations`: an operation id of [the API document](../openapi/scribe.yaml), or an \
                operation of S3 such as `PutObject`
                """),
            Name(
                "method path",
                """
                the method; a pattern of the path as sent, without a namespace's prefix and query. `*` stands for any \
                characters
                """),
            Name("client business", "who asks, by a valid credential. Logins and upload forms name none in time"),
            Name(
                "transaction",
                """
                an id that is a component of the path, or `session_id`, `txn_id` or `txnid` of the query, or a \
                delivery's
                """),
            Name(
                "header", "`NAME`, or `NAME: PATTERN` of one of its values: `User-Agent: *Alamofire*`, `Host: *:8087`"),
            Name("query", "`NAME`, or `NAME=PATTERN` of one of its values"),
            Name("no_header no_query", "a name that is absent"),
            Name("no_body", "`true`: the request has no body"),
            Name("event", "the event of a webhook; in a rule, by its name in the API of the webhook, or `callback`"),
        ])

    /// Conditions of fault rules on the requests that match all others.
    package static let choice = RuleNames(
        "Choice among matching requests",
        [
            Name("nth every", "the nth of them, or every nth"),
            Name(
                "probability",
                """
                chosen at random; with a [seed value](namespaces.md#the-same-answers-in-each-run) always the same ones \
                are
                """),
            Name("times", "the first ones that the rule is applied to"),
        ])

    /// Conditions of searches alone.
    package static let ofJournal = RuleNames(
        "Further conditions",
        [
            Name("kind", "`request`, `socket` or `delivery`"),
            Name("status", "a status, or a class such as `5xx`"),
            Name("family", "the API"),
            Name("fault", "a pattern of the fault rule that was applied: `*` for any"),
            Name(
                "body response",
                """
                a pattern of the whole text, or JSON: its members must be there, and texts in it may be patterns
                """),
            Name("frame", "the same for one text of a socket"),
            Name("after since", "exchanges behind a number; from a time on"),
        ])

    package static let expectation = RuleNames(
        "Expected numbers",
        [
            Name("times", "so many match"),
            Name("at_least at_most", "bounds of the number; without any, at least one must match"),
        ])

    package static let requests = RuleNames(
        "Effects on requests",
        [
            Name(
                "when",
                """
                `before`: nothing has happened, the usual choice. `after`: the write is done, and its answer is \
                delayed, replaced or lost: what a retry must survive
                """),
            Name(
                "delay clock",
                """
                `2s`, evenly `1s..3s`, or `200ms~2s` with the median and the 95th percentile. By the machine's clock, or \
                with `clock=world` by the namespace's, which `clock advance` moves
                """),
            Name(
                "status code message",
                """
                the family's own error body with this status and code. For S3 a code is enough: `code=SlowDown` is 503
                """),
            Name("retry_after", "seconds in `Retry-After`"),
            Name("body content_type", "a body of your own. Without `status` it is 200"),
            Name(
                "connection",
                """
                `reset`: the connection is reset; with `when=after` the answer is lost. `hang`: no answer, until the \
                client gives up. `half`: the head and half of the body. `dribble`: the body slowly
                """),
            Name("rate", "bytes a second of `dribble` (100)"),
            Name(
                "limit",
                """
                `5/1m`, a real rate limit: each client has a bucket of five requests that fills up again in a minute. \
                Beyond, 429 with `Retry-After`
                """),
        ])

    package static let sockets = RuleNames(
        "Effects on sockets",
        [
            Name(
                "after_sent after_received",
                "the socket ends after so many messages of the server or of the client; 0 ends it at once"),
            Name("close reason", "it ends with this close code, otherwise without a close frame"),
            Name(
                "results",
                """
                `doubled`: the server's messages are sent twice. `missing`: they are not sent. `late`: each is late by \
                `delay`; by the namespace's clock (`clock=world`) one advance sends all that were made before it
                """),
            Name("messages", "a pattern: only those of the server's messages that fit"),
        ])

    package static let results = RuleNames(
        "Effects on results",
        [
            Name("fail", "`fail=transcription_failed`: the results carry this [code](failures.md)"),
            Name("empty", "`true`: nothing was said, or the note is empty"),
            Name("delay", "the results come that long after commit, by the namespace's clock"),
        ])

    package static let webhooks = RuleNames(
        "Effects on webhooks",
        [
            Name("twice", "`true`: the message is sent twice"),
            Name(
                "out_of_order",
                "`true`: the session's next message goes first; without one within 30 s, the message itself"),
            Name("wrong_signature", "`true`: the signature is of another key"),
            Name("delay", "the message is late"),
        ])

    /// All groups of a fault rule.
    package static let ofRules = [conditions, choice, requests, sockets, results, webhooks]
    /// All groups of an expectation.
    package static let ofExpectations = [conditions, ofJournal, expectation]
}
