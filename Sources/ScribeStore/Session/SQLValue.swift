import Foundation

/// A value of a column: what a statement is given and what it answers.
enum SQLValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob(Data)
}

/// A Swift value that a column can hold.
protocol SQLConvertible {
    var sqlValue: SQLValue { get }

    /// - Returns: nil for a column that holds something else.
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
    /// 1 or 0.
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

/// NULL is nil.
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

/// The values of a statement's parameters, in order: `[key.business.rawValue, now.milliseconds, nil]`.
struct SQLArguments: ExpressibleByArrayLiteral {
    let values: [SQLValue]

    init(arrayLiteral elements: (any SQLConvertible)?...) {
        values = elements.map { $0?.sqlValue ?? .null }
    }

    init(_ values: [SQLValue]) { self.values = values }
}
