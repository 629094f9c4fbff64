import Basics
import ScribeHTTP

/// `{"error": "<code>", "message": "<sentence>"}`.
struct HelloErrors: ErrorTable {
    func envelope(_ refusal: Refusal, _ context: ScribeContext) -> JSON {
        ["error": .string(refusal.code), "message": .string(refusal.message)]
    }
}
