/// Number of the state that a database holds: 1 at first, one more with each reset and each restored snapshot.
extension Store {
    package func stateNumber() async throws -> Int {
        try await read { try $0.row("SELECT number FROM state")?["number"] ?? 1 }
    }

    package func setStateNumber(_ number: Int) async throws {
        try await database.write(.none) { try $0.run("UPDATE state SET number = ?", [number]) }
    }
}
