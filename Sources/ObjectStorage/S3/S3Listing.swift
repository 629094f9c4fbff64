import Foundation

/// Keys of a ListObjectsV2 answer, with their last writes.
struct S3Listing {
    private(set) var objects: [(key: String, writtenAt: Date)] = []

    init(_ text: String) {
        // The answers have one form, and neither comments nor attributes in an object.
        for part in text.components(separatedBy: "<Contents>").dropFirst() {
            guard let key = Self.text(of: "Key", in: part), let time = Self.text(of: "LastModified", in: part),
                let date = Self.date(time)
            else { continue }
            objects.append((key, date))
        }
    }

    private static func text(of element: String, in part: String) -> String? {
        guard let start = part.range(of: "<\(element)>"), let end = part.range(of: "</\(element)>") else { return nil }
        return String(part[start.upperBound..<end.lowerBound])
    }

    private static func date(_ text: String) -> Date? {
        (try? Date(text, strategy: .iso8601.year().month().day().time(includingFractionalSeconds: true)))
            ?? (try? Date(text, strategy: .iso8601))
    }
}
