import CNghttp2

/// The state that the callbacks of one session reach: everything that changes while nghttp2 reads or writes.
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
    /// The owner's stamp for requests that are handed out, and that of the one which was answered last.
    var stamp: UInt64 = 0
    var answeredStamp: UInt64 = 0
    /// The fault that broke a limit: set by a callback that fails on purpose.
    var fault: HTTP2Error?
    /// The code of the last GOAWAY that was sent.
    var sentGoAway: HTTP2ErrorCode?
    /// The payload of the PING behind the first GOAWAY of a drain; its acknowledgement brings the second.
    var drainPing: UInt64?
    var isDraining = false
    /// The debug data of the second GOAWAY of a drain.
    var drainDebug: [UInt8] = []
    var hasPeerSettings = false
    /// The rules by which every frame of the peer is judged before nghttp2 reads it.
    var rules: FrameRules
    /// Of a server: how many streams the client may have open.
    var streamLimit: StreamLimit
    /// Bytes of requests that are not whole, and of answers that have not gone.
    var heldBytes = 0
    /// Requests whose heads the owner has not seen and whose bodies have not come whole.
    private(set) var pendingHeads = 0
    /// RFC 9113, 6.5.2, of the trailers that are being read.
    var trailerBytes = 0
    private var oversizedHeaderLists = 0

    init(isServer: Bool, limits: HTTP2Limits) {
        self.isServer = isServer
        self.limits = limits
        unsafe self.headerSlot = nil
        self.rules = FrameRules(isServer: isServer, limits: limits)
        self.streamLimit = StreamLimit(max: limits.concurrentStreamsMax)
    }

    // MARK: Limits

    /// Notes the limit that the peer passed; the result makes nghttp2 give up on the session.
    private mutating func fail(_ limit: HTTP2Limit) -> Int32 {
        self.fault = HTTP2Error(limit, of: self.limits)
        return LibraryCode.callbackFailure
    }

    mutating func countStreamError() -> Int32 {
        // Once is enough: resets that are queued before the GOAWAY must not keep it from going out.
        guard self.fault == nil else { return 0 }
        return self.rules.takeStreamError(at: self.now) ? 0 : self.fail(.maxStreamErrors)
    }

    /// Counts a stream above the limit: a fault if the client knew, else something that was on its way.
    mutating func countRefusedStream() -> Int32 {
        if self.streamLimit.isKnown { return self.countStreamError() }
        guard self.fault == nil else { return 0 }
        return self.rules.takeLateFrame(at: self.now) ? 0 : self.fail(.maxLateFrames)
    }

    mutating func countEmptyData(_ slot: UnsafeMutablePointer<StreamSlot>) -> Int32 {
        unsafe slot.pointee.emptyDataFrames += 1
        return unsafe Int(slot.pointee.emptyDataFrames) > self.limits.emptyDataFramesMax ? self.fail(.maxEmptyData) : 0
    }

    mutating func countPadding(_ slot: UnsafeMutablePointer<StreamSlot>, _ bytes: Int) -> Int32 {
        unsafe slot.pointee.paddingBytes += bytes
        return unsafe slot.pointee.paddingBytes > self.limits.paddingBytesMax ? self.fail(.maxPaddingBytes) : 0
    }

    /// Counts bytes of a request that is not whole.
    @inline(__always)
    mutating func hold(_ slot: UnsafeMutablePointer<StreamSlot>, _ bytes: Int) {
        unsafe slot.pointee.heldInput += bytes
        self.heldBytes += bytes
    }

    /// Counts out the request of a slot, and so many bytes of its answer.
    @inline(__always)
    mutating func release(_ slot: UnsafeMutablePointer<StreamSlot>, _ outputBytes: Int) {
        unsafe self.heldBytes -= slot.pointee.heldInput + outputBytes
        unsafe slot.pointee.heldInput = 0
    }

    @inline(__always)
    mutating func checkHeldBytes() -> Int32? {
        self.heldBytes > self.limits.heldBytesMax ? self.fail(.maxConnectionBytes) : nil
    }

    /// A header list that cannot be answered: its stream is reset, and a few end the session.
    private mutating func countOversizedHeaderList(_ limit: HTTP2Limit) -> Int32 {
        self.events.append(.limitPassed(limit))
        self.oversizedHeaderLists += 1
        return self.oversizedHeaderLists < self.limits.oversizedHeaderListsMax
            ? LibraryCode.temporalCallbackFailure : self.fail(.maxOversizedHeaders)
    }

    /// Marks a request whose head is too large, once.
    private mutating func markOversized(_ slot: UnsafeMutablePointer<StreamSlot>, _ limit: HTTP2Limit) {
        guard unsafe !slot.pointee.requestFlags.contains(.headersTooLarge) else { return }
        unsafe slot.pointee.requestFlags.insert(.headersTooLarge)
        self.events.append(.limitPassed(limit))
    }

    /// One field of trailers, which are read and forgotten.
    private mutating func receiveTrailer(ofBytes bytes: Int) -> Int32 {
        self.trailerBytes += bytes
        return self.trailerBytes > self.limits.headerListBytesMax ? self.countOversizedHeaderList(.maxHeaderBytes) : 0
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
        guard let slot = unsafe self.headerSlot else {
            return self.receiveTrailer(ofBytes: nameLength + valueLength + 32)
        }
        unsafe slot.pointee.headerListBytes += nameLength + valueLength + 32
        if unsafe slot.pointee.headerListBytes > self.limits.headerListBytesMax {
            unsafe self.markOversized(slot, .maxHeaderBytes)
            guard unsafe slot.pointee.headerListBytes > self.limits.headerListBytesReset else { return 0 }
            return self.countOversizedHeaderList(.maxHeaderBytesReset)
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
            unsafe self.markOversized(slot, .maxHeaderFields)
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
            if place.length == 4, let value = unsafe value, unsafe value.isHEAD {
                unsafe slot.pointee.flags.insert(.isForHeadAlone)
            }
        case 7 where unsafe name[2] == UInt8(ascii: "t"):  // :status
            guard let value = unsafe value, place.length == 3 else { return 0 }
            // Sound: three bytes are there; nghttp2 lets only digits through.
            unsafe slot.pointee.status = (0..<3).reduce(0) { unsafe $0 &* 10 &+ UInt16(value[$1] &- 0x30) }
            // nghttp2 lets 000 to 099 and 600 to 999 through, which are no statuses (RFC 9110, 15) and could not be relayed.
            return unsafe 100...599 ~= slot.pointee.status ? 0 : LibraryCode.temporalCallbackFailure
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
        if unsafe slot.pointee.flags.contains(.isStreamed) {
            unsafe self.responses.append(pieceOf: slot, bytes, length)
            return true
        }
        guard unsafe slot.pointee.bodyBytes + length <= min(self.limits.bodyBytesMax, slot.pointee.bodyBytesMax) else {
            unsafe self.cutBody(slot)
            return true
        }
        unsafe slot.pointee.input.append(bytes, length)
        unsafe self.hold(slot, length)
        guard isLast && self.isServer else { return true }
        unsafe slot.pointee.heldCredit += UInt32(truncatingIfNeeded: length)
        return false
    }

    /// Hands out a message whose body is too long, as far as it has come.
    mutating func cutBody(_ slot: UnsafeMutablePointer<StreamSlot>) {
        unsafe slot.pointee.requestFlags.insert(.bodyTooLarge)
        self.events.append(.limitPassed(.maxBodyBytes))
        unsafe self.dispatch(slot)
    }

    /// Notes that a request's head has come, and its body is to follow.
    mutating func noteHead(_ slot: UnsafeMutablePointer<StreamSlot>) {
        unsafe slot.pointee.flags.insert(.isHeadPending)
        self.pendingHeads += 1
    }

    /// Notes that the owner need not see a head any more, or has.
    @inline(__always)
    mutating func forgetHead(_ slot: UnsafeMutablePointer<StreamSlot>) {
        guard unsafe slot.pointee.flags.contains(.isHeadPending) else { return }
        unsafe slot.pointee.flags.remove(.isHeadPending)
        self.pendingHeads -= 1
    }

    /// Gives up on the rest of a request: it is answered before it is whole, and further bytes are thrown away.
    mutating func dropRest(_ slot: UnsafeMutablePointer<StreamSlot>) {
        unsafe self.forgetHead(slot)
        unsafe slot.pointee.flags.insert(.isDispatched)
        unsafe self.release(slot, 0)
        unsafe self.slab.recycle(&slot.pointee.input)
    }

    /// Moves a message into the batch, as far as it has come.
    mutating func dispatch(_ slot: UnsafeMutablePointer<StreamSlot>) {
        unsafe self.forgetHead(slot)
        unsafe slot.pointee.flags.insert(.isDispatched)
        unsafe self.release(slot, 0)
        if self.isServer {
            unsafe slot.pointee.stamp = self.stamp
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

    /// True if these four bytes are `HEAD`.
    @inline(__always)
    fileprivate var isHEAD: Bool {
        unsafe self[0] == UInt8(ascii: "H") && self[1] == UInt8(ascii: "E") && self[2] == UInt8(ascii: "A")
            && self[3] == UInt8(ascii: "D")
    }
}
