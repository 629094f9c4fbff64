import ArgumentParser
import Eka
import Omi
import ScribeDomain
import Suki

/// A kind of client that has its hosts compiled in.
enum SDK: String, ExpressibleByArgument, CaseIterable {
    case ios, android, web, python, dotnet, node, java, deepgram, suki, omi

    /// Where it asks; what it asks S3 depends on its version.
    var hosts: [String] {
        let production = ["api.eka.care", "cog.eka.care"]
        let bucket = "m-prod-voice-record"
        let batch = ["\(EkaFamily.batchBucket).s3.amazonaws.com"]
        switch self {
        case .ios: return production + ["s3.", "s3-"].map { "\(bucket).\($0)ap-south-1.amazonaws.com" }
        case .android:
            return production + ["s3.ap-south-1", "s3-us-west-1"].map { "\(bucket).\($0).amazonaws.com" }
        case .web:
            return ["api.eka.care", "cook.eka.care", "parchi.eka.care", "\(bucket).s3.ap-south-1.amazonaws.com"] + batch
        case .python, .dotnet, .node, .java: return ["api.eka.care"] + batch
        case .deepgram: return ["api.deepgram.com"]
        case .suki: return SukiFamily.hostNames
        case .omi: return OmiFamily.hostNames
        }
    }

    /// Those of its hosts that name a bucket: where it sends speech.
    var bucketHosts: [String] { hosts.filter { AudioLocation.bucket(ofVirtualHost: $0) != nil } }

    /// Where it looks for authorities that it trusts.
    enum Trust {
        /// In files that environment variables name, the first that is set; perhaps in the system's own too.
        case file([String], orSystem: Bool)
        /// It runs elsewhere, or keeps them where nothing of it can be seen.
        case unseen(String)
    }

    var trust: Trust {
        switch self {
        case .python: .file(["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"], orSystem: false)
        case .deepgram: .file(["SSL_CERT_FILE"], orSystem: true)
        case .node: .file(["NODE_EXTRA_CA_CERTS"], orSystem: false)
        case .dotnet: .file(["SSL_CERT_FILE"], orSystem: true)
        case .suki: .unseen("in the browser or on the phone")
        case .ios: .unseen("on the phone or in the simulator")
        case .android: .unseen("in the app and its emulator")
        case .omi: .unseen("on the phone")
        case .web: .unseen("in the browser")
        case .java: .unseen("in its trust store")
        }
    }

    /// How the SDK is given the server's base URL; nil where its hosts are compiled in.
    func baseURLStep(_ baseURL: String) -> String? {
        switch self {
        case .dotnet: "new EkaCareClient(…, baseUrl: \"\(baseURL)\")"
        case .deepgram:
            "DeepgramClientEnvironment(base=\"\(baseURL)\", production=\"\(Env.serverSocketURL(baseURL))\", agent=…)"
        default: nil
        }
    }

    /// Whether its hosts are looked up on another machine, or on what behaves like one.
    var isElsewhere: Bool { [.android, .omi].contains(self) }
}
