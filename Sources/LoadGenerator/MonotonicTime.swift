import NIOCore

/// The generator's clock: nanoseconds that only grow, those of NIO's deadlines.
enum MonotonicTime {
    static var now: Int64 { Int64(truncatingIfNeeded: NIODeadline.now().uptimeNanoseconds) }

    static func deadline(_ nanoseconds: Int64) -> NIODeadline {
        NIODeadline.uptimeNanoseconds(UInt64(clamping: nanoseconds))
    }
}
