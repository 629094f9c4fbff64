/// What one task hands to another, in order. Who adds waits while there is too much of it.
actor LiveQueue<Element: Sendable> {
    private let limit: Int
    private var elements: [(element: Element, weight: Int)] = []
    private var weight = 0
    private var end: Result<Void, any Error>?
    private var reader: CheckedContinuation<Void, Never>?
    private var writers: [CheckedContinuation<Void, Never>] = []

    /// - Parameters:
    ///   - limit: how much may wait, all weights together.
    ///   - elements: what waits from the beginning, without weight.
    init(limit: Int, _ elements: [Element] = []) {
        self.limit = limit
        self.elements = elements.map { ($0, 0) }
    }

    /// Whether nothing waits to be taken.
    var isEmpty: Bool { elements.isEmpty }

    /// - Throws: with what the other side has ended, `CancellationError` when it has ended well.
    func add(_ element: Element, weight: Int = 0) async throws {
        try check()
        // Nothing is without weight, or there could be any number of it.
        let weight = max(weight, limit / 1000)
        elements.append((element, weight))
        self.weight += weight
        wake()
        while self.weight > limit, end == nil {
            await withCheckedContinuation { writers.append($0) }
        }
        try check()
    }

    private func check() throws {
        guard let end else { return }
        try end.get()
        throw CancellationError()
    }

    /// The next one, for one reader; nil at the end.
    func next() async -> Element? {
        while elements.isEmpty {
            guard end == nil else { return nil }
            await withCheckedContinuation { reader = $0 }
        }
        let first = elements.removeFirst()
        weight -= first.weight
        release()
        return first.element
    }

    /// Nothing more is added. What waits is still taken, unless it ends by an error.
    func finish(throwing error: (any Error)? = nil) {
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
