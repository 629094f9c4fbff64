#if os(Linux)
    import Foundation

    /// Calls and readings that differ by operating system. `OperatingSystem+Darwin.swift` has those of macOS.
    package enum OperatingSystem {
        package static let isMac = false

        /// Type of a TCP socket, for `socket` and `getaddrinfo`.
        package static let streamSocket = Int32(SOCK_STREAM.rawValue)

        /// Opens a TCP socket that programs of this process do not get.
        /// - Returns: The descriptor; negative for a failure.
        package static func openStreamSocket(_ family: Int32) -> Int32 {
            socket(family, streamSocket | Int32(SOCK_CLOEXEC.rawValue), 0)
        }

        // MARK: Files

        /// Reserves room on the disk for a file of `size` bytes.
        /// - Returns: An error number; 0 for success.
        package static func allocate(_ size: Int, for file: Int32) -> Int32 { posix_fallocate(file, 0, off_t(size)) }

        /// Opens a file without a name, whose room returns when it is closed.
        /// - Returns: The descriptor; negative for a failure, also where the file system has no such files.
        package static func openUnnamedFile(in folder: String) -> Int32 {
            // O_TMPFILE, a macro that Swift does not import.
            open(folder, O_WRONLY | O_CLOEXEC | O_DIRECTORY | 0o20_000_000, 0o600)
        }

        /// Whether `fsync` leaves no bytes in the disk's own memory, where a power cut would lose them.
        package static let fsyncReachesDisk = true

        /// Writes a file to the disk itself.
        /// - Returns: 0 for success.
        package static func sync(_ file: Int32) -> Int32 { fsync(file) }

        package static func modificationTime(of file: stat) -> timespec { file.st_mtim }

        // MARK: This process

        /// CPU time, user and system, in seconds; nil if it cannot be read.
        package static var cpuSeconds: Double? {
            var usage = rusage()
            guard getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) == 0 else { return nil }
            return usage.ru_utime.seconds + usage.ru_stime.seconds
        }

        /// Memory in RAM, in bytes.
        package static var residentMemory: Int? {
            guard let status = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return nil }
            return status.split(separator: " ").dropFirst().first.flatMap { Int($0) }
                .map { $0 * sysconf(Int32(_SC_PAGESIZE)) }
        }

        /// Numbers of the open descriptors.
        package static var openFiles: [Int32]? {
            (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd"))?.compactMap(Int32.init)
        }

        package static var threadCount: Int? {
            (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task"))?.count
        }

        /// Start in seconds since 1970: the machine's boot time plus the ticks from boot to start.
        ///
        /// Not from `/proc/stat`, which systemd's `ProcSubset=pid` hides.
        package static var startTime: Double? {
            var (now, sinceBoot) = (timespec(), timespec())
            guard clock_gettime(CLOCK_REALTIME, &now) == 0, clock_gettime(CLOCK_BOOTTIME, &sinceBoot) == 0,
                let fields = statistics(of: "self"), fields.count > 19, let ticks = Double(fields[19])
            else { return nil }
            return (now.seconds - sinceBoot.seconds + ticks / Double(sysconf(CInt(_SC_CLK_TCK)))).rounded()
        }

        /// The present and the highest limit of open files; nil if they cannot be read.
        package static var fileLimit: rlimit? {
            var limit = rlimit()
            return getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 ? limit : nil
        }

        package static func setFileLimit(_ limit: rlimit) {
            var limit = limit
            _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        }

        /// The arguments as other users of the machine see them, each with a zero at its end.
        package static var shownArguments: UnsafeMutableRawBufferPointer? {
            // proc_pid_stat(5): `arg_start` and `arg_end` are fields 48 and 49.
            guard let fields = statistics(of: "self"), fields.count > 46, let first = UInt(fields[45]),
                let last = UInt(fields[46]), first < last, let start = UnsafeMutableRawPointer(bitPattern: first)
            else { return nil }
            return UnsafeMutableRawBufferPointer(start: start, count: Int(last - first))
        }

        /// Whether the process ignores a signal.
        package static func ignores(_ signal: Int32) -> Bool {
            var action = sigaction()
            sigaction(signal, nil, &action)
            return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
                == unsafeBitCast(SIG_IGN, to: Int.self)
        }

        /// Limits glibc to 4 arenas, and keeps up to 8 MB of free memory at the top of the heap.
        ///
        /// Buffers are filled on one thread and freed on another. With an arena for each thread, several arenas would
        /// keep memory for the same buffers. The next request needs the memory of the last one again, so returning the
        /// memory to the system costs more than keeping it (docs/decisions).
        package static func tuneMemory() {
            // `mallopt` and its parameters of `malloc.h`, which Swift's module of the C library leaves out.
            guard let symbol = dlsym(nil, "mallopt") else { return }
            typealias Mallopt = @convention(c) (CInt, CInt) -> CInt
            let mallopt = unsafeBitCast(symbol, to: Mallopt.self)
            let (trimThreshold, arenas): (CInt, CInt) = (-1, -8)
            _ = mallopt(arenas, 4)
            _ = mallopt(trimThreshold, 8 << 20)
        }

        /// Gives the memory of the program's code back. The system reads a page of it again when it runs, from its
        /// cache of the file.
        ///
        /// A start runs through most of the code once, and a server through a tenth of it: the runtime looks for each
        /// conformance among all (docs/decisions).
        package static func releaseCode() {
            guard let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"),
                let maps = try? String(contentsOfFile: "/proc/self/maps", encoding: .utf8)
            else { return }
            // Mappings to run are the file, byte for byte. The start has written addresses into others.
            for line in maps.split(separator: "\n") where line.hasSuffix(program) && line.contains(" r-xp ") {
                let ends = line.prefix { $0 != " " }.split(separator: "-").compactMap { UInt($0, radix: 16) }
                guard ends.count == 2, ends[0] < ends[1] else { continue }
                madvise(UnsafeMutableRawPointer(bitPattern: ends[0]), Int(ends[1] - ends[0]), MADV_DONTNEED)
            }
        }

        // MARK: Threads

        /// Name of the current thread; nil where it cannot be read, as without a free descriptor.
        package static var threadName: String? {
            try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
        }

        /// Names the current thread. Not by Foundation, which may leave a new thread with the name of an
        /// event loop.
        package static func nameThread(_ name: String) {
            try? FileHandle(forWritingAtPath: "/proc/thread-self/comm")?.write(contentsOf: Data(name.utf8))
        }

        // MARK: Other processes

        /// Start time of a process, in ticks after the start of the machine. Nil if the process has ended, also before
        /// its own parent has noticed that.
        package static func startTime(of process: pid_t) -> String? {
            guard let fields = statistics(of: String(process)) else { return nil }
            return fields.count > 19 && !["Z", "X"].contains(fields[0]) ? String(fields[19]) : nil
        }

        /// Fields of proc_pid_stat(5) from the third one on. The second is the program's name in parentheses, which may
        /// hold any characters.
        private static func statistics(of process: String) -> [Substring]? {
            guard let data = FileManager.default.contents(atPath: "/proc/\(process)/stat") else { return nil }
            return String(decoding: data, as: UTF8.self).split(separator: ")").last?.split(separator: " ")
        }
    }

    extension timeval {
        fileprivate var seconds: Double { Double(tv_sec) + Double(tv_usec) / 1_000_000 }
    }

    extension timespec {
        fileprivate var seconds: Double { Double(tv_sec) + Double(tv_nsec) / 1_000_000_000 }
    }
#endif
