import Basics
import Synchronization

/// Names of new objects: a beginning of the process's own, and a number. So the database adds them to one place of its
/// index.
final class ObjectNames: Sendable {
    /// Beginning of all names: 62 random bits, so that no other process makes the same name.
    let beginning: String
    private let count = Atomic<Int>(0)

    init(_ identifiers: IdentifierSource) { beginning = "\(identifiers.uuid().suffix(beginningLength - 1))." }

    func next() -> String {
        let number = count.wrappingAdd(1, ordering: .relaxed).newValue
        let digits = String(number, radix: 16)
        return beginning + String(repeating: "0", count: max(0, numberLength - digits.utf8.count)) + digits
    }

    /// Whether a name is one that any process may have made.
    static func isMade(_ name: String) -> Bool {
        let bytes = Array(name.utf8)
        return bytes.count >= beginningLength + numberLength
            && bytes.enumerated().allSatisfy { index, byte in
                switch index {
                case 4: byte == UInt8(ascii: "-")
                case beginningLength - 1: byte == UInt8(ascii: ".")
                default: Hex.value(byte) != nil
                }
            }
    }
}

private let beginningLength = 18
private let numberLength = 8
