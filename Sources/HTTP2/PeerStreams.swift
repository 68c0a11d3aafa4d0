/// Which streams a client has opened, which it left out, and which this side has reset.
///
/// nghttp2 forgets a stream when it closes, and from then on ignores frames on it. The rules about closed streams (RFC
/// 9113, 5.1 and 5.1.1) need to know more: a frame on a stream that both sides have ended is a fault, one on a stream
/// that this side has reset was on its way.
struct PeerStreams {
    /// The highest stream that the client has opened.
    private(set) var highest: Int32 = 0
    /// The highest stream, while the client has more to say on it. Frames on it need no further look.
    private(set) var current: Int32 = 0
    /// Streams that were left out, and with that closed; the newest last.
    private var skipped: [ClosedRange<Int32>] = []
    /// The last streams that this side has reset, in no order once it is full.
    private var resets: [Int32] = []
    private var nextReset = 0
    /// The last stream that this side will look at, once it has said so in a GOAWAY.
    private var last = Int32.max

    /// Ranges remembered. A client that leaves out more is told of a closed stream instead of a smaller one.
    private static let skippedMax = 64
    /// More than a client may have open at once, so that all of them can be refused.
    private static let resetsMax = 2048

    /// Notes a HEADERS frame that opens a stream. The id is above ``highest``.
    @inline(__always)
    mutating func open(_ streamID: Int32, isEnded: Bool) {
        if streamID &- self.highest > 2 {
            self.skip(to: streamID)
        }
        self.highest = streamID
        self.current = isEnded ? 0 : streamID
    }

    private mutating func skip(to streamID: Int32) {
        if self.skipped.count == Self.skippedMax {
            self.skipped.removeFirst()
        }
        self.skipped.append(self.highest + 1...streamID - 1)
    }

    /// Notes that the client has ended or reset its newest stream.
    @inline(__always)
    mutating func endCurrent() {
        self.current = 0
    }

    /// Notes a stream that this side resets.
    mutating func reset(_ streamID: Int32) {
        if self.current == streamID { self.current = 0 }
        guard self.resets.count == Self.resetsMax else { return self.resets.append(streamID) }
        self.resets[self.nextReset] = streamID
        self.nextReset = (self.nextReset + 1) % Self.resetsMax
    }

    /// Notes a GOAWAY of this side.
    mutating func sentGoAway(last: Int32) {
        self.last = min(self.last, last)
    }

    /// Why a frame comes on a stream that has gone.
    enum Closing {
        /// This side has reset the stream, or will not look at it: the frame was on its way.
        case byThisSide
        /// The client has never opened it.
        case skipped
        /// The client knew that it was closed.
        case byClient
    }

    /// - Parameter streamID: At most ``highest``, and of no stream that is open.
    func closing(of streamID: Int32) -> Closing {
        if streamID > self.last || self.resets.contains(streamID) { return .byThisSide }
        return self.skipped.contains { $0.contains(streamID) } ? .skipped : .byClient
    }
}
