import CNghttp2

/// The callbacks that every session shares, and what each does to the session's state.
///
/// The closures capture nothing and hold no logic: they turn nghttp2's arguments into one call.
enum Callbacks {
    /// Written once, read by every session's creation, which copies it.
    nonisolated(unsafe) static let shared: OpaquePointer = unsafe Callbacks.make()

    private static func make() -> OpaquePointer {
        var made: OpaquePointer?
        guard unsafe nghttp2_session_callbacks_new(&made) == 0, let callbacks = unsafe made else {
            preconditionFailure("no memory for the callback table of nghttp2")
        }
        unsafe nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { session, frame, state in
            unsafe State(state).beganHeaders(session!, frame!)
        }
        unsafe nghttp2_session_callbacks_set_on_header_callback(callbacks) {
            session,
            frame,
            name,
            nameLength,
            value,
            valueLength,
            _,
            state in
            guard unsafe FieldRules.isWellFormed(name!, nameLength, value, valueLength) else {
                return unsafe State(state).refuseField(session!, frame!)
            }
            return unsafe State(state).pointer.pointee.receiveField(name!, nameLength, value, valueLength)
        }
        // A field with an invalid value is a malformed message (RFC 9113, 8.2.1); by itself nghttp2 would leave it out.
        unsafe nghttp2_session_callbacks_set_on_invalid_header_callback(callbacks) { _, _, _, _, _, _, _, _ in
            LibraryCode.temporalCallbackFailure
        }
        unsafe nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks) { _, frame, _, state in
            unsafe State(state).refusedFrame(frame!)
        }
        unsafe nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) {
            session,
            flags,
            streamID,
            bytes,
            length,
            state in
            unsafe State(state).receivedData(session!, flags, streamID, bytes, length)
        }
        unsafe nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { session, frame, state in
            unsafe State(state).receivedFrame(session!, frame!)
        }
        unsafe nghttp2_session_callbacks_set_on_frame_send_callback(callbacks) { session, frame, state in
            unsafe State(state).sentFrame(session!, frame!)
        }
        unsafe nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { session, streamID, code, state in
            unsafe State(state).closedStream(session!, streamID, code)
        }
        return unsafe callbacks
    }

    /// Where nghttp2 gets the body of a message: the stream's slot.
    static let readBody: nghttp2_data_source_read_callback = { session, streamID, buffer, length, flags, _, state in
        unsafe State(state).readBody(session!, streamID, buffer!, length, flags!)
    }
}

/// The user data of a session, as a pointer to its state.
///
/// Sound: the session hands it to nghttp2 when it is made, and frees it after nghttp2's own session.
@safe private struct State {
    let pointer: UnsafeMutablePointer<SessionState>

    @inline(__always)
    init(_ userData: UnsafeMutableRawPointer?) {
        unsafe self.pointer = userData!.assumingMemoryBound(to: SessionState.self)
    }

    /// The slot of a stream, if it has one.
    @inline(__always)
    func slot(_ session: OpaquePointer, _ streamID: Int32) -> UnsafeMutablePointer<StreamSlot>? {
        // Sound: only slots are ever set as user data, and they stay at their address until the stream closes.
        unsafe nghttp2_session_get_stream_user_data(session, streamID)?.assumingMemoryBound(to: StreamSlot.self)
    }

    /// nghttp2 has queued a RST_STREAM for the frame's stream.
    func refusedFrame(_ frame: UnsafePointer<nghttp2_frame>) -> Int32 {
        unsafe self.pointer.pointee.rules.streams.reset(freshet_frame_stream_id(frame))
        return 0
    }

    /// Resets the stream of a malformed message (RFC 9113, 8.1.1).
    func refuseField(_ session: OpaquePointer, _ frame: UnsafePointer<nghttp2_frame>) -> Int32 {
        unsafe self.reset(session, freshet_frame_stream_id(frame), .protocolError)
    }

    /// Resets a stream whose header block is being read; the rest of it is still decoded.
    private func reset(_ session: OpaquePointer, _ streamID: Int32, _ code: HTTP2ErrorCode) -> Int32 {
        unsafe self.pointer.pointee.rules.streams.reset(streamID)
        let result = unsafe nghttp2_submit_rst_stream(
            session,
            UInt8(NGHTTP2_FLAG_NONE.rawValue),
            streamID,
            code.rawValue
        )
        // nghttp2 resets a stream by itself for this; of two resets it sends the first.
        return result == 0 ? LibraryCode.temporalCallbackFailure : result
    }

