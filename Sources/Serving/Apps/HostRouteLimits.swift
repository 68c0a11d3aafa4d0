import Engine
import Journaling
package import Settings
package import Timelines

/// The bounds of the host listener's routes.
package struct HostRouteLimits: Hashable, Sendable {
    /// The longest body of one request, imports excepted. Default 1 MiB.
    package var bodyBytesMax = 1_048_576
    /// The longest body of one import request. Default 16 MiB.
    package var importBytesMax = 16_777_216
    /// The longest body that no route reads. Default 4,096 bytes.
    package var unreadBodyBytesMax = 4096
    /// Lines of one import request. Default 10,000.
    package var importLinesMax = 10_000
    /// Instances of one host. Default 256.
    package var instancesPerHostMax = 256
    /// Bytes in the log of one push for all widgets of a host. Default 900,000, a journal's own limit.
    package var effectBytesMax = JournalLimits.effectBytesMax
    /// Entries and digests of timelines; the engine gives the advice.
    package var timelines = TimelineLimits()
    /// Signals or acknowledgements of one request. Default 10,000.
    package var reportsMax = 10_000
    /// Widgets on one page of an app's current configurations. Default 1,000.
    package var pageMax = 1000

    package init() {}
}

extension HostRouteLimits {
    package init(_ limits: GatewayConfiguration.Limits) {
        self.init()
        self.bodyBytesMax = limits.hostBodyBytesMax
        self.importBytesMax = limits.importBytesMax
        self.unreadBodyBytesMax = limits.unreadBodyBytesMax
        self.importLinesMax = limits.importLinesMax
        self.instancesPerHostMax = limits.engine.instancesPerHostMax
        self.timelines = limits.engine.timelines
    }
}
