/// Optional member of an answer that decodes to nil if it has the wrong type.
struct Tolerant<Value: Decodable>: Decodable {
    let value: Value?

    init(from decoder: any Decoder) { value = try? Value(from: decoder) }
}
