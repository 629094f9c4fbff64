import TestSupport
import Testing

@testable import ScribeStore

/// Two writes at once on PostgreSQL, and writes that PostgreSQL interrupts. `make scale-test` runs them.
struct ConcurrentWritesTests {
    /// Results of writes, and all rows after them.
    private struct Outcome: Equatable {
        let results: [String]
        let rows: [String]

        /// Results and rows that differ from those of another outcome, as a text.
        func difference(from other: Outcome) -> String {
            let (mine, theirs) = (Set(rows), Set(other.rows))
            return "\(results), not \(other.results); \(mine.subtracting(theirs).sorted()), "
                + "not \(theirs.subtracting(mine).sorted())"
        }
    }

    @Test(
        "two writes at once end as one after the other do on SQLite, whatever the second is",
        .enabled(if: TestDatabase.isPostgreSQL, "needs SCRIBE_TEST_DATABASE"),
        arguments: TriedWrite.all, TriedData.Stage.allCases)
    func pairs(first: TriedWrite, stage: TriedData.Stage) async throws {
        let start = try #require(TriedWrite.all.firstIndex { $0.name == first.name })
        for second in TriedWrite.all[start...] {
            let data = try await TriedData(stage, onSQLite: false)
            data.engine?.begin(.pause)
            async let one = first.run(on: data)
            async let other = second.run(on: data)
            let results = await [one, other]
            data.engine?.end()
            let found = Outcome(results: results, rows: try await data.rows())
            try data.store.close()
            let forwards = try await serial(first, second, stage)
            guard found != forwards else { continue }
            let backwards = try await serial(second, first, stage)
            let expected = Outcome(results: backwards.results.reversed(), rows: backwards.rows)
            let isSerial = found == expected
            #expect(
                isSerial,
                "\(second.name): \(found.difference(from: forwards)), or \(found.difference(from: expected))")
        }
    }

    @Test(
        "a write that PostgreSQL interrupts at any statement ends as if it had not been interrupted",
        .enabled(if: TestDatabase.isPostgreSQL, "needs SCRIBE_TEST_DATABASE"),
        arguments: TriedWrite.all, TriedData.Stage.allCases)
    func interrupted(write: TriedWrite, stage: TriedData.Stage) async throws {
        let undisturbed = try await TriedData(stage, onSQLite: false)
        let result = await write.run(on: undisturbed)
        let expected = Outcome(results: [result], rows: try await undisturbed.rows())
        try undisturbed.store.close()
        for error in [PostgreSQLError.refused(state: "40001"), .disconnected] {
            for statement in 1... {
                let data = try await TriedData(stage, onSQLite: false)
                data.engine?.begin(.fail(error, statement: statement))
                let result = await write.run(on: data)
                let hasFailed = data.engine?.end() ?? false
                let found = Outcome(results: [result], rows: try await data.rows())
                let isSame = found == expected
                #expect(isSame, "\(error) at \(statement): \(found.difference(from: expected))")
                try data.store.close()
                // The write has fewer statements.
                guard hasFailed else { break }
            }
        }
    }

    private func serial(_ first: TriedWrite, _ second: TriedWrite, _ stage: TriedData.Stage) async throws -> Outcome {
        let data = try await TriedData(stage, onSQLite: true)
        let results = [await first.run(on: data), await second.run(on: data)]
        return Outcome(results: results, rows: try await data.rows())
    }
}
