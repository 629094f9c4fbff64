/// Keeps what `body` returns or throws. Work that must follow either may then suspend, which it cannot in `defer`.
package func outcome<Value>(of body: () async throws -> Value) async -> Result<Value, any Error> {
    do {
        return .success(try await body())
    } catch {
        return .failure(error)
    }
}
