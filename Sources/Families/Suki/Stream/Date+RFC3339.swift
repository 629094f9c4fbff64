import Basics
import Foundation

extension Date {
    /// Parses an RFC 3339 time, with any number of fractional digits; nil for any other text.
    init?(rfc3339 text: String) {
        let bytes = Array(text.utf8)
        guard (20...64).contains(bytes.count), let day = CalendarDay(String(decoding: bytes[..<10], as: UTF8.self)),
            [UInt8(ascii: "T"), UInt8(ascii: "t")].contains(bytes[10]), bytes[13] == UInt8(ascii: ":"),
            bytes[16] == UInt8(ascii: ":"), let hour = Self.number(bytes[11...12], upTo: 23),
            let minute = Self.number(bytes[14...15], upTo: 59), let second = Self.number(bytes[17...18], upTo: 60)
        else { return nil }
        var rest = bytes[19...]
        var fraction = 0.0
        if rest.first == UInt8(ascii: ".") {
            let digits = rest.dropFirst().prefix(while: \.isDigit)
            guard !digits.isEmpty, let value = Double("0.\(String(decoding: digits, as: UTF8.self))") else {
                return nil
            }
            fraction = value
            rest = rest.dropFirst(digits.count + 1)
        }
        guard let offset = Self.offset(Array(rest)) else { return nil }
        let seconds = ((day.daysSince1970 * 24 + hour) * 60 + minute - offset) * 60 + second
        self.init(timeIntervalSince1970: Double(seconds) + fraction)
    }

    /// Parses a zone; its offset from UTC in minutes.
    private static func offset(_ zone: [UInt8]) -> Int? {
        if [[UInt8(ascii: "Z")], [UInt8(ascii: "z")]].contains(zone) { return 0 }
        guard zone.count == 6, zone[3] == UInt8(ascii: ":"), let hours = number(zone[1...2], upTo: 23),
            let minutes = number(zone[4...5], upTo: 59)
        else { return nil }
        switch zone[0] {
        case UInt8(ascii: "+"): return hours * 60 + minutes
        case UInt8(ascii: "-"): return -(hours * 60 + minutes)
        default: return nil
        }
    }

    private static func number(_ digits: ArraySlice<UInt8>, upTo limit: Int) -> Int? {
        digits.number.flatMap { $0 <= limit ? $0 : nil }
    }
}
