/// Facts about an exchange that layers note while it is recorded.
extension JournalRecord {
    /// Notes the body of the answer; nil for none.
    package func note(answer body: RecordedBody?) {
        update { exchange in
            exchange.set(responseBody: body)
            return body?.memory ?? 0
        }
    }

    package func note(reason: String) {
        update { exchange in
            exchange.reason = reason
            return reason.utf8.count
        }
    }

    /// Names the fault rules that were applied to the request.
    package func note(fault: String) {
        update { exchange in
            // The fault may have changed it.
            exchange.set(responseBody: nil)
            exchange.fault = fault
            return 0
        }
    }
}
