extension Mistake {
    /// Longer than a file's name may be.
    private static let longName = String(repeating: "n", count: 300)

    /// Values of settings. Any verb reads them, `ready` much faster than `serve`, whose many options take their time.
    static let values: [Mistake] = [
        Mistake("negative port", "serve --port=-1", "--port: '-1' is not a number from 0 to 65535"),
        Mistake("unknown mode", "\(start) --auth maybe", "--auth: 'maybe' is not one of lenient, open, strict"),
        variable("port in words", "PORT", "x", "is not a number from 0 to 65535"),
        variable("switch in words", "EPHEMERAL", "perhaps", "is neither true nor false"),
        variable(
            "unknown log level", "LOG_LEVEL", "verbose",
            "is not one of trace, debug, info, notice, warning, error, critical"),
        variable("unknown unit of time", "LONG_POLL", "14x", "is not a time up to 366d; write 14s, 500ms, 2m or 12h"),
        variable(
            "time that is too long", "ACCESS_TOKEN_LIFETIME", "500d",
            "is not a time up to 366d; write 14s, 500ms, 2m or 12h"),
        variable("time that is too short", "LISTEN_IDLE", "1ms", "is too short; write 100ms or more"),
        variable(
            "pauses with semicolons", "WEBHOOK_PAUSES", "1s;2s",
            "is not a list of at most 20 times; write for example 10s,60s,5m"),
        variable("size in words", "MEMORY_BUDGET", "lots", "is not a size; write 50GB, 500MB or a number of bytes"),
        variable(
            "public URL without a scheme", "PUBLIC_URL", "scribe.example",
            "is not a base URL; write for example https://scribe.example"),
        variable(
            "public URL with a password", "PUBLIC_URL", "https://u:hidden@scribe.example",
            shown: "https://***@scribe.example", "is not a base URL; write for example https://scribe.example"),
        variable(
            "public URL with a port that there is not", "PUBLIC_URL", "https://scribe.example:99999",
            "is not a base URL; write for example https://scribe.example"),
        variable(
            "host with a scheme", "HOST", "http://127.0.0.1",
            "is not an address or a host name; write for example 127.0.0.1, ::1 or 0.0.0.0"),
        variable(
            "range of a proxy", "TRUSTED_PROXIES", "10.0.0.0/33",
            "contains '10.0.0.0/33'; write addresses, or ranges such as 10.0.0.0/8"),
        variable(
            "origin without a scheme", "CORS_ORIGINS", "app.example",
            """
            is not a list of web origins; write for example https://app.example or https://*.app.example, without \
            paths, or *
            """),
        variable(
            "host with a port", "ALLOWED_HOSTS", "a.example:80",
            "is not a list of hosts; write for example scribe.example or *.scribe.example, without ports, or *"),
        variable(
            "profile without an id", "CLIENT_PROFILES", "ios",
            "has no profile; write ID=PROFILE, for example my-app=ios"),
        variable(
            "unknown profile", "CLIENT_PROFILES", "a=windows",
            """
            has the unknown profile 'windows'; use one of generic, ios, android, legacy-ios, web, dotnet, python
            """),
        variable(
            "URL as an outside host", "OUTBOUND_ALLOW", "http://x",
            "contains 'http://x'; write hosts, or ranges such as 10.0.0.0/8"),
        variable("URL of Firebase's keys", "FIREBASE_JWKS_URL", "ftp://x", "is not an http or https URL"),
        variable(
            "service without a scheme", "TRANSCRIBER", "openai:localhost:8000",
            "has no http or https URL; write for example openai:https://stt.example/v1"),
        variable(
            "service without a host", "TRANSCRIBER", "deepgram:http://u:hidden@", shown: "deepgram:http://***@",
            "has no http or https URL; write for example deepgram:https://stt.example/v1"),
        variable(
            "note writer of another kind", "NOTE_WRITER", "ollama", "is not a note writer; use rules or openai:URL"),
        variable(
            "language model without a host", "NOTE_WRITER", "openai:http://u:hidden@", shown: "openai:http://***@",
            "has no http or https URL; write for example openai:https://models.example/v1"),
        variable(
            "template id with a space", "NOTE_RULES_TEMPLATES", "a b",
            "contains 'a b'; write template ids such as soap"),
        variable(
            "key of the service that is not there", "STT_KEY_FILE", "$here/nowhere",
            "cannot be read; check that the file exists and that you may read it"),
    ]

