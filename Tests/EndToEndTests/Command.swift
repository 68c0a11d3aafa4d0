import Foundation
import Glibc
import Synchronization

/// A program that was started: its output as lines, its end as a value. Nothing here sleeps.
///
/// One thread a program waits in `poll` for its output and then in `waitpid` for its end. Foundation's Process is not
/// used: with dozens of programs at once some of its termination handlers are never called.
final class Command: Sendable {
    struct Result: Sendable {
        let status: Int32
        let output: String
        let errors: String
    }

    struct SpawnFailure: Error, CustomStringConvertible {
        let description: String
    }

    let pid: Int32
    private let state: Mutex<State>
    private let lineStream: AsyncStream<String>
    private let endStream: AsyncStream<Int32>

    private struct State {
        var texts = [Data(), Data()]
        var hasEnded = false
    }

    /// Programs are started one at a time, so that none inherits the pipes of another and keeps them open.
    private static let starting = Mutex(())

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - path: An absolute path, or a name that is looked up on the PATH.
    ///   - arguments: Its arguments.
    ///   - input: The text of its standard input.
    init(_ path: String, _ arguments: [String], input: String? = nil) throws {
        let (lines, lineContinuation) = AsyncStream.makeStream(of: String.self)
        let (end, endContinuation) = AsyncStream.makeStream(of: Int32.self)
        self.lineStream = lines
        self.endStream = end
        self.state = Mutex(State())
        let started = try Self.starting.withLock { _ in try Self.spawn([path] + arguments, input) }
        self.pid = started.pid
        let thread = Thread { [self] in
            let status = self.collect(started, lineContinuation)
            lineContinuation.finish()
            endContinuation.yield(status)
            endContinuation.finish()
        }
        thread.start()
    }

    /// Lines of standard output and standard error as they come. One reader only.
    var lines: AsyncStream<String> { self.lineStream }

    /// Waits for the end and the last byte of output. Once only.
    func wait() async -> Result {
        var status: Int32 = -1
        for await value in self.endStream { status = value }
        let texts = self.state.withLock { $0.texts.map { String(decoding: $0, as: UTF8.self) } }
        return Result(status: status, output: texts[0], errors: texts[1])
    }

    /// Its text so far, on standard output and then on standard error.
    var written: String { self.state.withLock { $0.texts.map { String(decoding: $0, as: UTF8.self) }.joined() } }

    func terminate() { self.signal(SIGTERM) }
    func hangUp() { self.signal(SIGHUP) }
    func killHard() { self.signal(SIGKILL) }

    /// Runs a program to its end.
    static func run(_ path: String, _ arguments: [String], input: String? = nil) async throws -> Result {
        try await Command(path, arguments, input: input).wait()
    }

    /// Under the lock, so that a process id that has been given to another program is never signalled.
    private func signal(_ number: Int32) {
        self.state.withLock { state in
            if !state.hasEnded { kill(self.pid, number) }
        }
    }
}

// MARK: - The operating system

extension Command {
    private struct Started {
        let pid: Int32
        let descriptors: [Int32]
    }

