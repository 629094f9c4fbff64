import ScribeDomain

extension Delivery.State {
    /// The state in the words of the console.
    var word: String {
        switch self {
        case .pending: "To come"
        case .sending: "Sending"
        case .delivered: "Delivered"
        case .failed: "Gave up"
        }
    }

    /// Class of the style sheet.
    var style: String {
        switch self {
        case .pending: "stuck"
        case .sending: "run"
        case .delivered: "done"
        case .failed: "fail"
        }
    }
}
