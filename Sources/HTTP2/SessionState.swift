import CNghttp2

/// What the callbacks of one session reach: everything that changes while nghttp2 reads or writes.
///
/// It lies behind a pointer that the session owns and nghttp2 has as its user data. There is no way from here to the
/// session's `receive` and `drain`, so a callback cannot break nghttp2's rule against re-entering.
@safe struct SessionState {
    let isServer: Bool
    let limits: HTTP2Limits
    /// The owner's batch, lent for the time of one call.
    var batch = RequestBatch()
    var responses = ResponseBatch()
    var events: [HTTP2Event] = []
    var slab = StreamSlab()
    /// The slot whose header block is being read; blocks never interleave (RFC 9113, 4.3).
    var headerSlot: UnsafeMutablePointer<StreamSlot>?
    /// Monotonic seconds, as the last caller gave them.
    var now: UInt32 = 0
    /// What broke a limit: set by a callback that fails on purpose.
    var fault: HTTP2Error?
    /// The code of the last GOAWAY that was sent.
    var sentGoAway: HTTP2ErrorCode?
    /// The payload of the PING behind the first GOAWAY of a drain; its acknowledgement brings the second.
    var drainPing: UInt64?
    var hasPeerSettings = false
    private var controlFrames: RateBucket
    private var streamErrors: RateBucket
    private var oversizedHeaderLists = 0
    /// CONTINUATION frames of the header block that is being read.
    private var continuations = 0

    init(isServer: Bool, limits: HTTP2Limits) {
        self.isServer = isServer
        self.limits = limits
        unsafe self.headerSlot = nil
        self.controlFrames = RateBucket(burst: limits.controlFrameBurst, perSecond: limits.controlFramesPerSecond)
        self.streamErrors = RateBucket(
            burst: limits.streamErrorBurst,
            perSecond: Int(clamping: limits.streamResetsPerSecond)
        )
    }

    // MARK: Limits

    /// Notes the limit that the peer broke; the result makes nghttp2 give up on the session.
    private mutating func fail(_ message: String) -> Int32 {
        self.fault = HTTP2Error(.limit, message)
        return LibraryCode.callbackFailure
    }

    mutating func countControlFrame() -> Int32 {
        guard !self.controlFrames.take(at: self.now) else { return 0 }
        return self.fail(
            "more than \(self.limits.controlFrameBurst) PING or SETTINGS frames at once, "
                + "or \(self.limits.controlFramesPerSecond) a second"
        )
    }

    mutating func countStreamError() -> Int32 {
        guard !self.streamErrors.take(at: self.now) else { return 0 }
        return self.fail(
            "more than \(self.limits.streamErrorBurst) stream errors at once, "
                + "or \(self.limits.streamResetsPerSecond) a second"
        )
    }

    mutating func countEmptyData(_ slot: UnsafeMutablePointer<StreamSlot>) -> Int32 {
        unsafe slot.pointee.emptyDataFrames += 1
        guard unsafe Int(slot.pointee.emptyDataFrames) > self.limits.emptyDataFramesMax else { return 0 }
        return self.fail("more than \(self.limits.emptyDataFramesMax) empty DATA frames on one stream")
    }

    /// Counts a header block's frames: HEADERS begins with nothing, each CONTINUATION adds one.
    mutating func countContinuation(isFirst: Bool) -> Int32 {
        self.continuations = isFirst ? 0 : self.continuations + 1
        guard self.continuations > self.limits.continuationsMax else { return 0 }
        return self.fail("more than \(self.limits.continuationsMax) CONTINUATION frames")
    }

    private mutating func countOversizedHeaderList() -> Int32 {
        self.oversizedHeaderLists += 1
        guard self.oversizedHeaderLists >= self.limits.oversizedHeaderListsMax else {
            return LibraryCode.temporalCallbackFailure
        }
        return self.fail(
            "\(self.oversizedHeaderLists) header lists of more than \(self.limits.headerListBytesReset) bytes"
        )
    }

    // MARK: Messages from the peer

