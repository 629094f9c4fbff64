import Foundation
import ScribeRuntime

/// Reads metrics of this process from the operating system.
enum ProcessReadings {
    /// CPU time, memory, open files and threads. Blocks for some microseconds.
    ///
    /// Readings from `/proc` are left out where it does not exist.
    static func current() -> [MetricReading] {
        var readings: [MetricReading] = []
        var usage = rusage()
        if getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) == 0 {
            readings.append(MetricReading(.cpuSeconds, usage.ru_utime.seconds + usage.ru_stime.seconds))
        }
        if let start = startTime() { readings.append(MetricReading(.startTime, start)) }
        if let status = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8),
            let pages = status.split(separator: " ").dropFirst().first.flatMap({ Double($0) })
        {
            readings.append(MetricReading(.residentMemory, pages * Double(sysconf(Int32(_SC_PAGESIZE)))))
        }
        if let files = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
            readings.append(MetricReading(.openFiles, files.count))
        }
        var limit = rlimit()
        if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
            readings.append(MetricReading(.maximumFiles, Double(limit.rlim_cur)))
        }
        if let threads = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task") {
            readings.append(MetricReading(.threads, threads.count))
        }
        return readings
    }

    /// Start of the process in seconds since 1970: the machine's boot time plus the ticks from boot to start.
    ///
    /// Not from `/proc/stat`, which systemd's `ProcSubset=pid` hides.
    private static func startTime() -> Double? {
        var (now, sinceBoot) = (timespec(), timespec())
        guard clock_gettime(CLOCK_REALTIME, &now) == 0, clock_gettime(CLOCK_BOOTTIME, &sinceBoot) == 0,
            let process = try? String(contentsOfFile: "/proc/self/stat", encoding: .utf8),
            // The second field is the program's name in brackets, which may contain spaces. Field 22 is the start.
            let end = process.lastIndex(of: ")")
        else { return nil }
        let fields = process[process.index(after: end)...].split(separator: " ")
        guard fields.count > 19, let ticks = Double(fields[19]) else { return nil }
        return (now.seconds - sinceBoot.seconds + ticks / Double(sysconf(CInt(_SC_CLK_TCK)))).rounded()
    }
}

extension timeval {
    fileprivate var seconds: Double { Double(tv_sec) + Double(tv_usec) / 1_000_000 }
}

extension timespec {
    fileprivate var seconds: Double { Double(tv_sec) + Double(tv_nsec) / 1_000_000_000 }
}
