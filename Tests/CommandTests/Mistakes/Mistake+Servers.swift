extension Mistake {
    /// Verbs that ask a running server, where none runs.
    static let servers: [Mistake] = [
        Mistake(
            "URL without a scheme", "ready --url localhost:8087",
            "--url: 'localhost:8087' is not a base URL; write for example http://127.0.0.1:8087"),
        Mistake(
            "URL of another scheme", "env --url ftp://127.0.0.1",
            "--url: 'ftp://127.0.0.1' is not a base URL; write for example http://127.0.0.1:8087"),
        Mistake(
            "URL with a password", "doctor --url http://u:hidden@127.0.0.1:1",
            "--url: 'http://***@127.0.0.1:1' is not a base URL; write for example http://127.0.0.1:8087"),
        Mistake(
            "URL in the environment", "webhooks list",
            "SCRIBE_BASE_URL: 'nowhere' is not a base URL; write for example http://127.0.0.1:8087",
            environment: ["SCRIBE_BASE_URL": "nowhere"]),
        Mistake(
            "no server is ready", "ready --url \(nobody)",
            """
            not ready: no server is ready at \(nobody); run scribe-emulator doctor --url \(nobody) to find out why
            """, code: 1),
        Mistake(
            "time limit in words", "ready --timeout soon", "--timeout: 'soon' is not a time; write for example 30s"),
        Mistake(
            "env before the server", "env --ready-file $here/ready.json",
            """
            the server is not ready yet: the ready file $here/ready.json does not exist; run scribe-emulator ready \
            --wait to wait for it
            """),
        Mistake(
            "file that is no ready file", "env --ready-file $here/junk",
            """
            the server is not ready yet: $here/junk is not a ready file; name the file that serve --ready-file writes
            """, files: ["junk": "junk"]),
        Mistake(
            "URL with a port that there is not", "ready --url http://127.0.0.1:99999",
            "--url: 'http://127.0.0.1:99999' is not a base URL; write for example http://127.0.0.1:8087"),
        Mistake(
            "env without a server", "env --url \(nobody)/ns/t-1",
            "no server answers at \(nobody); start one, or name another one with --url", code: 3),
        Mistake(
            "unknown format of env", "env --format yaml",
            """
            The value 'yaml' is invalid for '--format <format>'. Please provide one of 'text', 'dotenv' or 'json'.
            """),
        Mistake(
            "unknown state", "webhooks list --state lost",
            "--state: 'lost' is not one of pending, sending, delivered, failed"),
        Mistake(
            "webhook that is no number", "webhooks test first", "The value 'first' is invalid for '<webhook>'"),
        Mistake(
            "doctor without a server", "doctor --url \(nobody)",
            """
            PROBLEM  no server answers at \(nobody)
                     -> run scribe-emulator serve --tls; if it runs elsewhere, add --url http://HOST:PORT
            """, code: 1),
        Mistake("port of an SDK", "doctor --port 99999", "--port: '99999' is not a number from 1 to 65535"),
        Mistake(
            "unknown SDK", "doctor --sdk iso",
            "The value 'iso' is invalid for '--sdk <sdk>'. Please provide one of the following:"),
    ]
}
