/// Judges the frames of a peer by their heads, before nghttp2 reads them.
///
/// nghttp2 does not limit how often a frame may come, ignores frames on closed streams and frames of unknown types
/// without a word, and does not look into PRIORITY frames. Its own checks are left to it.
///
/// A rate limits the frames that no request explains. Requests pay for the frames that come with them, and so with their number:
///
/// | counted | a stream that is opened pays for | an answer that begins pays for | so that |
/// |---|---|---|---|
/// | WINDOW_UPDATE | 2, and each DATA frame of this side 2 | | a client may widen the window of each stream and of the connection |
/// | PRIORITY, unknown frames | 1 | | it may say each request's priority |
/// | RST_STREAM | | 1 | it may give requests up, and stop sending a body that was refused early |
/// | stream errors | | 1 | some requests may be malformed, in proportion |
/// | PING, SETTINGS, GOAWAY | | 1, and each PING or SETTINGS of this side 1 | it may look whether a silent server is there |
/// | frames on streams that this side has reset | | 2 | HEADERS and DATA may be on their way |
///
/// Paid frames that did not come are kept for as many streams as may be open at once, above the burst.
///
/// A stream that is opened and reset before its answer begins has paid for no reset (CVE-2023-44487), one that makes this side
/// reset it for no stream error (CVE-2025-8671): only answers to other requests pay for those. The frames that such a stream pays for when
/// it is opened cost a reset or a stream error each time, of which there are few. Empty DATA frames, padding and CONTINUATION frames are
/// bounded for each stream, and nothing pays for more.
///
/// A server that a client asks gets the same from the client's streams: it may reset each.
struct FrameRules {
    enum Verdict {
        case pass
        /// Passes if the stream is open; else ``judgeClosed(_:at:)`` decides.
        case passIfOpen
        case tooMany(HTTP2Limit)
        case broken(Rule)
    }

    /// Rules of the protocol whose breach ends the connection.
    enum Rule {
        /// RFC 9113, 5.1.1.
        case smallerStream
        /// RFC 9113, 5.1.
        case closedStream
        /// RFC 7540, 5.3.1.
        case dependsOnItself
        /// RFC 9113, 6.3.
        case priorityOfConnection
    }

    var streams = PeerStreams()
    /// Whether a HEADERS frame has come and its block has not ended.
    private(set) var awaitsContinuation = false
    /// When the last header block began, in seconds.
    private(set) var headerBlockBeganAt: UInt32 = 0
    private let isServer: Bool
    private let continuationsMax: Int
    private let settingsBytesMax: Int
    /// As many as may be open at once. Paid frames that have not come are kept for so many streams.
    var streamsMax: Int
    /// CONTINUATION frames of the header block that is being read.
    private var continuations = 0
    private var resets: RateBucket
    private var controlFrames: RateBucket
    private var windowUpdates: RateBucket
    private var priorityFrames: RateBucket
    private var lateFrames: RateBucket
    /// RST_STREAM frames of this side that the peer has provoked.
    private var streamErrors: RateBucket

    private static let settingsEntryBytes = 6
    /// The frames that one request pays for.
    private static let windowUpdatesPaid = 2
    private static let lateFramesPaid = 2

    init(isServer: Bool, limits: HTTP2Limits) {
        self.isServer = isServer
        self.continuationsMax = limits.continuationsMax
        self.settingsBytesMax = limits.settingsEntriesMax * Self.settingsEntryBytes
        self.resets = RateBucket(burst: limits.streamResetBurst, perSecond: limits.streamResetsPerSecond)
        self.controlFrames = RateBucket(burst: limits.controlFrameBurst, perSecond: limits.controlFramesPerSecond)
        self.windowUpdates = RateBucket(burst: limits.windowUpdateBurst, perSecond: limits.windowUpdatesPerSecond)
        self.priorityFrames = RateBucket(burst: limits.priorityFrameBurst, perSecond: limits.priorityFramesPerSecond)
        self.lateFrames = RateBucket(burst: limits.lateFrameBurst, perSecond: limits.lateFramesPerSecond)
        self.streamErrors = RateBucket(burst: limits.streamErrorBurst, perSecond: limits.streamErrorsPerSecond)
        self.streamsMax = Int(limits.concurrentStreamsMax)
    }

    @inline(__always)
    mutating func judge(_ head: FrameHead, at second: UInt32) -> Verdict {
        switch head.type {
        case FrameType.data: return self.judgeData(head)
        case FrameType.headers: return self.judgeHeaders(head, at: second)
        default: return self.judgeOther(head, at: second)
        }
    }

    @inline(__always)
    private mutating func judgeData(_ head: FrameHead) -> Verdict {
        guard self.isServer else { return .pass }
        guard head.streamID == self.streams.current, head.streamID != 0 else {
            return head.streamID <= self.streams.highest ? .passIfOpen : .pass
        }
        if head.hasFlag(FrameFlag.endStream) {
            self.streams.endCurrent()
        }
        return .pass
    }

