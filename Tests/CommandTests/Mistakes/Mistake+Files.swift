extension Mistake {
    /// The YAML file of settings.
    static let settingsFiles: [Mistake] = [
        Mistake(
            "settings that are not there", "env --config $here/nowhere.yaml",
            "$here/nowhere.yaml cannot be read; name another file with --config or SCRIBE_CONFIG"),
        Mistake(
            "unknown setting", "\(start) --config $here/s.yaml",
            "$here/s.yaml: 'transcribr' is not a setting; did you mean 'transcriber'?",
            files: ["s.yaml": "transcribr: fake\n"]),
        settings(
            "setting with an underscore", "admin_token: hidden\n",
            "$here/s.yaml: 'admin_token' is not a setting; did you mean 'admin-token'?"),
        settings("setting of a wrong type", "port: [1]\n", "$here/s.yaml: 'port' must be a single value"),
        settings("switch in the settings", "tls: maybe\n", "tls in $here/s.yaml: 'maybe' is neither true nor false"),
        settings(
            "settings as a list", "- port\n- 8087\n",
            "$here/s.yaml must hold keys and values, such as port: 8087"),
        settings("key that is a list", "[port]: 8087\n", "$here/s.yaml: each key must be the name of a setting"),
        settings(
            "setting twice", "port: 1\nadmin-token: hidden\nport: 2\n",
            "$here/s.yaml is not YAML: the key 'port' is there twice"),
        settings(
            "open brace", "{admin-token: hidden\n",
            "$here/s.yaml is not YAML: line 2, column 1: did not find expected ',' or '}'"),
        settings(
            "colon too many", "admin-token: hidden: 1\n",
            "$here/s.yaml is not YAML: line 1, column 20: mapping values are not allowed in this context"),
        settings(
            "binary as the settings", "hidden\0\u{1}",
            "$here/s.yaml is not YAML: control characters are not allowed"),
        settings("settings of endless aliases", "\(endless)", "$here/s.yaml is not YAML: \(tooMany)"),
        Mistake(
            "seed of endless aliases", "seed $here/s.yaml", "$here/s.yaml is not YAML: \(tooMany)", code: 1,
            files: ["s.yaml": "\(endless)"]),
    ]

    /// Four hundred bytes that stand for ten thousand million values.
    private static let endless = (1...10).reduce("a0: &a0 x\n") { text, level in
        text + "a\(level): &a\(level) [\(Array(repeating: "*a\(level - 1)", count: 10).joined(separator: ","))]\n"
    }
    private static let tooMany = "it has more than 200000 values"

    private static func settings(_ name: String, _ yaml: File, _ answer: Answer) -> Mistake {
        Mistake(name, "ready --config $here/s.yaml", answer, files: ["s.yaml": yaml])
    }

    /// A client of a clients file. No answer may show its secret.
    private static let client =
        "{client_id: c, client_secret: hidden-secret, business_id: b, user_id: u, doctor_id: d}"
    private static let namelessClient = client.replacing("client_id: c", with: "client_id: ''")

    /// The client with a further key.
    private static func client(with key: String) -> String { "\(client.dropLast()), \(key)}" }

    static let clientsFiles: [Mistake] = [
        Mistake(
            "clients that are not there, checked", "config check --clients $here/nowhere.yaml",
            "$here/nowhere.yaml: cannot be read", code: 1),
        clients("clients of endless aliases", "\(endless)", "it is not YAML: \(tooMany)"),
        clients("empty clients file", "", "the file must hold keys and values"),
        clients("client as a text", "clients: [nobody]", "clients, entry 1 must hold keys and values"),
        clients("key of the clients file", "client: []", "the file: 'client' is not known; did you mean 'clients'?"),
        clients(
            "key of a client", "clients: [\(client(with: "transaktion_limit: 1"))]",
            "clients, entry 1: 'transaktion_limit' is not known; did you mean 'transaction_limit'?"),
        clients(
            "client without a secret", "clients: [{client_id: c, business_id: b}]",
            "clients, entry 1: 'client_secret' is missing"),
        clients(
            "client without an id", "clients: [\(client), \(namelessClient)]",
            "clients, entry 2: client_id, client_secret and business_id must not be empty"),
        clients("client twice", "clients: [\(client), \(client)]", "the file: the client_id 'c' is there twice"),
        clients(
            "limit in words", "clients: [\(client(with: "transaction_limit: many"))]",
            "clients, entry 1, transaction_limit must be a whole number"),
        clients(
            "negative limit", "clients: [\(client(with: "transaction_limit: -1"))]",
            "clients, entry 1: a transaction_limit cannot be negative"),
        clients(
            "short API key", "clients: [\(client(with: "api_keys: [hidden]"))]",
            "clients, entry 1: an api_key has eight characters at least, and no space"),
        clients(
            "API key that is no list", "clients: [\(client(with: "api_keys: hidden-key"))]",
            "clients, entry 1, api_keys must be a list"),
        clients(
            "clients file with an open brace", "clients: [\(client.dropLast())",
            "it is not YAML: line 2, column 1: did not find expected ',' or '}'"),
        clients(
            "partner of an unknown client", "clients: [\(client)]\npartners: [{partner_id: p, client_id: z}]",
            "the partner 'p' has a client_id that no client has"),
        published(
            "demo's secret beyond loopback", start, client.replacing("hidden-secret", with: "dev-secret")),
        published(
            "demo's API key beyond loopback, checked", "config check", client(with: "api_keys: [org_dev_key_2]")),
        clients(
            "webhook without http",
            """
            clients: [\(client)]
            partners: [{partner_id: p, client_id: c, webhook: {url: x, secret: hidden}}]
            """, "partners, entry 1: a webhook's url is http or https, or 'inbox'"),
        clients(
            "JWK set of a partner that is not there",
            """
            clients: [\(client)]
            partners: [{partner_id: p, client_id: c, jwks_file: $here/nowhere}]
            """, "partners, entry 1: the jwks_file $here/nowhere cannot be read"),
    ]

    private static func published(_ name: String, _ command: String, _ client: String) -> Mistake {
        Mistake(
            name, "\(command) --host 0.0.0.0 --auth strict --clients $here/c.yaml",
            """
            $here/c.yaml: the client 'c' has a secret or API key that is published with the demo, and other machines \
            can reach 0.0.0.0. Choose another, or confirm with --demo-seed
            """, code: 1, files: ["c.yaml": "clients: [\(client)]"], environment: ["SCRIBE_DEMO_SEED": "false"])
    }

    private static func clients(_ name: String, _ yaml: File, _ problem: String) -> Mistake {
        Mistake(
            name, "\(start) --clients $here/c.yaml", "$here/c.yaml: \(problem)", code: 1, files: ["c.yaml": yaml])
    }

    static let fixturesFiles: [Mistake] = [
        Mistake(
            "fixtures that are not there, checked", "config check --fixtures $here/nowhere.yaml",
            "$here/nowhere.yaml: cannot be read", code: 1),
        fixtures(
            "key of a fixture", "[{name: x, pasages: [y]}]",
            "fixtures, entry 1: 'pasages' is not known; did you mean 'passages'?"),
        fixtures(
            "fixture without a name", "[{name: x}, {text: y}]",
            "fixtures, entry 2: a fixture needs a name or a sha256"),
        fixtures(
            "fixture twice", "[{name: x}, {name: x}]",
            "the file: two fixtures have the name 'x'; rename one"),
        fixtures(
            "fixture with its prefix", "[{name: 'fixture:x'}]",
            """
            fixtures, entry 1: write a name without 'fixture:'; clients add that prefix to select the fixture
            """),
        fixtures("short sha256", "[{sha256: 9f86d081…}]", "fixtures, entry 1: a sha256 has 64 hex digits"),
        fixtures("endless delay", "[{name: x, delay: .inf}]", "fixtures, entry 1: a delay is 0 to 86400 seconds"),
        fixtures("negative delay", "[{name: x, delay: -1}]", "fixtures, entry 1: a delay is 0 to 86400 seconds"),
        fixtures("delay in words", "[{name: x, delay: long}]", "fixtures, entry 1, delay must be a number"),
        fixtures("passages as a text", "[{name: x, passages: y}]", "fixtures, entry 1, passages must be a list"),
        Mistake(
            "unknown failure", "\(start) --fixtures $here/f.yaml",
            .beginning("$here/f.yaml: fixtures, entry 1: 'foo' is not known; there are no_audio, "), code: 1,
            files: ["f.yaml": "fixtures: [{name: x, failure: foo}]"]),
        Mistake(
            "unknown request", "\(start) --fixtures $here/f.yaml",
            .beginning("$here/f.yaml: fixtures, entry 1: 'poll' is not known; there are init, upload, "), code: 1,
            files: ["f.yaml": "fixtures: [{name: x, refuses: [poll]}]"]),
    ]

    private static func fixtures(_ name: String, _ fixtures: String, _ problem: String) -> Mistake {
        Mistake(
            name, "\(start) --fixtures $here/f.yaml", "$here/f.yaml: \(problem)", code: 1,
            files: ["f.yaml": "fixtures: \(fixtures)"])
    }
}
