import Basics

/// A value of any type in a client's model.
struct ClientValue: Decodable {
    let value: JSONValue

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            value = .null
        } else if let isTrue = try? container.decode(Bool.self) {
            value = .bool(isTrue)
        } else if let integer = try? container.decode(Int64.self) {
            value = .integer(integer)
        } else if let number = try? container.decode(Double.self) {
            value = .number(number)
        } else if let text = try? container.decode(String.self) {
            value = .string(text)
        } else if let members = try? container.decode([String: ClientValue].self) {
            value = .object(members.mapValues(\.value))
        } else {
            value = .array(try container.decode([ClientValue].self).map(\.value))
        }
    }
}
