#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// How the C library keeps the memory that is given back to it.
enum Memory {
    /// From `malloc.h`, which Swift's module of the C library leaves out.
    private enum Option: CInt {
        case trimThreshold = -1
        case arenas = -8
    }

    /// Buffers are filled on one thread and freed on another: with an arena for each they would be kept twice. And what
    /// a request needed the next one needs again, so it does not go back to the system each time (docs/decisions.md).
    static func tune() {
        guard let symbol = dlsym(nil, "mallopt") else { return }
        typealias Mallopt = @convention(c) (CInt, CInt) -> CInt
        let mallopt = unsafeBitCast(symbol, to: Mallopt.self)
        _ = mallopt(Option.arenas.rawValue, 2)
        _ = mallopt(Option.trimThreshold.rawValue, 8 << 20)
    }
}