    /// A variable with a value that its setting does not take.
    /// - Parameter shown: the value as the answer shows it; nil if it is not masked.
    private static func variable(
        _ name: String, _ setting: String, _ value: String, shown: String? = nil, _ problem: String
    ) -> Mistake {
        Mistake(
            name, "ready", "SCRIBE_\(setting): '\(shown ?? value)' \(problem)",
            environment: ["SCRIBE_\(setting)": value])
    }

    static let firebase: [Mistake] = [
        Mistake(
            "Firebase's keys without a project", "\(start) --firebase-jwks-url http://localhost/jwks",
            """
            Firebase's tokens cannot be verified: firebase-project goes together with firebase-jwks-url or \
            firebase-jwks-file
            """, code: 1),
        Mistake(
            "file that is no JWK set", "\(start) --firebase-project p --firebase-jwks-file $here/keys",
            "Firebase's tokens cannot be verified: firebase-jwks-file: the keys are no JWK set that can be used",
            code: 1, files: ["keys": "hidden"]),
        Mistake(
            "unknown client of Firebase", "\(start) --firebase-client nobody",
            "Firebase's tokens cannot be verified: firebase-client: there is no client 'nobody' that may log in",
            code: 1),
        Mistake(
            "two keys for Firebase",
            """
            \(start) --firebase-project p --firebase-jwks-file $here/keys --firebase-jwks-url http://localhost/jwks
            """,
            "Firebase's tokens cannot be verified: firebase-jwks-file and firebase-jwks-url exclude each other",
            code: 1, files: ["keys": "{}"]),
    ]

    static let transcribers: [Mistake] = [
        Mistake(
            "unknown transcriber", "\(start) --transcriber whisper",
            """
            --transcriber: 'whisper' is not a transcriber; use fake, openai:URL, deepgram:URL or \
            command:PROGRAM ARGUMENTS
            """),
        Mistake(
            "mistyped kind before a program", "\(start) --transcriber 'comand:/x --key hidden {wav}'",
            """
            --transcriber: 'comand:/x *** *** {wav}' is not a transcriber; use fake, openai:URL, deepgram:URL or \
            command:PROGRAM ARGUMENTS
            """),
        Mistake(
            "program that is not there, checked",
            "config check --transcriber 'command:/nowhere/stt --key hidden {wav}'",
            """
            transcriber cannot be used: there is no program '/nowhere/stt' that can be run; install it, or name its \
            whole path
            """, code: 1),
        Mistake(
            "program without a recording, checked", "config check --fallback-transcriber command:true",
            """
            fallback-transcriber cannot be used: the command names neither {wav} nor {file}, so its program would \
            get no recording
            """, code: 1),
        Mistake(
            "program that is not there", "\(start) --transcriber 'command:/nowhere/stt --key hidden {wav}'",
            """
            transcriber cannot be used: there is no program '/nowhere/stt' that can be run; install it, or name its \
            whole path
            """, code: 1),
        Mistake(
            "fallback that is not there", "\(start) --fallback-transcriber 'command:nowhere {wav}'",
            """
            fallback-transcriber cannot be used: there is no program 'nowhere' that can be run; install it, or name \
            its whole path
            """, code: 1),
        Mistake(
            "open quote", "\(start) --transcriber \"command:'open\"",
            "transcriber cannot be used: a quote in the command is not closed", code: 1),
        Mistake(
            "program without a recording", "\(start) --transcriber command:true",
            """
            transcriber cannot be used: the command names neither {wav} nor {file}, so its program would get no \
            recording
            """, code: 1),
        Mistake(
            "no program", "\(start) --transcriber command:",
            "transcriber cannot be used: the command names no program", code: 1),
        Mistake(
            "unknown placeholder", "\(start) --transcriber 'command:cat {wave}'",
            "transcriber cannot be used: {wave} is no placeholder; there are {file}, {wav} and {language}", code: 1),
    ]

