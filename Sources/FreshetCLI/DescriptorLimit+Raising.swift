import Foundation
import Serving

extension DescriptorLimit {
    /// Lets this process open as many files and connections as it may: the soft limit becomes the hard one. A shell's soft limit of 1024 is
    /// for programs that use `select`.
    static func raise() {
        let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        // Sound: the struct outlives the calls.
        guard unsafe getrlimit(files, &limit) == 0, limit.rlim_cur < limit.rlim_max else { return }
        limit.rlim_cur = limit.rlim_max
        // Where that is refused, the old limit holds, and is warned of.
        _ = unsafe setrlimit(files, &limit)
    }
}
