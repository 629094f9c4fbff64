extension Setting {
    /// All settings, in the order of `docs/configuration.md`. To add a setting, add an entry to one of these lists.
    static let all = place + speech + notes + access + behaviour + limits
}
