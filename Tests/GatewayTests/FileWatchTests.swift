import Gateway
import Logging
import Synchronization
import Testing
import TransportSupport

/// Files that exist in memory only, and what a watch made of them.
private final class Scene: Sendable {
    private struct State {
        var files: [String: String] = ["cert": "A", "key": "a"]
        var uses: [String] = []
    }

    private let state = Mutex(State())

    struct Refusal: Error {}

    /// A certificate and a key; the key has to be the certificate's lower-case letter.
    func watch(_ log: RecordedLog = RecordedLog()) -> FileWatch {
        FileWatch(
            [
                FileWatch.Subject(name: "pair", paths: { ["cert", "key"] }) {
                    let pair = self[["cert", "key"]]
                    guard pair[0].lowercased() == pair[1] else { throw Refusal() }
                    self.state.withLock { $0.uses.append(pair[0]) }
                    return [:]
                }
            ],
            logger: log.logger,
            read: { path in self.state.withLock { $0.files[path].map { Array($0.utf8) } } }
        )
    }

    subscript(paths: [String]) -> [String] {
        self.state.withLock { state in paths.map { state.files[$0] ?? "" } }
    }

    func write(_ path: String, _ text: String?) { self.state.withLock { $0.files[path] = text } }

    var uses: [String] { self.state.withLock { $0.uses } }
}

@Suite struct FileWatchTests {
    @Test func `what does not change is not used again`() {
        let scene = Scene()
        let watch = scene.watch()
        for _ in 0..<3 { watch.look() }
        #expect(scene.uses == [])
    }

    @Test func `a change is used at the second look that finds it`() {
        let scene = Scene()
        let watch = scene.watch()
        scene.write("cert", "B")
        scene.write("key", "b")
        watch.look()
        #expect(scene.uses == [])
        watch.look()
        watch.look()
        #expect(scene.uses == ["B"])
    }

    @Test func `a key that is written later than its certificate makes one change`() {
        let scene = Scene()
        let watch = scene.watch()
        scene.write("cert", "B")
        watch.look()
        scene.write("key", "b")
        watch.look()
        #expect(scene.uses == [])
        watch.look()
        #expect(scene.uses == ["B"])
    }

    @Test func `what cannot be used is tried once, and again when it has changed`() {
        let scene = Scene()
        let watch = scene.watch()
        scene.write("cert", "B")
        for _ in 0..<5 { watch.look() }
        #expect(scene.uses == [])
        scene.write("key", "b")
        for _ in 0..<5 { watch.look() }
        #expect(scene.uses == ["B"])
    }

    @Test func `a change that is taken back is none`() {
        let scene = Scene()
        let watch = scene.watch()
        scene.write("cert", "B")
        watch.look()
        scene.write("cert", "A")
        for _ in 0..<3 { watch.look() }
        #expect(scene.uses == [])
    }

    @Test func `a file that is gone for a moment changes nothing`() {
        let scene = Scene()
        let watch = scene.watch()
        scene.write("key", nil)
        for _ in 0..<3 { watch.look() }
        scene.write("key", "a")
        for _ in 0..<3 { watch.look() }
        #expect(scene.uses == [])
    }

    @Test func `a request has the files used at once, changed or not`() {
        let scene = Scene()
        let watch = scene.watch()
        watch.useAll()
        scene.write("cert", "B")
        scene.write("key", "b")
        watch.useAll()
        for _ in 0..<3 { watch.look() }
        #expect(scene.uses == ["A", "B"])
    }

    /// As with keys that the configuration itself has.
    @Test func `what has no file is used when a request asks for it`() {
        let log = RecordedLog()
        let subject = FileWatch.Subject(name: "keys", paths: { [] }) {
            log.logger.notice("used")
            return [:]
        }
        let watch = FileWatch([subject], logger: log.logger, read: { _ in nil })
        watch.look()
        #expect(log.lines == [])
        watch.useAll()
        #expect(log.lines == ["notice used"])
    }

    @Test func `what has not changed is used anew without a word`() {
        let (scene, log) = (Scene(), RecordedLog())
        let watch = scene.watch(log)
        watch.useAll()
        #expect(scene.uses == ["A"] && log.lines == [])
        scene.write("cert", "B")
        scene.write("key", "b")
        watch.useAll()
        #expect(log.lines == ["notice files read again what=pair"])
        watch.useAll()
        #expect(scene.uses == ["A", "B", "B"] && log.lines.count == 1)
    }
}
