import Foundation
import ScribeDomain

@testable import Eka
@testable import S3
@testable import ScribeHTTP
@testable import ScribeStore

/// The bodies of init, stop and commit.
@Sendable func fuzzJSON(_ data: Data) {
    if let request = try? JSONDecoder().decode(InitBody.self, from: data).validated(flavour: "web", isStrict: false) {
        // The request is stored as JSON and compared with a replayed one.
        let stored = try? StoredJSON.request(StoredJSON.text(request))
        require(stored == request, "a request is stored without loss")
        _ = request.fixture
    }
    if let list = try? JSONDecoder().decode(ChunkListBody.self, from: data).list {
        require(list.files.allSatisfy { !$0.isEmpty && $0.isPlain }, "files have names")
        require(list.times.values.allSatisfy { $0.start.isFinite && $0.end.isFinite }, "times are numbers")
        for file in list.files { _ = chunkOrdinal(ofFile: file) }
    }
}
