/// The version of this program, as `CHANGELOG.md` lists it.
public enum ScribeVersion {
    public static let current = "0.1.0"
}
