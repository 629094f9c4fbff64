import Basics
import ScribeRuntime

/// Reads metrics of this process from the operating system.
enum ProcessReadings {
    /// CPU time, memory, open files and threads. Blocks for some microseconds.
    ///
    /// Readings that the system does not give are left out.
    static func current() -> [MetricReading] {
        let system = OperatingSystem.self
        let readings: [MetricReading?] = [
            system.cpuSeconds.map { MetricReading(.cpuSeconds, $0) },
            system.startTime.map { MetricReading(.startTime, $0) },
            system.residentMemory.map { MetricReading(.residentMemory, $0) },
            system.openFiles.map { MetricReading(.openFiles, $0.count) },
            system.fileLimit.map { MetricReading(.maximumFiles, Double($0.rlim_cur)) },
            system.threadCount.map { MetricReading(.threads, $0) },
        ]
        return readings.compactMap(\.self)
    }
}