    @inline(__always)
    private mutating func judgeHeaders(_ head: FrameHead, at second: UInt32) -> Verdict {
        self.continuations = 0
        self.headerBlockBeganAt = second
        self.awaitsContinuation = !head.hasFlag(FrameFlag.endHeaders)
        guard self.isServer, head.streamID & 1 == 1 else { return .pass }
        let isEnded = head.hasFlag(FrameFlag.endStream)
        if head.streamID > self.streams.highest {
            self.streams.open(head.streamID, isEnded: isEnded)
            self.payForStream()
            return .pass
        }
        guard head.streamID == self.streams.current else { return .passIfOpen }
        if isEnded {
            self.streams.endCurrent()
        }
        return .pass
    }

    private mutating func judgeOther(_ head: FrameHead, at second: UInt32) -> Verdict {
        switch head.type {
        case FrameType.continuation:
            self.continuations += 1
            self.awaitsContinuation = self.awaitsContinuation && !head.hasFlag(FrameFlag.endHeaders)
            return self.continuations > self.continuationsMax ? .tooMany(.maxContinuations) : .pass
        case FrameType.resetStream:
            if head.streamID == self.streams.current {
                self.streams.endCurrent()
            }
            return self.resets.takeToken(at: second) ? .pass : .tooMany(.maxResets)
        case FrameType.settings where head.length > self.settingsBytesMax:
            return .tooMany(.maxSettingsEntries)
        case FrameType.settings, FrameType.ping, FrameType.goAway:
            return self.controlFrames.takeToken(at: second) ? .pass : .tooMany(.maxControlFrames)
        case FrameType.windowUpdate:
            return self.windowUpdates.takeToken(at: second) ? .pass : .tooMany(.maxWindowUpdates)
        case FrameType.pushPromise:
            return .pass
        default:
            guard self.priorityFrames.takeToken(at: second) else { return .tooMany(.maxPriorityFrames) }
            return head.type == FrameType.priority ? self.judgePriority(head) : .pass
        }
    }

    private func judgePriority(_ head: FrameHead) -> Verdict {
        guard self.isServer else { return .pass }
        if head.streamID == 0 { return .broken(.priorityOfConnection) }
        return head.dependency == head.streamID ? .broken(.dependsOnItself) : .pass
    }

    /// Judges a DATA or HEADERS frame on a stream that is known not to be open.
    mutating func judgeClosed(_ head: FrameHead, at second: UInt32) -> Verdict {
        // A stream that only the server could open is nghttp2's to judge.
        guard head.streamID & 1 == 1 else { return .pass }
        switch self.streams.closing(of: head.streamID) {
        case .byThisSide: return self.takeLateFrame(at: second) ? .pass : .tooMany(.maxLateFrames)
        case .skipped where head.type == FrameType.headers: return .broken(.smallerStream)
        case .skipped, .byClient: return .broken(.closedStream)
        }
    }

    /// Counts a frame that was on its way when this side ruled it out. False if there are too many.
    mutating func takeLateFrame(at second: UInt32) -> Bool { self.lateFrames.takeToken(at: second) }

    /// Counts a RST_STREAM frame that the peer has provoked. False if there are too many.
    mutating func takeStreamError(at second: UInt32) -> Bool { self.streamErrors.takeToken(at: second) }

    /// Notes a stream that the client opens.
    @inline(__always)
    private mutating func payForStream() {
        self.windowUpdates.give(Self.windowUpdatesPaid, keeping: Self.windowUpdatesPaid &* self.streamsMax)
        self.priorityFrames.give(1, keeping: self.streamsMax)
    }

    /// Notes that a server's answer begins.
    @inline(__always)
    private mutating func payForAnswer() {
        self.resets.give(1, keeping: self.streamsMax)
        self.streamErrors.give(1, keeping: self.streamsMax)
        self.controlFrames.give(1, keeping: self.streamsMax)
        self.lateFrames.give(Self.lateFramesPaid, keeping: Self.lateFramesPaid &* self.streamsMax)
    }

    /// Notes a HEADERS frame that this side has sent: a server's answer begins, or a client opens a stream.
    @inline(__always)
    mutating func sentHeaders() {
        self.payForAnswer()
        // A client opens a stream by its own choice, so it pays for the server's frames there.
        if !self.isServer { self.payForStream() }
    }

    /// Notes a DATA frame that this side has sent: the reader answers it with credit for stream and connection.
    mutating func sentData() {
        self.windowUpdates.give(2)
    }

    /// Notes a PING or SETTINGS frame that this side has sent: the peer acknowledges it.
    mutating func sentControlFrame() {
        self.controlFrames.give(1)
    }
}
