import Foundation

/// Program that this process has started.
///
/// `exec` starts its program here, and recognisers through Subprocess. Both close all files of this
/// process in the program: it would keep the port of a listening socket.
package struct ChildProcess: Sendable {
    /// The program cannot be started.
    package struct Unusable: Error, CustomStringConvertible {
        let program: String
        package let code: Int32

        package var description: String { "\(program) cannot be run: \(String(cString: strerror(code)))" }
    }

    package let id: pid_t

    /// Starts a program with the default action for each signal: this process ignores some.
    /// - Parameters:
    ///   - words: the program, which `PATH` finds, and its arguments.
    ///   - streams: descriptors that become the program's standard streams.
    ///   - inherited: further descriptors that the program gets, under the same numbers.
    package init(
        _ words: [String], environment: [String: String], streams: [Int32] = [0, 1, 2], inherited: Set<Int32> = []
    ) throws(Unusable) {
        #if canImport(Darwin)
            var attributes: posix_spawnattr_t?
            var actions: posix_spawn_file_actions_t?
        #else
            var attributes = posix_spawnattr_t()
            var actions = posix_spawn_file_actions_t()
        #endif
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var (all, none) = (sigset_t(), sigset_t())
        sigfillset(&all)
        sigemptyset(&none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setsigmask(&attributes, &none)
        let flags = Int16(POSIX_SPAWN_SETSIGDEF) | Int16(POSIX_SPAWN_SETSIGMASK)
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (stream, file) in streams.enumerated() { posix_spawn_file_actions_adddup2(&actions, file, Int32(stream)) }
        // The program closes them itself: another thread may open a file at any moment before it starts.
        #if canImport(Darwin)
            posix_spawnattr_setflags(&attributes, flags | Int16(POSIX_SPAWN_CLOEXEC_DEFAULT))
            for file in inherited { posix_spawn_file_actions_addinherit_np(&actions, file) }
        #else
            posix_spawnattr_setflags(&attributes, flags)
            let end = (inherited.max() ?? 2) + 1
            for file in 3..<end where !inherited.contains(file) { posix_spawn_file_actions_addclose(&actions, file) }
            _ = addCloseFrom(&actions, end)
        #endif
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        var variables: [UnsafeMutablePointer<CChar>?] = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in arguments + variables { free(text) } }
        var child: pid_t = 0
        let code = posix_spawnp(&child, words[0], &actions, &attributes, &arguments, &variables)
        guard code == 0 else { throw Unusable(program: words[0], code: code) }
        id = child
    }

    /// Waits for the program's end. Blocking.
    /// - Returns: The exit code; 128 and the number of the signal for a program that a signal ended.
    package func wait() -> Int32 {
        var status: Int32 = 0
        while waitpid(id, &status, 0) < 0 {
            guard errno == EINTR else { return 255 }
        }
        // WIFEXITED, WEXITSTATUS and WTERMSIG are macros, which Swift does not import.
        return status & 0x7f == 0 ? (status >> 8) & 0xff : 128 + (status & 0x7f)
    }
}

#if !canImport(Darwin)
    /// Of glibc 2.34. The Glibc module leaves out what only `_GNU_SOURCE` declares.
    @_silgen_name("posix_spawn_file_actions_addclosefrom_np")
    private func addCloseFrom(_ actions: UnsafeMutablePointer<posix_spawn_file_actions_t>, _ first: Int32) -> Int32
#endif