    private static func spawn(_ arguments: [String], _ input: String?) throws -> Started {
        let output = try Self.pipe()
        let errors = try Self.pipe()
        let inputFile = try Self.file(input)
        defer { for descriptor in [output.writing, errors.writing, inputFile] { close(descriptor) } }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, inputFile, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, output.writing, 1)
        unsafe posix_spawn_file_actions_adddup2(&actions, errors.writing, 2)
        // Sockets of other tests are not closed on exec: held open by a program, their connections would not end, and a program
        // that may open few files would have none left.
        _ = unsafe Self.addCloseFrom(&actions, 3)
        // The threads that tests run on block signals, and a program would inherit that and not end at SIGTERM.
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        // Sound: the C strings and their array outlive the call, which copies them into the new process.
        var words = unsafe arguments.map { unsafe strdup($0) } + [nil]
        defer { for index in unsafe words.indices { unsafe free(words[index]) } }
        var pid: Int32 = 0
        let code =
            unsafe words[0].map { unsafe posix_spawnp(&pid, $0, &actions, &attributes, &words, environ) } ?? ENOMEM
        guard code == 0 else {
            for descriptor in [output.reading, errors.reading] { close(descriptor) }
            throw SpawnFailure(description: "cannot start \(arguments[0]): error \(code)")
        }
        return Started(pid: pid, descriptors: [output.reading, errors.reading])
    }

    /// As glibc's `posix_spawn_file_actions_addclosefrom_np`, which its header shows to GNU sources only.
    private typealias AddCloseFrom =
        @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32
    private static let addCloseFrom: AddCloseFrom = {
        guard let symbol = unsafe dlsym(nil, "posix_spawn_file_actions_addclosefrom_np") else {
            preconditionFailure("glibc is older than 2.34")
        }
        // Sound: this is the function's signature in C.
        return unsafe unsafeBitCast(symbol, to: AddCloseFrom.self)
    }()

    private static func pipe() throws -> (reading: Int32, writing: Int32) {
        var descriptors: [Int32] = [-1, -1]
        guard unsafe Glibc.pipe(&descriptors) == 0 else { throw SpawnFailure(description: "no pipe: \(errno)") }
        for descriptor in descriptors { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        return (descriptors[0], descriptors[1])
    }

    /// A file with the input, already unlinked: a pipe would hold only 64 KiB before the program reads.
    private static func file(_ text: String?) throws -> Int32 {
        guard let text else { return unsafe open("/dev/null", O_RDONLY | O_CLOEXEC) }
        let file = FileManager.default.temporaryDirectory.appending(path: "freshet-input-\(UUID().uuidString)")
        try Data(text.utf8).write(to: file)
        let descriptor = unsafe open(file.path, O_RDONLY | O_CLOEXEC)
        try FileManager.default.removeItem(at: file)
        guard descriptor >= 0 else { throw SpawnFailure(description: "no input file: \(errno)") }
        return descriptor
    }

    /// Reads until both streams have ended, then takes the exit status. Runs on the program's own thread.
    private func collect(_ started: Started, _ lines: AsyncStream<String>.Continuation) -> Int32 {
        var splitters = [LineSplitter(), LineSplitter()]
        var open = started.descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while open.contains(where: { $0.fd >= 0 }) {
            guard unsafe poll(&open, 2, -1) > 0 else { continue }
            for index in open.indices where open[index].revents != 0 {
                let count = unsafe read(open[index].fd, &buffer, buffer.count)
                guard count > 0 else {
                    close(open[index].fd)
                    open[index].fd = -1
                    if let line = splitters[index].last() { lines.yield(line) }
                    continue
                }
                let data = Data(buffer.prefix(count))
                self.state.withLock { $0.texts[index].append(data) }
                for line in splitters[index].take(data) { lines.yield(line) }
            }
        }
        var status: Int32 = 0
        // Without reaping first: the id stays this program's until `hasEnded` says that it may not be signalled.
        var info = unsafe siginfo_t()
        unsafe waitid(P_PID, id_t(started.pid), &info, WEXITED | WNOWAIT)
        self.state.withLock { state in
            state.hasEnded = true
            unsafe waitpid(started.pid, &status, 0)
        }
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F)
    }
}

/// Cuts a byte stream into lines.
private struct LineSplitter {
    private var rest = Data()

    /// The text after the last line's end; nil if there is none.
    func last() -> String? { self.rest.isEmpty ? nil : String(decoding: self.rest, as: UTF8.self) }

    mutating func take(_ data: Data) -> [String] {
        self.rest.append(data)
        var lines: [String] = []
        while let newline = self.rest.firstIndex(of: UInt8(ascii: "\n")) {
            lines.append(String(decoding: self.rest[self.rest.startIndex..<newline], as: UTF8.self))
            self.rest.removeSubrange(self.rest.startIndex...newline)
        }
        return lines
    }
}
