import Foundation
package import HTTPTypes

extension HTTPFields {
    /// Value of a field, as the subscript returns it. A field that occurs once, as most do, is found three times as
    /// fast.
    /// - Parameter separator: Text between the values of a field that occurs again; nil for that of the subscript.
    package func value(of name: HTTPField.Name, separator: String? = nil) -> String? {
        let length = name.rawName.utf8.count
        var value: String?
        // Most names have another length, which is compared faster than names.
        for field in self where field.name.rawName.utf8.count == length && field.name == name {
            guard value == nil else {
                return separator.map { self[values: name].joined(separator: $0) } ?? self[name]
            }
            value = field.value
        }
        return value
    }
}

extension HTTPFields {
    /// Whether the headers ask to switch to WebSocket.
    var wantsWebSocket: Bool {
        self[.upgrade]?.lowercased() == "websocket"
            && self[values: .connection].contains { value in
                value.lowercased().split(separator: ",").contains {
                    $0.trimmingCharacters(in: .whitespaces) == "upgrade"
                }
            }
    }
}
