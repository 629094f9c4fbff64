import Basics
import Foundation
import Journal
import ScribeHTTP

/// Arguments of the process as other users of the machine see them.
enum ProcessArguments {
    /// Overwrites credentials with asterisks, once the arguments are copied. Does nothing where the
    /// system does not say where they are.
    static func hideCredentials() {
        guard let bytes = OperatingSystem.shownArguments else { return }
        let hidden = hidden(Array(bytes))
        bytes.copyBytes(from: hidden)
    }

    /// Arguments, each with a zero at its end, with asterisks in place of credentials: values of options that are named
    /// like one, and users of URLs.
    static func hidden(_ arguments: [UInt8]) -> [UInt8] {
        var hidden = arguments
        var isValue = false
        for word in arguments.indices.split(whereSeparator: { arguments[$0] == 0 }) {
            let (from, to) = (word.startIndex, word.endIndex)
            let bytes = arguments[from..<to]
            let isOption = bytes.starts(with: "--".utf8)
            let equals = isOption ? bytes.firstIndex(of: UInt8(ascii: "=")) : nil
            let value = isOption ? equals.map { $0 + 1 } ?? to : from
            let name = isOption ? bytes[(from + 2)..<(equals ?? to)] : []
            if isValue && !isOption || SecretMask.isCredential(name) && equals != nil {
                hidden.replaceSubrange(value..<to, with: repeatElement(UInt8(ascii: "*"), count: to - value))
            } else if let scheme = arguments[value..<to].firstRange(of: Array("://".utf8)),
                let at = arguments[scheme.upperBound..<to].prefix(while: { $0 != UInt8(ascii: "/") })
                    .lastIndex(of: UInt8(ascii: "@"))
            {
                let user = scheme.upperBound..<at
                hidden.replaceSubrange(user, with: repeatElement(UInt8(ascii: "*"), count: user.count))
            }
            isValue = SecretMask.isCredential(name) && equals == nil
        }
        return hidden
    }
}