    /// One field of the block that is being read.
    @inline(__always)
    mutating func receiveField(
        _ name: UnsafePointer<UInt8>,
        _ nameLength: Int,
        _ value: UnsafePointer<UInt8>?,
        _ valueLength: Int
    ) -> Int32 {
        // No slot: a trailer, which is read and forgotten.
        guard let slot = unsafe self.headerSlot else { return 0 }
        unsafe slot.pointee.headerListBytes += nameLength + valueLength + 32
        if unsafe slot.pointee.headerListBytes > self.limits.headerListBytesMax {
            unsafe slot.pointee.requestFlags.insert(.headersTooLarge)
            guard unsafe slot.pointee.headerListBytes > self.limits.headerListBytesReset else { return 0 }
            return self.countOversizedHeaderList()
        }
        let place = unsafe ByteRange(
            offset: UInt32(truncatingIfNeeded: slot.pointee.input.count),
            length: UInt32(truncatingIfNeeded: valueLength)
        )
        // Sound: nghttp2 refuses a field without a name, so there is a first byte.
        if unsafe name[0] == UInt8(ascii: ":") {
            return unsafe self.receivePseudoField(slot, name, nameLength, value, place)
        }
        if unsafe slot.pointee.fieldCount == 0 {
            unsafe slot.pointee.fieldsOffset = place.offset
        }
        guard unsafe Int(slot.pointee.fieldCount) < self.limits.fieldsMax else {
            unsafe slot.pointee.requestFlags.insert(.headersTooLarge)
            return 0
        }
        unsafe slot.pointee.fieldCount += 1
        unsafe slot.pointee.input.appendLengths(UInt32(nameLength), place.length)
        unsafe slot.pointee.input.append(name, nameLength)
        // `host` stands in for `:authority`, which some clients do not send.
        if unsafe nameLength == 4 && slot.pointee.authority.isEmpty && name.isHost {
            unsafe slot.pointee.authority = ByteRange(
                offset: UInt32(truncatingIfNeeded: slot.pointee.input.count),
                length: place.length
            )
        }
        unsafe slot.pointee.input.append(value, valueLength)
        return 0
    }

    /// A pseudo-header field (RFC 9113, 8.3); nghttp2 has checked that it is known, comes once and in its place.
    @inline(__always)
    private mutating func receivePseudoField(
        _ slot: UnsafeMutablePointer<StreamSlot>,
        _ name: UnsafePointer<UInt8>,
        _ nameLength: Int,
        _ value: UnsafePointer<UInt8>?,
        _ place: ByteRange
    ) -> Int32 {
        switch nameLength {
        case 5:  // :path
            unsafe slot.pointee.path = place
        case 7 where unsafe name[1] == UInt8(ascii: "m"):  // :method, not :scheme
            unsafe slot.pointee.method = place
        case 7 where unsafe name[2] == UInt8(ascii: "t"):  // :status
            guard let value = unsafe value, place.length == 3 else { return 0 }
            // Sound: three bytes are there; nghttp2 lets only digits through.
            unsafe slot.pointee.status = (0..<3).reduce(0) { unsafe $0 &* 10 &+ UInt16(value[$1] &- 0x30) }
            return 0
        case 10:  // :authority
            unsafe slot.pointee.authority = place
        default:
            return 0
        }
        unsafe slot.pointee.input.append(value, Int(place.length))
        return 0
    }

    /// A piece of a body. True if nghttp2 is to give the peer its credit back now.
    mutating func receiveBody(
        _ slot: UnsafeMutablePointer<StreamSlot>,
        _ bytes: UnsafePointer<UInt8>?,
        _ length: Int,
        isLast: Bool
    ) -> Bool {
        guard unsafe !slot.pointee.flags.contains(.isDispatched) else {
            unsafe slot.pointee.discardedBytes += length
            return true
        }
        let bodyBytes = unsafe Int(slot.pointee.input.count) - Int(slot.pointee.bodyOffset)
        guard bodyBytes + length <= self.limits.bodyBytesMax else {
            unsafe slot.pointee.requestFlags.insert(.bodyTooLarge)
            unsafe self.dispatch(slot)
            return true
        }
        unsafe slot.pointee.input.append(bytes, length)
        guard isLast && self.isServer else { return true }
        unsafe slot.pointee.heldCredit += UInt32(truncatingIfNeeded: length)
        return false
    }

    /// Moves a message into the batch, as far as it has come.
    mutating func dispatch(_ slot: UnsafeMutablePointer<StreamSlot>) {
        unsafe slot.pointee.flags.insert(.isDispatched)
        if self.isServer {
            unsafe self.batch.append(slot)
        } else {
            unsafe self.responses.append(slot)
        }
        unsafe self.slab.recycle(&slot.pointee.input)
    }
}

extension UnsafePointer<UInt8> {
    /// True if these four bytes are `host`.
    @inline(__always)
    fileprivate var isHost: Bool {
        unsafe self[0] == UInt8(ascii: "h") && self[1] == UInt8(ascii: "o") && self[2] == UInt8(ascii: "s")
            && self[3] == UInt8(ascii: "t")
    }
}
