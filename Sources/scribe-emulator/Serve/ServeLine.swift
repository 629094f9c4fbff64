/// A command line of `serve` that is settings with their values and nothing else, as nearly all are.
///
/// ArgumentParser finds its flags by reflection, which costs a sixth of a start. It reads all other lines, with help,
/// completion and its explanations of mistakes.
struct ServeLine {
    /// The values of the given flags by the names of the flags, as ``SettingFlags/given``.
    private(set) var given: [String: String] = [:]
    /// The value of `--config`.
    private(set) var config: String?
    /// The value of `--exit-with-parent`.
    private(set) var exitWithParent: String?

    /// Reads a line.
    /// - Returns: nil for a line that ArgumentParser has to read.
    init?(_ arguments: [String]) {
        guard arguments.first == "serve" else { return nil }
        let settings = Dictionary(uniqueKeysWithValues: Setting.all.map { ($0.name, $0) })
        var rest = arguments.dropFirst()
        while let word = rest.popFirst() {
            guard word.hasPrefix("--") else { return nil }
            let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(parts[0])
            let setting = settings[name]
            if setting?.isSwitch == true {
                guard parts.count == 1, given.updateValue("true", forKey: name) == nil else { return nil }
                continue
            }
            guard let value = parts.count == 2 ? String(parts[1]) : rest.popFirst(), !value.isEmpty,
                !value.hasPrefix("-")
            else { return nil }
            switch (name, setting) {
            case ("config", _) where config == nil:
                guard let path = try? Setting.path(value) else { return nil }
                config = path
            case ("exit-with-parent", _) where exitWithParent == nil: exitWithParent = value
            case (_, let setting?) where setting.valueType.takesList:
                given[name] = given[name].map { "\($0),\(value)" } ?? value
            case (_, let setting?) where given[name] == nil:
                guard let text = setting.valueType == .path ? try? Setting.path(value) : value else { return nil }
                given[name] = text
            default: return nil
            }
        }
    }
}
