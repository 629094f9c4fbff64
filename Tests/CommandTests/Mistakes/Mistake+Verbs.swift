extension Mistake {
    /// Mistyped commands, options and arguments.
    static let verbs: [Mistake] = [
        Mistake(
            "unknown verb of webhooks", "webhooks lst",
            "unknown command 'lst'; did you mean 'list'? 'scribe-emulator webhooks --help' lists all"),
        Mistake(
            "unknown verb of config", "config chek",
            "unknown command 'chek'; did you mean 'check'? 'scribe-emulator config --help' lists all"),
        Mistake(
            "help of an unknown verb", "help docter",
            "unknown command 'docter'; did you mean 'doctor'? 'scribe-emulator --help' lists all"),
        Mistake(
            "option before the verb", "--admin-token=hidden serve",
            "'--admin-token' is an option of serve: scribe-emulator serve --admin-token …"),
        Mistake("unknown option of the command", "--verison", "Unknown option '--verison'"),
        Mistake("unknown option of serve", "serve --prot 1", "Unknown option '--prot'. Did you mean '--port'?"),
        Mistake("unknown option of env", "env --ulr x", "Unknown option '--ulr'. Did you mean '--url'?"),
        Mistake("backup of an address", "backup file --url \(nobody)", "Unknown option '--url'"),
        Mistake("option without its value", "env --url", "Missing value for '--url <url>'"),
        Mistake(
            "value for a switch", "ready --wait=yes",
            "The option '--wait' does not take any value, but 'yes' was specified."),
        Mistake("backup without a file", "backup", "Missing expected argument '<file>'"),
        Mistake("test of no webhook", "webhooks test", "Missing expected argument '<webhook>'"),
    ]

    /// Options and arguments of `note`.
    static let notes: [Mistake] = [
        Mistake(
            "unknown template", "note --template nobody",
            .beginning("--template: 'nobody' is not one of clinical_notes_template, ")),
        Mistake(
            "unknown section", "note --section Horoscope",
            .beginning("--section: 'Horoscope' is not one of Chief Complaints, ")),
        Mistake(
            "section in the environment", "note", .beginning("SECTION: 'Horoscope' is not one of Chief Complaints, "),
            environment: ["SECTION": "Horoscope"]),
        Mistake(
            "format of a note", "note --format pdf",
            "--format: 'pdf' is not one of markdown, json, eka_emr, fhir, transcript"),
        Mistake(
            "file of a transcript", "note $here/visit.txt", "Unexpected argument '$here/visit.txt'",
            files: ["visit.txt": "hidden"]),
    ]

    /// Steps of `trust` and `hosts`.
    static let trust: [Mistake] = [
        Mistake(
            "client that trusts nothing", "trust --for amiga",
            "The value 'amiga' is invalid for '--for <for>'. Please provide one of the following:"),
        Mistake(
            "names of the certificate", "trust --tls-name 'a b'",
            "--tls-name: 'a b' contains 'a b'; write hosts such as scribe.test, or addresses"),
        Mistake(
            "hosts that lead to a name", "hosts --address localhost",
            "--address: 'localhost' is not an IP address; write for example 127.0.0.1"),
        Mistake(
            "hosts file that is not there", "hosts --write --file $here/nowhere",
            "$here/nowhere cannot be read; name the hosts file with --file", code: 1),
        Mistake(
            "hosts file that is cut", "hosts --remove --file $here/hosts",
            """
            $here/hosts has only one of the two lines '# scribe-emulator: begin' and '# scribe-emulator: end'; \
            remove our lines by hand
            """, code: 1, files: ["hosts": "127.0.0.1 localhost\n# scribe-emulator: end\n"]),
        Mistake(
            "hosts with settings that are not there",
            "hosts --write --file $here/hosts --config $here/nowhere.yaml",
            "$here/nowhere.yaml cannot be read; name another file with --config or SCRIBE_CONFIG",
            files: ["hosts": "127.0.0.1 localhost\n"]),
    ]
}
