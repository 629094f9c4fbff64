import Basics

/// An open file of the test's process, of the kind that programs inherit unless they are kept from it.
package final class FileOfThisProcess {
    package struct NotOpened: Error {}

    package let descriptor: Int32

    package init() throws {
        let file = open("/dev/null", O_RDONLY)
        // Above what a program opens itself.
        descriptor = fcntl(file, F_DUPFD, 700)
        close(file)
        guard descriptor >= 700 else { throw NotOpened() }
    }

    deinit { close(descriptor) }
}
