extension Mistake {
    private static let shortKey: Answer = """
        the signing key must be at least 32 bytes; SCRIBE_SIGNING_KEY or --signing-key-file gives a shorter one. \
        openssl rand -hex 32 prints a good one
        """

    /// Keys and certificates.
    static let keys: [Mistake] = [
        Mistake(
            "short signing key", "\(start) --signing-key-file $here/key", shortKey, code: 1,
            files: ["key": File(key: "hidden", mode: 0o600)]),
        Mistake(
            "short signing key, checked", "config check", shortKey, code: 1,
            environment: ["SCRIBE_SIGNING_KEY": "hidden"]),
        readableKey("admin-token", mode: 0o604),
        readableKey("suki-signing-key.pem", mode: 0o644),
        Mistake(
            "certificate that is not there", "\(start) --tls-certificate $here/c.pem --tls-key $here/k.pem",
            "TLS: $here/c.pem: there is no such file", code: 1),
        Mistake(
            "file without a certificate", "\(start) --tls-certificate $here/c.pem --tls-key $here/k.pem",
            "TLS: $here/c.pem holds no certificate in PEM form (-----BEGIN CERTIFICATE-----)", code: 1,
            files: ["c.pem": "nonsense", "k.pem": "hidden"]),
        authorities("empty file of authorities", ""),
        authorities("file without authorities", "no certificate"),
        Mistake(
            "home as the folder of the authority", "trust --tls-dir $here/home",
            "$here/home: others can read the folder, and it holds other files; name a new one with --tls-dir", code: 1,
            files: ["home/letter": "mine"]),
        Mistake(
            "file as the folder of the authority", "trust --tls-dir $here/file",
            "$here/file is a file, and a folder is expected; name another with --tls-dir", code: 1,
            files: ["file": ""]),
    ]

    /// A key in the data folder that others can read.
    private static func readableKey(_ name: String, mode: Int) -> Mistake {
        Mistake(
            "\(name) that others can read", "serve --port 0 --data-dir $here/data",
            """
            $here/data/\(name) is a key, and other users can read it. Run chmod 600 '$here/data/\(name)', \
            then start again
            """, code: 1, files: ["data/\(name)": File(mode: mode)])
    }

    private static func authorities(_ name: String, _ pem: File) -> Mistake {
        Mistake(
            name, "ready",
            "SCRIBE_OUTBOUND_CA: '$here/ca.pem' contains no PEM certificate (-----BEGIN CERTIFICATE-----)",
            files: ["ca.pem": pem], environment: ["SCRIBE_OUTBOUND_CA": "$here/ca.pem"])
    }

    static let dataFolders: [Mistake] = [
        Mistake(
            "file as the data folder", "serve --port 0 --data-dir $here/file",
            """
            $here/file cannot be used as the data folder: it is a file. Move it, or choose another folder with \
            --data-dir
            """, code: 1, files: ["file": ""]),
        Mistake(
            "data folder in a file", "serve --port 0 --data-dir $here/file/data",
            """
            $here/file/data cannot be used: a part of its path is a file. Fix this, or choose another folder with \
            --data-dir
            """, code: 1, files: ["file": ""]),
        Mistake(
            "somebody's folder as the data folder", "serve --port 0 --data-dir $here/data", somebodys, code: 1,
            files: ["data/private/letter": "mine"]),
        Mistake(
            "somebody's folder for exec", "exec --data-dir $here/data -- true", somebodys, code: 1,
            files: ["data/private/letter": "mine"]),
        Mistake(
            "authority in somebody's folder",
            "serve --port 0 --tls --tls-port 0 --tls-dir $here/data/tls --data-dir $here/data",
            somebodys, code: 1, files: ["data/private/letter": "mine"]),
        state(
            "state that is not there", "2\n", "leads to $here/data/states/2/scribe.sqlite, which is missing"),
        state("no state named", "\n", "is empty"),
        state("path as a state", "../other\n", "does not name a state"),
    ]

    /// A file that is long enough for a database.
    private static let database = File(stringLiteral: String(repeating: "x", count: 100))

    /// Content of the lock file of a data folder.
    private static let mark: File = "scribe-emulator data folder\n"

    /// About a folder that holds another program's folder `private` alone.
    private static let somebodys: Answer = """
        $here/data is not a data folder of scribe-emulator, and it holds private. Name an empty or a new folder with \
        --data-dir
        """

    /// A data folder whose file `current` leads to no state.
    private static func state(_ name: String, _ current: File, _ problem: String) -> Mistake {
        Mistake(
            name, "serve --port 0 --data-dir $here/data",
            """
            $here/data/current \(problem). Restore a backup into a new folder with scribe-emulator restore \
            --data-dir NEW-FOLDER FILE, or choose another folder with --data-dir
            """, code: 1, files: ["data/current": current, "data/lock": mark])
    }

    static let backups: [Mistake] = [
        Mistake(
            "backup of nothing", "backup $here/file --data-dir $here/nothing",
            "there is no scribe-emulator data in $here/nothing", code: 1),
        Mistake(
            "backup of a state that is not there", "backup $here/file --data-dir $here/data",
            """
            $here/data/current leads to $here/data/states/2/scribe.sqlite, which is missing. Restore a backup into a \
            new folder with scribe-emulator restore --data-dir NEW-FOLDER FILE, or choose another folder with \
            --data-dir
            """, code: 1, files: ["data/current": "2\n", "data/lock": mark]),
        Mistake(
            "backup of somebody's folder", "backup $here/file --data-dir $here/data",
            "there is no scribe-emulator data in $here/data", code: 1, files: ["data/private/letter": "mine"]),
        Mistake(
            "backup in the place of a letter", "backup $here/letter --data-dir $here/data",
            "$here/letter exists and is no backup, so it stays; name another file", code: 1,
            files: ["letter": "mine", "data/current": "1\n", "data/states/1/scribe.sqlite": database]),
        Mistake(
            "restore into somebody's folder", "restore $here/backup --data-dir $here/data", somebodys, code: 1,
            files: ["backup": "", "data/private/letter": "mine"]),
        Mistake(
            "backup with settings that are not there", "backup $here/file --config $here/nowhere.yaml",
            "$here/nowhere.yaml cannot be read; name another file with --config or SCRIBE_CONFIG"),
        Mistake(
            "restore of nothing", "restore $here/nowhere --data-dir $here/new", "$here/nowhere does not exist",
            code: 1),
    ]
}
