import Foundation

/// What the operating system says of this process.
enum ProcessReadings {
    /// Resident memory and open files, from `/proc`; empty where there is none. Blocking, for microseconds.
    static func current() -> [(name: String, value: Double)] {
        var readings: [(String, Double)] = []
        if let status = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8),
            let pages = status.split(separator: " ").dropFirst().first.flatMap({ Double($0) })
        {
            readings.append(("process_resident_memory_bytes", pages * Double(sysconf(Int32(_SC_PAGESIZE)))))
        }
        if let files = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
            readings.append(("process_open_fds", Double(files.count)))
        }
        if let threads = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task") {
            readings.append(("process_threads", Double(threads.count)))
        }
        return readings
    }
}
