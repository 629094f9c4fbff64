#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Settings of the C library's allocator.
enum Memory {
    /// Parameters of `mallopt` from `malloc.h`, which Swift's module of the C library leaves out.
    private enum Option: CInt {
        case trimThreshold = -1
        case arenas = -8
    }

    /// Limits glibc to 2 arenas, and keeps up to 8 MB of free memory at the top of the heap.
    ///
    /// Buffers are filled on one thread and freed on another. With an arena for each thread, several arenas would keep
    /// memory for the same buffers. The next request needs the memory of the last one again, so returning the memory to
    /// the system costs more than keeping it (docs/decisions).
    static func tune() {
        guard let symbol = dlsym(nil, "mallopt") else { return }
        typealias Mallopt = @convention(c) (CInt, CInt) -> CInt
        let mallopt = unsafeBitCast(symbol, to: Mallopt.self)
        _ = mallopt(Option.arenas.rawValue, 2)
        _ = mallopt(Option.trimThreshold.rawValue, 8 << 20)
    }
}