    func beganHeaders(_ session: OpaquePointer, _ frame: UnsafePointer<nghttp2_frame>) -> Int32 {
        unsafe self.pointer.pointee.headerSlot = nil
        unsafe self.pointer.pointee.trailerBytes = 0
        guard unsafe freshet_frame_type(frame) == FrameType.headers else { return 0 }
        let streamID = unsafe freshet_frame_stream_id(frame)
        if unsafe self.pointer.pointee.isServer {
            guard unsafe freshet_headers_category(frame) == NGHTTP2_HCAT_REQUEST else { return 0 }
            guard unsafe self.pointer.pointee.slab.liveCount < self.pointer.pointee.streamLimit.max else {
                return unsafe self.refuse(session, streamID)
            }
            let slot = unsafe self.pointer.pointee.slab.allocateSlot(streamID: streamID, at: self.pointer.pointee.now)
            unsafe self.pointer.pointee.headerSlot = slot
            return unsafe nghttp2_session_set_stream_user_data(session, streamID, slot)
        }
        // A response; an informational one (1xx) is forgotten when the next block begins.
        guard let slot = unsafe self.slot(session, streamID), unsafe slot.pointee.status < 200 else { return 0 }
        unsafe slot.pointee.input.removeAll()
        unsafe slot.pointee.fieldCount = 0
        unsafe slot.pointee.headerListBytes = 0
        unsafe self.pointer.pointee.headerSlot = slot
        return 0
    }

    /// Refuses a stream above the limit, so that the client may send its request again. Its fields are still decoded.
    private func refuse(_ session: OpaquePointer, _ streamID: Int32) -> Int32 {
        let failure = unsafe self.pointer.pointee.countRefusedStream()
        return failure == 0 ? unsafe self.reset(session, streamID, .refusedStream) : failure
    }

    func receivedData(
        _ session: OpaquePointer,
        _ flags: UInt8,
        _ streamID: Int32,
        _ bytes: UnsafePointer<UInt8>?,
        _ length: Int
    ) -> Int32 {
        guard let slot = unsafe self.slot(session, streamID) else {
            return unsafe nghttp2_session_consume(session, streamID, length)
        }
        let isLast = flags & FrameFlag.endStream != 0
        let isConsumed = unsafe self.pointer.pointee.receiveBody(slot, bytes, length, isLast: isLast)
        if let failure = unsafe self.pointer.pointee.checkHeldBytes() { return failure }
        guard isConsumed else { return 0 }
        let result = unsafe nghttp2_session_consume(session, streamID, length)
        return result == 0 && !isLast ? unsafe self.resetIfEnough(session, slot) : result
    }

    /// Asks a client that has its answer to stop sending, once enough was thrown away.
    private func resetIfEnough(_ session: OpaquePointer, _ slot: UnsafeMutablePointer<StreamSlot>) -> Int32 {
        guard unsafe slot.pointee.flags.contains(.isAnswered), unsafe !slot.pointee.flags.contains(.isResetByOwner),
            unsafe slot.pointee.discardedBytes > self.pointer.pointee.limits.discardedBytesMax
        else { return 0 }
        unsafe slot.pointee.flags.insert(.isResetByOwner)
        unsafe self.pointer.pointee.events.append(.limitPassed(.maxDiscardedBytes))
        return unsafe nghttp2_submit_rst_stream(
            session,
            UInt8(NGHTTP2_FLAG_NONE.rawValue),
            slot.pointee.streamID,
            HTTP2ErrorCode.noError.rawValue
        )
    }

    func receivedFrame(_ session: OpaquePointer, _ frame: UnsafePointer<nghttp2_frame>) -> Int32 {
        let flags = unsafe freshet_frame_flags(frame)
        switch unsafe freshet_frame_type(frame) {
        case FrameType.headers:
            return unsafe self.receivedHeaders(session, frame, flags)
        case FrameType.data:
            return unsafe self.receivedDataFrame(session, frame, flags)
        case FrameType.settings where flags & FrameFlag.acknowledgement == 0:
            unsafe self.pointer.pointee.hasPeerSettings = true
            let streams = unsafe nghttp2_session_get_remote_settings(session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS)
            unsafe self.pointer.pointee.events.append(.settings(maxConcurrentStreams: streams))
            return 0
        case FrameType.settings:
            unsafe self.pointer.pointee.streamLimit.acknowledge()
            return 0
        case FrameType.ping where flags & FrameFlag.acknowledgement != 0:
            return unsafe self.acknowledgedPing(session, freshet_ping_payload(frame))
        case FrameType.goAway:
            unsafe self.receivedGoAway(frame)
            return 0
        default:
            return 0
        }
    }

