import ArgumentParser

/// Steps by which each kind of client trusts the development authority.
struct TrustSteps {
    /// The path of the authority's certificate, a PEM file.
    let path: String

    /// Kind of client, by its name in `trust --for`.
    enum Client: String, CaseIterable, ExpressibleByArgument {
        case shell, debian, mac, windows, java, chromium, firefox, ios, android
        case iosSimulator = "ios-simulator"
        case androidSystem = "android-system"
    }

    /// Title and steps of one kind of client.
    struct Kind {
        let client: Client
        let title: String
        let steps: [String]
    }

    var text: String {
        let introduction = """
            This machine's development authority: \(path)

            It can issue certificates for servers only: for the SDKs' hosts, localhost and addresses of this machine.
            Remove it from your clients when you no longer need it.


            """
        return introduction
            + kinds.map { kind in
                kind.title + "\n" + kind.steps.map { $0.isEmpty ? "" : "  \($0)" }.joined(separator: "\n") + "\n"
            }.joined(separator: "\n")
    }

    /// The steps of one kind of client, which begin with the download of the certificate to ``path``.
    func text(for client: Client, fetchedFrom url: String) -> String {
        kinds.filter { $0.client == client }.map { kind in
            (["# \(kind.title)", "curl -fsSo \(path) \(url)"] + kind.steps).joined(separator: "\n") + "\n"
        }.joined()
    }

    var kinds: [Kind] {
        [
            Kind(
                client: .shell,
                title: "curl, Python (requests, boto3, httpx, websockets), Node, .NET and Go on Linux",
                steps: [
                    "curl --cacert \(path) …",
                    "export REQUESTS_CA_BUNDLE=\(path) AWS_CA_BUNDLE=\(path) SSL_CERT_FILE=\(path)",
                    "export NODE_EXTRA_CA_CERTS=\(path)",
                    "All but Node's replace the usual authorities: programs in this shell trust no other.",
                ]),
            Kind(
                client: .debian,
                title: "All of a Debian or Ubuntu machine, or of a container",
                steps: [
                    "sudo install -m 644 \(path) /usr/local/share/ca-certificates/scribe-emulator.crt && sudo update-ca-certificates"
                ]),
            Kind(
                client: .mac,
                title: "All of a Mac: Safari, Chrome, Xcode's tools, .NET",
                steps: [
                    "security add-trusted-cert -r trustRoot -k ~/Library/Keychains/login.keychain-db \(path)"
                ]),
            Kind(
                client: .windows,
                title: "All of a Windows machine", steps: ["certutil -user -addstore Root \(path)"]),
            Kind(
                client: .java,
                title: "Java, Kotlin on the JVM",
                steps: [
                    "keytool -importcert -noprompt -alias scribe-emulator -file \(path) -storepass changeit \\",
                    "  -keystore scribe.p12 -storetype PKCS12",
                    "java -Djavax.net.ssl.trustStore=scribe.p12 -Djavax.net.ssl.trustStorePassword=changeit …",
                    "Java then trusts no other authority. To add it to the usual ones, use -cacerts in place of -keystore and -storetype.",
                ]),
            Kind(
                client: .chromium,
                title: "Chromium and Chrome on Linux (certutil is in libnss3-tools)",
                steps: [
                    "mkdir -p ~/.pki/nssdb",
                    "certutil -d sql:$HOME/.pki/nssdb -A -t C,, -n scribe-emulator -i \(path)",
                ]),
            Kind(
                client: .firefox,
                title: "Firefox, which has a store of its own",
                steps: [
                    "Settings > Privacy & Security > Certificates > View Certificates > Authorities > Import: \(path)"
                ]),
            Kind(
                client: .iosSimulator,
                title: "iOS simulator, which takes hosts and network from its Mac",
                steps: ["xcrun simctl keychain booted add-root-cert \(path)"]),
            Kind(
                client: .ios,
                title: "iPhone and iPad",
                steps: [
                    "1. Start with --host 0.0.0.0 --allow-unverified-tokens-from-network, and open http://THIS-MACHINE:8087/ca.pem in",
                    "   Safari there; or send the file by AirDrop.",
                    "2. Settings > General > VPN & Device Management: install the profile.",
                    "3. Settings > General > About > Certificate Trust Settings: switch it on.",
                    "You cannot change the phone's hosts file. Run a DNS server, such as",
                    "  scribe-emulator hosts --address THIS-MACHINE >scribe-hosts && sudo dnsmasq -d -h --addn-hosts=scribe-hosts",
                    "and name it under Settings > Wi-Fi > (i) > Configure DNS > Manual. Phones use port 443: add --tls-port 443.",
                ]),
            Kind(
                client: .android,
                title: "Android emulator and device, an app whose debug build you can change",
                steps: [
                    "1. adb push \(path) /sdcard/Download/ca.pem; Settings > Security > Encryption & credentials > Install a",
                    "   certificate > CA certificate.",
                    "2. Add res/xml/network_security_config.xml, and name it in the manifest by android:networkSecurityConfig. Debug",
                    "   builds then trust authorities that you installed:",
                    "     <network-security-config><debug-overrides><trust-anchors>",
                    "       <certificates src=\"user\" />",
                    "     </trust-anchors></debug-overrides></network-security-config>",
                ]),
            Kind(
                client: .androidSystem,
                title:
                    "Android emulator, an app that you cannot change (an image without Google Play, API 33 or lower)",
                steps: [
                    "Start it with emulator -avd NAME -writable-system, then add the authority to the system's own:",
                    "  adb root && adb shell avbctl disable-verification && adb reboot && adb wait-for-device",
                    "  adb root && adb remount",
                    "  adb push \(path) /system/etc/security/cacerts/$(openssl x509 -subject_hash_old -noout -in \(path)).0",
                    "  scribe-emulator hosts >scribe-hosts && adb push scribe-hosts /system/etc/hosts",
                    "  adb reverse tcp:443 tcp:8443",
                    "The last two lines point the SDK's hosts to this server, also for the app above.",
                ]),
        ]
    }
}
