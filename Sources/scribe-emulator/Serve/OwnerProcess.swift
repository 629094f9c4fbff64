import ArgumentParser
import Basics
import Foundation
import Logging

/// Process that this one must not outlive. Its start time tells it apart from a later process with the same id.
struct OwnerProcess: Sendable {
    let id: pid_t
    private let startTime: String

    /// - Parameter text: the value of `--exit-with-parent`.
    /// - Throws: `ValidationError` if no other process has this id.
    init(argument text: String) throws {
        guard let id = pid_t(text), id > 0 else {
            throw ValidationError(
                "--exit-with-parent: '\(text)' is not the id of a process; write for example --exit-with-parent $$")
        }
        guard id != getpid() else {
            throw ValidationError(
                "--exit-with-parent: \(id) is the server itself; name the process that starts it")
        }
        guard let startTime = OperatingSystem.startTime(of: id) else {
            throw ValidationError(
                """
                --exit-with-parent: no process \(id) runs here; it has ended, or it is outside of this container. \
                Name a process that runs, or leave the option out
                """)
        }
        (self.id, self.startTime) = (id, startTime)
    }

    var isRunning: Bool { OperatingSystem.startTime(of: id) == startTime }

    /// Stops this process, as SIGTERM does, once the other one has ended.
    func endStopsThisProcess(_ logger: Logger) {
        // A server that starts with the signal ignored would not stop before it is ready.
        signal(SIGTERM, SIG_DFL)
        // Not a task: work on the cooperative pool must not delay it.
        Thread.detachNewThread {
            while isRunning { usleep(100_000) }
            logger.notice("process \(id), which --exit-with-parent names, has ended: the server stops")
            kill(getpid(), SIGTERM)
        }
    }
}
