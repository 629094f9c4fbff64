extension Duration {
    /// Reads `14`, `14s`, `0.5s`, `500ms`, `2m`, `12h` and `30d`; a bare number is in seconds.
    init?(setting text: String) {
        let units: [(suffix: String, seconds: Double)] = [
            ("ms", 0.001), ("s", 1), ("m", 60), ("h", 3600), ("d", 86_400), ("", 1),
        ]
        for unit in units where text.hasSuffix(unit.suffix) {
            guard let number = Double(text.dropLast(unit.suffix.count)), number.isFinite,
                (0...86_400 * 366).contains(number * unit.seconds)
            else { return nil }
            self = .seconds(number * unit.seconds)
            return
        }
        return nil
    }
}
