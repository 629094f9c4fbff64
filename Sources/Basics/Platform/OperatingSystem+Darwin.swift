#if canImport(Darwin)
    import Foundation

    /// Calls and readings that differ by operating system. `OperatingSystem+Linux.swift` says what each one is for.
    ///
    /// Written by Apple's headers; no Mac has run it yet.
    package enum OperatingSystem {
        package static let isMac = true

        package static let streamSocket = SOCK_STREAM

        package static func openStreamSocket(_ family: Int32) -> Int32 {
            let file = socket(family, SOCK_STREAM, 0)
            if file >= 0 { _ = fcntl(file, F_SETFD, FD_CLOEXEC) }
            return file
        }

        // MARK: Files

        package static func allocate(_ size: Int, for file: Int32) -> Int32 {
            var room = fstore_t(
                fst_flags: UInt32(F_ALLOCATEALL), fst_posmode: F_PEOFPOSMODE, fst_offset: 0, fst_length: off_t(size),
                fst_bytesalloc: 0)
            guard fcntl(file, F_PREALLOCATE, &room) != -1, ftruncate(file, off_t(size)) == 0 else { return errno }
            return 0
        }

        package static func openUnnamedFile(in folder: String) -> Int32 {
            var path = Array("\(folder)/.scribe-XXXXXX".utf8CString)
            let file = mkostemp(&path, O_CLOEXEC)
            if file >= 0 { unlink(path) }
            return file
        }

        package static let fsyncReachesDisk = false

        package static func sync(_ file: Int32) -> Int32 {
            fcntl(file, F_FULLFSYNC) == -1 ? fsync(file) : 0
        }

        package static func modificationTime(of file: stat) -> timespec { file.st_mtimespec }

        // MARK: This process

        package static var cpuSeconds: Double? {
            var usage = rusage()
            guard getrusage(RUSAGE_SELF, &usage) == 0 else { return nil }
            return usage.ru_utime.seconds + usage.ru_stime.seconds
        }

        package static var residentMemory: Int? { taskInformation.map { Int($0.pti_resident_size) } }

        package static var openFiles: [Int32]? {
            (try? FileManager.default.contentsOfDirectory(atPath: "/dev/fd"))?.compactMap { Int32($0) }
        }

        package static var threadCount: Int? { taskInformation.map { Int($0.pti_threadnum) } }

        private static var taskInformation: proc_taskinfo? {
            var information = proc_taskinfo()
            let size = Int32(MemoryLayout<proc_taskinfo>.size)
            return proc_pidinfo(getpid(), PROC_PIDTASKINFO, 0, &information, size) == size ? information : nil
        }

        package static var startTime: Double? {
            information(of: getpid()).map {
                Double($0.pbi_start_tvsec) + (Double($0.pbi_start_tvusec) / 1_000_000).rounded()
            }
        }

        package static var fileLimit: rlimit? {
            var limit = rlimit()
            return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit : nil
        }

        package static func setFileLimit(_ limit: rlimit) {
            // getrlimit(2): more than OPEN_MAX is refused.
            var limit = limit
            limit.rlim_cur = min(limit.rlim_cur, rlim_t(OPEN_MAX))
            _ = setrlimit(RLIMIT_NOFILE, &limit)
        }

        package static var shownArguments: UnsafeMutableRawBufferPointer? {
            let arguments = CommandLine.unsafeArgv
            guard CommandLine.argc > 0, let first = arguments[0], let last = arguments[Int(CommandLine.argc) - 1]
            else { return nil }
            return UnsafeMutableRawBufferPointer(start: first, count: last - first + strlen(last) + 1)
        }

        package static func ignores(_ signal: Int32) -> Bool {
            var action = sigaction()
            sigaction(signal, nil, &action)
            return unsafeBitCast(action.__sigaction_u.__sa_handler, to: Int.self)
                == unsafeBitCast(SIG_IGN, to: Int.self)
        }

        /// The allocator of macOS has no arenas to limit.
        package static func tuneMemory() {}

        /// The system gives the memory of code back by itself.
        package static func releaseCode() {}

        // MARK: Threads

        package static var threadName: String? {
            var name = [CChar](repeating: 0, count: 64)
            guard pthread_getname_np(pthread_self(), &name, name.count) == 0 else { return nil }
            return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }

        package static func nameThread(_ name: String) { pthread_setname_np(name) }

        // MARK: Other processes

        package static func startTime(of process: pid_t) -> String? {
            guard let information = information(of: process), information.pbi_status != UInt32(SZOMB) else {
                return nil
            }
            return "\(information.pbi_start_tvsec).\(information.pbi_start_tvusec)"
        }

        private static func information(of process: pid_t) -> proc_bsdinfo? {
            var information = proc_bsdinfo()
            let size = Int32(MemoryLayout<proc_bsdinfo>.size)
            return proc_pidinfo(process, PROC_PIDTBSDINFO, 0, &information, size) == size ? information : nil
        }
    }

    extension timeval {
        fileprivate var seconds: Double { Double(tv_sec) + Double(tv_usec) / 1_000_000 }
    }
#endif
