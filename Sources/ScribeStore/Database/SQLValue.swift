import Foundation

/// SQL value: an argument or a result of a statement.
enum SQLValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob(Data)
}

/// Swift type that a column can hold.
protocol SQLConvertible {
    var sqlValue: SQLValue { get }

    /// Reads a column's value.
    /// - Returns: nil for a column of another type.
    init?(sqlValue: SQLValue)
}

extension Int64: SQLConvertible {
    var sqlValue: SQLValue { .integer(self) }

    init?(sqlValue: SQLValue) {
        switch sqlValue {
        case .integer(let value): self = value
        case .real(let value): self.init(exactly: value)
        case .null, .text, .blob: return nil
        }
    }
}

extension Int: SQLConvertible {
    var sqlValue: SQLValue { .integer(Int64(self)) }

    init?(sqlValue: SQLValue) {
        guard let value = Int64(sqlValue: sqlValue) else { return nil }
        self.init(exactly: value)
    }
}

extension Bool: SQLConvertible {
    /// Integer 1 for true, 0 for false.
    var sqlValue: SQLValue { .integer(self ? 1 : 0) }

    init?(sqlValue: SQLValue) {
        guard let value = Int64(sqlValue: sqlValue) else { return nil }
        self = value != 0
    }
}

extension Double: SQLConvertible {
    var sqlValue: SQLValue { .real(self) }

    init?(sqlValue: SQLValue) {
        switch sqlValue {
        case .integer(let value): self.init(value)
        case .real(let value): self = value
        case .null, .text, .blob: return nil
        }
    }
}

extension String: SQLConvertible {
    var sqlValue: SQLValue { .text(self) }

    init?(sqlValue: SQLValue) {
        guard case .text(let value) = sqlValue else { return nil }
        self = value
    }
}

extension Data: SQLConvertible {
    var sqlValue: SQLValue { .blob(self) }

    init?(sqlValue: SQLValue) {
        guard case .blob(let value) = sqlValue else { return nil }
        self = value
    }
}

/// Maps nil to NULL.
extension Optional: SQLConvertible where Wrapped: SQLConvertible {
    var sqlValue: SQLValue { self?.sqlValue ?? .null }

    init?(sqlValue: SQLValue) {
        if sqlValue == .null {
            self = .none
        } else {
            guard let value = Wrapped(sqlValue: sqlValue) else { return nil }
            self = value
        }
    }
}

/// Arguments of a statement, in order: `[key.business.rawValue, now.milliseconds, nil]`.
struct SQLArguments: ExpressibleByArrayLiteral {
    let values: [SQLValue]

    init(arrayLiteral elements: (any SQLConvertible)?...) {
        // A map over the array itself would copy each value first.
        values = elements.withUnsafeBufferPointer { elements in
            elements.indices.map { elements[$0]?.sqlValue ?? .null }
        }
    }

    init(_ values: [SQLValue]) { self.values = values }

    /// Size of all texts in UTF-8, in bytes.
    var textSize: Int {
        values.reduce(into: 0) { size, value in if case .text(let text) = value { size += text.utf8.count } }
    }
}
