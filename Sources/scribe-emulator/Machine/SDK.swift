import ArgumentParser
import Basics
import Eka
import Omi
import ScribeDomain
import Suki

/// SDK that `doctor` knows, with its hosts and its trust settings.
enum SDK: String, ExpressibleByArgument, CaseIterable {
    case ios, android, web, python, dotnet, node, java, deepgram, suki, omi

    /// The hosts that the SDK connects to. There are several for S3, since versions differ.
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

    /// The hosts that name an S3 bucket, which gets the recordings.
    var bucketHosts: [String] { hosts.filter { AudioLocation.bucket(ofVirtualHost: $0) != nil } }

    /// The hosts that clients of the same regions use where they name the bucket in the path.
    var regionHosts: [String] { bucketHosts.compactMap { $0.split(ascii: ".", maxSplits: 1).last.map(String.init) } }

    /// Place where the SDK looks for trusted authorities.
    enum Trust {
        /// A file that the first set environment variable of these names; with `orSystem` also the system's store.
        case file([String], orSystem: Bool)
        /// A place that this machine cannot check, as on a phone. The text follows "whether the authority is trusted".
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

    /// Code that gives the SDK the server's base URL; nil if its hosts are compiled in.
    func baseURLStep(_ baseURL: String) -> String? {
        switch self {
        case .dotnet: "new EkaCareClient(…, baseUrl: \"\(baseURL)\")"
        case .deepgram:
            "DeepgramClientEnvironment(base=\"\(baseURL)\", production=\"\(Env.serverSocketURL(baseURL))\", agent=…)"
        default: nil
        }
    }

    /// Whether the SDK resolves its hosts on another machine, or in an emulator.
    var isElsewhere: Bool { [.android, .omi].contains(self) }
}