    private func receivedHeaders(
        _ session: OpaquePointer,
        _ frame: UnsafePointer<nghttp2_frame>,
        _ flags: UInt8
    ) -> Int32 {
        let isLast = flags & FrameFlag.endStream != 0
        if let slot = unsafe self.pointer.pointee.headerSlot {
            unsafe self.pointer.pointee.headerSlot = nil
            // The head of a message that may still follow an informational response (RFC 9110, 15.2) is no head yet.
            guard unsafe self.pointer.pointee.isServer || slot.pointee.status >= 200 else { return 0 }
            unsafe slot.pointee.flags.insert(.hasHead)
            unsafe slot.pointee.bodyOffset = UInt32(truncatingIfNeeded: slot.pointee.input.count)
            // Nothing that follows an oversized header list is wanted: it is answered before its body.
            guard unsafe isLast || slot.pointee.requestFlags.contains(.headersTooLarge) else {
                unsafe self.pointer.pointee.hold(slot, Int(slot.pointee.input.count))
                if unsafe self.pointer.pointee.isServer { unsafe self.pointer.pointee.noteHead(slot) }
                return 0
            }
            if isLast {
                unsafe slot.pointee.flags.insert(.peerEnded)
            }
            unsafe self.pointer.pointee.dispatch(slot)
            return 0
        }
        // Trailers end the message whose slot is found by its stream.
        if isLast, let slot = unsafe self.slot(session, freshet_frame_stream_id(frame)) {
            unsafe self.ended(slot)
        }
        return 0
    }

    private func receivedDataFrame(
        _ session: OpaquePointer,
        _ frame: UnsafePointer<nghttp2_frame>,
        _ flags: UInt8
    ) -> Int32 {
        let isLast = flags & FrameFlag.endStream != 0
        let padding = unsafe freshet_data_padding(frame)
        let isEmpty = unsafe freshet_frame_length(frame) == padding
        guard isLast || isEmpty || padding > 0,
            let slot = unsafe self.slot(session, freshet_frame_stream_id(frame))
        else { return 0 }
        if padding > 0 {
            let result = unsafe self.pointer.pointee.countPadding(slot, padding)
            guard result == 0 else { return result }
        }
        if isLast {
            unsafe self.ended(slot)
            return 0
        }
        return isEmpty ? unsafe self.pointer.pointee.countEmptyData(slot) : 0
    }

    private func ended(_ slot: UnsafeMutablePointer<StreamSlot>) {
        unsafe slot.pointee.flags.insert(.peerEnded)
        guard unsafe !slot.pointee.flags.contains(.isDispatched) else { return }
        unsafe self.pointer.pointee.dispatch(slot)
    }

    private func acknowledgedPing(_ session: OpaquePointer, _ payload: UInt64) -> Int32 {
        guard unsafe payload == self.pointer.pointee.drainPing else {
            unsafe self.pointer.pointee.events.append(.pingAcknowledged(payload))
            return 0
        }
        unsafe self.pointer.pointee.drainPing = nil
        let last = unsafe nghttp2_session_get_last_proc_stream_id(session)
        // Sound: nghttp2 copies the debug data.
        return unsafe self.pointer.pointee.drainDebug.withUnsafeBufferPointer {
            unsafe nghttp2_submit_goaway(
                session,
                UInt8(NGHTTP2_FLAG_NONE.rawValue),
                last,
                HTTP2ErrorCode.noError.rawValue,
                $0.baseAddress,
                $0.count
            )
        }
    }

    private func receivedGoAway(_ frame: UnsafePointer<nghttp2_frame>) {
        let length = unsafe min(freshet_goaway_debug_length(frame), 1024)
        // Sound: nghttp2 keeps the debug data for the call; an absent one has length 0.
        let debug = unsafe [UInt8](UnsafeBufferPointer(start: freshet_goaway_debug(frame), count: length))
        unsafe self.pointer.pointee.events.append(
            .goAway(
                lastStreamID: freshet_goaway_last_stream(frame),
                HTTP2ErrorCode(rawValue: freshet_goaway_error(frame)),
                debug: debug
            )
        )
    }

