/// Bounded queue from one task to another. A writer waits while the queue is full.
package actor BoundedQueue<Element: Sendable> {
    private let limit: Int
    private var elements: [(element: Element, weight: Int)] = []
    private var weight = 0
    private var end: Result<Void, any Error>?
    private var reader: CheckedContinuation<Void, Never>?
    private var writers: [CheckedContinuation<Void, Never>] = []

    /// Creates a queue.
    /// - Parameters:
    ///   - limit: largest total weight of the waiting elements.
    ///   - elements: elements that wait from the beginning, without weight.
    package init(limit: Int, _ elements: [Element] = []) {
        self.limit = limit
        self.elements = elements.map { ($0, 0) }
    }

    /// Whether no element waits.
    package var isEmpty: Bool { elements.isEmpty }

    /// Appends an element, then waits until the queue has room.
    /// - Throws: error with which the queue was finished; `CancellationError` if it was finished without one, or if the
    ///   task is cancelled while it waits.
    package func add(_ element: Element, weight: Int = 0) async throws {
        try check()
        // Every element has a weight, otherwise any number of them could wait.
        let weight = max(weight, limit / 1000)
        elements.append((element, weight))
        self.weight += weight
        wake()
        while self.weight > limit, end == nil {
            try Task.checkCancellation()
            await withTaskCancellationHandler {
                await withCheckedContinuation { writers.append($0) }
            } onCancel: {
                Task { await release() }
            }
        }
        try check()
    }

    private func check() throws {
        guard let end else { return }
        try end.get()
        throw CancellationError()
    }

    /// Takes the next element, for a single reader; nil after the end.
    package func next() async -> Element? {
        while elements.isEmpty {
            guard end == nil else { return nil }
            await withCheckedContinuation { reader = $0 }
        }
        let first = elements.removeFirst()
        weight -= first.weight
        release()
        return first.element
    }

    /// Closes the queue for writers. Waiting elements can still be taken, unless the queue ends with an error.
    package func finish(throwing error: (any Error)? = nil) {
        if error != nil { elements = [] }
        if end == nil { end = error.map { .failure($0) } ?? .success(()) }
        wake()
        release()
    }

    private func wake() {
        reader?.resume()
        reader = nil
    }

    private func release() {
        let waiting = writers
        writers = []
        for writer in waiting { writer.resume() }
    }
}
