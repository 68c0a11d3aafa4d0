/// The limits of one peer in one HTTP/2 session.
///
/// Every limit has a name and a default; its comment says what happens at it, and ``HTTP2Limit`` names its counter. "Ends the connection"
/// means GOAWAY with ENHANCE_YOUR_CALM (RFC 9113, 7) and debug data that names the limit.
///
/// A rate is a burst that refills: so many at once, so many more with every second after. Requests pay for frames that come along
/// with them; ``FrameRules`` says for which.
package struct HTTP2Limits: Hashable, Sendable {
    /// Streams the peer may have open at once. Default 1000, as APNs after the first valid token.
    ///
    /// More are refused with REFUSED_STREAM, which a client may retry. If it has acknowledged the limit, each counts for
    /// ``streamErrorBurst``, before that for ``lateFrameBurst``.
    package var concurrentStreamsMax: UInt32 = 1000

    /// Bytes of one header list, counted as RFC 9113, 6.5.2 does: name + value + 32 for each field. Default 8192.
    ///
    /// A request above it completes with `headersTooLarge`, for a 431. Trailers above it reset their stream.
    package var headerListBytesMax: Int = 8192

    /// Header fields of one request. Default 100; above it as for ``headerListBytesMax``.
    package var fieldsMax: Int = 100

    /// Bytes of one header list at which the stream is reset instead of answered. Default 65,536.
    ///
    /// An HPACK bomb turns 8 KB of frames into megabytes of fields; no honest client gets here.
    package var headerListBytesReset: Int = 65_536

    /// Header lists above ``headerListBytesReset``, and trailers above ``headerListBytesMax``, before the connection
    /// ends. Default 4.
    package var oversizedHeaderListsMax: Int = 4

    /// CONTINUATION frames after one HEADERS frame. Default 8; above it the connection ends (CVE-2024-28182).
    package var continuationsMax: Int = 8

    /// Bytes of one request's body. Default 65,536. A request above it completes early, with `bodyTooLarge`, for a 413.
    package var bodyBytesMax: Int = 65_536

    /// Bytes of a body that are read and thrown away after an early answer. Default 1 MiB; then the stream is reset with
    /// NO_ERROR (RFC 9113, 8.1).
    ///
    /// The reset is not sent with the answer because some clients, curl 7.88 among them, lose the answer by it.
    package var discardedBytesMax: Int = 1_048_576

    /// Bytes that the session holds for the peer: requests that are not whole, and answers that it does not read.
    /// Default 64 MiB; above it the connection ends.
    ///
    /// Without it, streams times bodies would be the bound.
    package var heldBytesMax: Int = 67_108_864

    /// Empty DATA frames without END_STREAM on one stream. Default 100; one more ends the connection.
    package var emptyDataFramesMax: Int = 100

    /// Bytes of padding in the DATA frames of one stream. Default 65,536; above it the connection ends.
    package var paddingBytesMax: Int = 65_536

    /// RST_STREAM frames from the peer in a burst. Default 100; above it the connection ends (CVE-2023-44487).
    package var streamResetBurst: Int = 100

    /// RST_STREAM frames from the peer per second, after the burst. Default 33.
    package var streamResetsPerSecond: Int = 33

    /// Stream errors that the peer provokes and this side answers with RST_STREAM, in a burst. Default 100; above it the
    /// connection ends (CVE-2025-8671).
    package var streamErrorBurst: Int = 100

    /// Stream errors per second, after the burst. Default 33.
    package var streamErrorsPerSecond: Int = 33

    /// PING, SETTINGS and GOAWAY frames in a burst, and acknowledgements of nothing. Default 100; above it the connection
    /// ends.
    package var controlFrameBurst: Int = 100

    /// PING, SETTINGS and GOAWAY frames per second, after the burst. Default 10: real clients send a PING every 15 to
    /// 60 s.
    package var controlFramesPerSecond: Int = 10

    /// WINDOW_UPDATE frames in a burst. Default 1000; above it the connection ends.
    ///
    /// Each stream that a client opens, and each DATA frame that is sent to the peer, allows two more, one for the stream and one
    /// for the connection.
    package var windowUpdateBurst: Int = 1000

    /// WINDOW_UPDATE frames per second, after the burst. Default 100.
    package var windowUpdatesPerSecond: Int = 100

    /// PRIORITY frames and frames of types that are not known, in a burst. Default 200; above it the connection ends.
    ///
    /// They are read and change nothing here (RFC 9113, 5.3.2 and 5.5).
    package var priorityFrameBurst: Int = 200

    /// PRIORITY and unknown frames per second, after the burst. Default 100.
    package var priorityFramesPerSecond: Int = 100

    /// Frames on streams that this side has reset, in a burst. Default 10,000; above it the connection ends.
    ///
    /// A peer cannot know of a reset before it arrives, so its frames that were on their way are thrown away.
    package var lateFrameBurst: Int = 10_000

    /// Frames per second on streams that this side has reset, after the burst. Default 1000.
    package var lateFramesPerSecond: Int = 1000

    /// Entries of one SETTINGS frame. Default 16; above it the connection ends.
    package var settingsEntriesMax: Int = 16

    /// Acknowledgements waiting to be sent. Default 100; above it nghttp2 ends the connection.
    package var outboundAcknowledgementsMax: Int = 100

    /// Bytes the peer may send on one stream before it gets more credit. Default 65,535, the protocol's own.
    package var streamWindowBytes: Int32 = 65_535

    /// Bytes the peer may send on all streams before it gets more credit. Default 1 MiB.
    package var connectionWindowBytes: Int32 = 1_048_576

    /// Bytes of a streamed response that wait in the session before the writer is asked to wait. Default 65,536.
    package var streamOutputBytesMax: Int = 65_536

    package init() {}
}
