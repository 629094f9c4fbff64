import ScribeDomain
import Status
import Yams

/// `openapi/scribe.yaml` as JSON, with its members in the same order.
enum OpenAPIJSON {
    /// The document in UTF-8. The first access converts it, which takes too long for an event loop.
    static let bytes: [UInt8] = {
        let text = String(decoding: StatusFamily.openAPI, as: UTF8.self)
        guard let document = try? compose(yaml: text) else {
            preconditionFailure("openapi/scribe.yaml is no YAML")
        }
        return json(document).bytes
    }()

    /// Converts a YAML node to JSON.
    static func json(_ node: Node) -> JSON {
        switch node {
        case .mapping(let mapping):
            return .object(mapping.map { (name: $0.key.scalar?.string ?? "", value: json($0.value)) })
        case .sequence(let sequence): return .array(sequence) { json($0) }
        case .scalar(let scalar): return value(of: scalar.string, node)
        case .alias: return .null
        }
    }

    private static func value(of text: String, _ node: Node) -> JSON {
        switch node.tag.rawValue {
        case "tag:yaml.org,2002:null": .null
        case "tag:yaml.org,2002:bool": node.bool.map(JSON.bool) ?? .string(text)
        case "tag:yaml.org,2002:int": node.int.map { JSON.integer($0) } ?? .string(text)
        case "tag:yaml.org,2002:float": node.float.map(JSON.number) ?? .string(text)
        default: .string(text)
        }
    }
}
