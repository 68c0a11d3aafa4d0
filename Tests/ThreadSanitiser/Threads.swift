import Foundation
import Synchronization

/// Four threads that change one number, under a lock or (with the argument `racy`) beside it: the sanitiser has to be silent
/// about the one and to find the other.
@main struct Threads {
    final class Shared: @unchecked Sendable {
        let locked = Mutex(0)
        var unlocked = 0
    }

    static func main() {
        let shared = Shared()
        let isRacy = CommandLine.arguments.contains("racy")
        let threads = (0..<4).map { _ in
            Thread {
                for _ in 0..<20_000 {
                    shared.locked.withLock { $0 += 1 }
                    if isRacy { shared.unlocked += 1 }
                }
            }
        }
        for thread in threads { thread.start() }
        while !threads.allSatisfy(\.isFinished) { usleep(1000) }
        print(shared.locked.withLock { $0 })
    }
}
