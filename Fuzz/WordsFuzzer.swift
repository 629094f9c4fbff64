import Basics
import Foundation
import ScribeDomain

@testable import Eka
@testable import S3
@testable import ScribeHTTP

/// The short texts that clients send: tokens, ids, names, times, places and ranges.
@Sendable func fuzzWords(_ data: Data) {
    let text = String(decoding: data, as: UTF8.self)
    _ = UnverifiedToken(text)
    _ = ConfigRoutes.isAlias(text)
    _ = TransactionID.isValidFolder(text)
    _ = TemplateID.isValid(text)
    _ = chunkOrdinal(ofFile: text)
    _ = AudioLocation(url: text)
    _ = AudioLocation.bucket(ofVirtualHost: text)
    _ = try? ByteRange(text, of: data.count)
    _ = ParameterisedValue(text)
    if let seconds = ChunkTimes.seconds(from: text) { require(seconds.isFinite && seconds >= 0, "a time is one") }
    let marks = CombiningMarks.areTooMany(in: data)
    require(marks == CombiningMarks.areTooMany(in: Array(data)), "a slice reads as the whole does")
    let parts = text.split(separator: "\n", maxSplits: 1)
    if parts.count == 2 { _ = try? S3Address(host: String(parts[0]), path: String(parts[1])) }
}