    private static let lenientOnNetwork: Answer = """
        lenient authentication gives access to every client that can reach 0.0.0.0.
        Use --auth strict, listen on 127.0.0.1, or confirm with --allow-unverified-tokens-from-network.
        """

    /// Options and settings that exclude each other, or need each other.
    static let contradictions: [Mistake] = [
        Mistake(
            "ephemeral with a data folder", "\(start) --data-dir $here/d",
            "--ephemeral and --data-dir cannot be used together; leave one out"),
        Mistake(
            "ephemeral with a data folder, checked", "config check --ephemeral",
            "--ephemeral and SCRIBE_DATA_DIR cannot be used together; leave one out", code: 1,
            environment: ["SCRIBE_DATA_DIR": "$here/d"]),
        Mistake(
            "certificate without its key", "ready",
            "SCRIBE_TLS_CERTIFICATE: set both tls-certificate and tls-key, or neither",
            environment: ["SCRIBE_TLS_CERTIFICATE": "$here/c.pem"]),
        Mistake(
            "key without its certificate, checked", "config check --tls-key $here/key.pem",
            "--tls-key: set both tls-certificate and tls-key, or neither", code: 1),
        Mistake("lenient on the network", "\(start) --host 0.0.0.0", lenientOnNetwork, code: 1),
        Mistake("lenient on the network, checked", "config check --host 0.0.0.0", lenientOnNetwork, code: 1),
        Mistake(
            "one port for both", "serve --ephemeral --tls --port 18123 --tls-port 18123",
            "--port and --tls-port are both 18123; choose another for one of them", code: 1),
        Mistake(
            "base URL without an SDK", "doctor --base-url", "--base-url goes with --sdk and one of dotnet, deepgram"),
        Mistake(
            "base URL for an SDK that takes none", "doctor --base-url --sdk ios",
            "--base-url goes with --sdk and one of dotnet, deepgram; ios has its hosts compiled in"),
        Mistake(
            "hosts written and removed", "hosts --write --remove",
            "--write and --remove cannot be used together; leave one out"),
        Mistake(
            "hosts of another machine written here", "hosts --for mac --write",
            "--for prints a script for another machine; leave out --write and --remove"),
        Mistake(
            "PEM and steps", "trust --pem --for mac", "--pem and --for cannot be used together; leave one out"),
        Mistake(
            "one delivery of a webhook", "webhooks replay 1 --webhook 2",
            "a delivery and --webhook cannot be used together; leave one out"),
        Mistake(
            "parent that is no process", "serve --exit-with-parent soon",
            "--exit-with-parent: 'soon' is not the id of a process; write for example --exit-with-parent $$"),
        Mistake(
            "parent that is a group", "serve --exit-with-parent=-2",
            "--exit-with-parent: '-2' is not the id of a process; write for example --exit-with-parent $$"),
        Mistake(
            "parent that is gone", "serve --exit-with-parent 2147483647",
            """
            --exit-with-parent: no process 2147483647 runs here; it has ended, or it is outside of this container. Name \
            a process that runs, or leave the option out
            """),
        Mistake(
            "file of another kind as the ready file", "\(start) --ready-file $here/package.json",
            "--ready-file: $here/package.json exists and is no ready file; remove it, or name another file",
            files: ["package.json": "{}"]),
        Mistake(
            "ready file that cannot be written", "\(start) --log-level critical --ready-file $here/\(longName)",
            "--ready-file: $here/\(longName) cannot be written; check that its folder is writable and has room",
            code: 1),
        Mistake(
            "folder as the ready file", "\(start) --ready-file $here/folder",
            "--ready-file: $here/folder is a folder; name a file", files: ["folder/kept": "kept"]),
    ]
}
