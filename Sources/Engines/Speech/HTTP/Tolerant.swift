/// A part of an answer that may be anything: nil when it is not what it should be.
struct Tolerant<Value: Decodable>: Decodable {
    let value: Value?

    init(from decoder: any Decoder) { value = try? Value(from: decoder) }
}