    func sentFrame(_ session: OpaquePointer, _ frame: UnsafePointer<nghttp2_frame>) -> Int32 {
        let type = unsafe freshet_frame_type(frame)
        if type == FrameType.data {
            unsafe self.pointer.pointee.rules.sentData()
        } else if type == FrameType.headers {
            unsafe self.pointer.pointee.rules.sentHeaders()
        }
        switch type {
        case FrameType.ping, FrameType.settings:
            guard unsafe freshet_frame_flags(frame) & FrameFlag.acknowledgement == 0 else { return 0 }
            unsafe self.pointer.pointee.rules.sentControlFrame()
            return 0
        case FrameType.headers, FrameType.data:
            guard unsafe freshet_frame_flags(frame) & FrameFlag.endStream != 0,
                unsafe self.pointer.pointee.isServer,
                let slot = unsafe self.slot(session, freshet_frame_stream_id(frame)),
                unsafe !slot.pointee.flags.contains(.peerEnded)
            else { return 0 }
            // The answer is out before the request's end.
            unsafe slot.pointee.flags.insert(.isAnswered)
            return unsafe self.resetIfEnough(session, slot)
        case FrameType.resetStream:
            unsafe self.pointer.pointee.rules.streams.reset(freshet_frame_stream_id(frame))
            guard unsafe freshet_rst_stream_error(frame) != HTTP2ErrorCode.refusedStream.rawValue else {
                unsafe self.pointer.pointee.events.append(.limitPassed(.maxConcurrentStreams))
                return 0
            }
            if let slot = unsafe self.slot(session, freshet_frame_stream_id(frame)),
                unsafe slot.pointee.flags.contains(.isResetByOwner)
            {
                return 0
            }
            return unsafe self.pointer.pointee.countStreamError()
        case FrameType.goAway:
            unsafe self.pointer.pointee.sentGoAway = HTTP2ErrorCode(rawValue: freshet_goaway_error(frame))
            unsafe self.pointer.pointee.rules.streams.sentGoAway(last: freshet_goaway_last_stream(frame))
            return 0
        default:
            return 0
        }
    }

    func closedStream(_ session: OpaquePointer, _ streamID: Int32, _ code: UInt32) -> Int32 {
        guard let slot = unsafe self.slot(session, streamID) else { return 0 }
        if unsafe self.pointer.pointee.headerSlot == slot {
            unsafe self.pointer.pointee.headerSlot = nil
        }
        let flags = unsafe slot.pointee.flags
        // The owner of a server hears of answers that it still owes, the owner of a client of those that do not come.
        let isLoss =
            unsafe self.pointer.pointee.isServer
            ? flags.contains(.isDispatched) && !flags.contains(.ownerEnded) : !flags.contains(.isDispatched)
        if isLoss {
            unsafe self.pointer.pointee.events.append(.streamClosed(streamID, HTTP2ErrorCode(rawValue: code)))
        }
        unsafe self.pointer.pointee.forgetHead(slot)
        let held = unsafe Int(slot.pointee.heldCredit)
        unsafe self.pointer.pointee.release(slot, Int(slot.pointee.outputPending))
        unsafe nghttp2_session_set_stream_user_data(session, streamID, nil)
        unsafe self.pointer.pointee.slab.giveBack(slot)
        return held > 0 ? unsafe nghttp2_session_consume_connection(session, held) : 0
    }

    func readBody(
        _ session: OpaquePointer,
        _ streamID: Int32,
        _ buffer: UnsafeMutablePointer<UInt8>,
        _ length: Int,
        _ flags: UnsafeMutablePointer<UInt32>
    ) -> Int {
        guard let slot = unsafe self.slot(session, streamID) else {
            return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue)
        }
        let pending = unsafe Int(slot.pointee.outputPending)
        let count = min(length, pending)
        if count > 0 {
            // Sound: `count` bytes of output wait, and nghttp2 gives room for `length`.
            unsafe buffer.update(from: slot.pointee.output.base! + Int(slot.pointee.outputSent), count: count)
            unsafe slot.pointee.outputSent += Int32(count)
            unsafe self.pointer.pointee.heldBytes -= count
            unsafe slot.pointee.progressAt = self.pointer.pointee.now
        }
        guard count == pending else { return count }
        unsafe slot.pointee.output.removeAll()
        unsafe slot.pointee.outputSent = 0
        if unsafe slot.pointee.flags.contains(.ownerEnded) {
            unsafe flags.pointee |= UInt32(NGHTTP2_DATA_FLAG_EOF.rawValue)
            return count
        }
        if unsafe slot.pointee.flags.contains(.wantsWritable) {
            unsafe slot.pointee.flags.remove(.wantsWritable)
            unsafe self.pointer.pointee.events.append(.streamWritable(streamID))
        }
        guard count == 0 else { return count }
        unsafe slot.pointee.flags.insert(.isDeferred)
        return LibraryCode.deferred
    }
}
