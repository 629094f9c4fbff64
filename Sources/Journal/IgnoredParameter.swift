import Basics

/// Part of a request that the vendor's cloud would heed or refuse, and that has no effect here.
package struct IgnoredParameter: Hashable, Sendable {
    /// Name of a query parameter, header or field; never its value.
    package let name: String
    /// Remark on it, as a sentence without its subject: "is not emulated".
    package let problem: String

    package init(_ name: String, _ problem: String) {
        self.name = name
        self.problem = problem
    }
}

extension JournalRecord {
    /// Notes parts of the request that have no effect.
    package func note(_ ignored: [IgnoredParameter]) {
        update { exchange in
            exchange.ignored += ignored
            return ignored.total { $0.name.utf8.count + $0.problem.utf8.count + 32 }
        }
    }
}
