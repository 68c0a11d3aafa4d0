import CNghttp2

/// The server's side of exchanges.
extension HTTP2Session {
    /// Whether there are requests whose heads the owner has not seen and whose bodies have not come whole.
    package var hasHeads: Bool { unsafe self.state.pointee.pendingHeads > 0 }

    /// A number of the owner's that requests get as they are handed out, whole or their heads alone.
    package var stamp: UInt64 {
        get { unsafe self.state.pointee.stamp }
        set { unsafe self.state.pointee.stamp = newValue }
    }

    /// The stamp of the request whose answer began last.
    package var answeredStamp: UInt64 { unsafe self.state.pointee.answeredStamp }

    /// Adds the heads of these requests to a batch, their bodies left out, in the order of their streams: each once.
    ///
    /// A request that is answered now is not collected: the rest of its body is thrown away.
    package func takeHeads(into batch: inout RequestBatch) {
        guard self.hasHeads else { return }
        var slots: [UnsafeMutablePointer<StreamSlot>] = unsafe []
        unsafe self.state.pointee.slab.forEachLive { slot in
            if unsafe slot.pointee.flags.contains(.isHeadPending) { unsafe slots.append(slot) }
        }
        unsafe slots.sort { unsafe $0.pointee.streamID < $1.pointee.streamID }
        for index in unsafe slots.indices {
            let slot = unsafe slots[index]
            unsafe self.state.pointee.forgetHead(slot)
            unsafe slot.pointee.stamp = self.state.pointee.stamp
            unsafe batch.append(slot, isHeadAlone: true)
        }
    }

    /// Takes less of a request's body than the session's limit. One that is longer already joins the batch, flagged so.
    package func limitBody(of streamID: Int32, to bytes: Int, into batch: inout RequestBatch) {
        guard let slot = unsafe self.slot(streamID), unsafe !slot.pointee.flags.contains(.isDispatched) else { return }
        unsafe slot.pointee.bodyBytesMax = bytes
        guard unsafe slot.pointee.bodyBytes > bytes else { return }
        unsafe swap(&self.state.pointee.batch, &batch)
        unsafe self.state.pointee.cutBody(slot)
        unsafe swap(&self.state.pointee.batch, &batch)
    }

    /// Looks at streams that are about to be answered, so that the processor fetches their memory for many at a time.
    package func prefetch(_ streamIDs: Span<Int32>) {
        for index in streamIDs.indices {
            if let slot = unsafe self.slot(streamIDs[index]) {
                unsafe Prefetch.all(slot, MemoryLayout<StreamSlot>.size)
            }
        }
    }

    /// Answers a request, whole or not; an empty body is none, and ends the stream with the HEADERS frame. So does the answer to
    /// a HEAD request, whose body is left out.
    ///
    /// Everything is copied. The body leaves in one DATA frame if it fits one (16 KiB and the peer's window).
    ///
    /// - Returns: false if the stream has gone or was answered before.
    package func respond(
        _ streamID: Int32,
        status: Int,
        fields: borrowing ResponseFields,
        body: Span<UInt8> = Span()
    ) -> Bool {
        guard let slot = unsafe self.unanswered(streamID) else { return false }
        unsafe slot.pointee.flags.formUnion([.hasBegun, .ownerEnded])
        let hasBody = unsafe !body.isEmpty && !slot.pointee.flags.contains(.isForHeadAlone)
        if hasBody {
            // Sound: the span's bytes are copied during the call.
            unsafe body.withUnsafeBufferPointer { unsafe slot.pointee.output.append($0.baseAddress, $0.count) }
            unsafe self.state.pointee.heldBytes += body.count
        }
        return unsafe self.submit(slot, status: status, fields: fields, hasBody: hasBody)
    }

    /// Begins an answer whose body comes in pieces.
    package func beginStreaming(_ streamID: Int32, status: Int, fields: borrowing ResponseFields) -> Bool {
        guard let slot = unsafe self.unanswered(streamID) else { return false }
        unsafe slot.pointee.flags.insert(.hasBegun)
        return unsafe self.submit(slot, status: status, fields: fields, hasBody: true)
    }

    /// Adds a piece to a streamed answer; it is copied.
    package func write(_ streamID: Int32, _ bytes: Span<UInt8>) -> StreamWrite {
        guard let slot = unsafe self.slot(streamID),
            unsafe slot.pointee.flags.isSuperset(of: .hasBegun), unsafe !slot.pointee.flags.contains(.ownerEnded)
        else { return .closed }
        if unsafe slot.pointee.outputPending == 0 {
            // A stall is counted from the first byte that waits.
            unsafe slot.pointee.progressAt = self.state.pointee.now
        }
        unsafe slot.pointee.dropSent()
        // Sound: the span's bytes are copied during the call.
        unsafe bytes.withUnsafeBufferPointer { unsafe slot.pointee.output.append($0.baseAddress, $0.count) }
        unsafe self.state.pointee.heldBytes += bytes.count
        unsafe self.resume(slot)
        guard unsafe Int(slot.pointee.outputPending) > self.limits.streamOutputBytesMax else { return .accepted }
        unsafe slot.pointee.flags.insert(.wantsWritable)
        return .full
    }

    /// Ends a streamed answer; earlier writes still go out.
    package func finish(_ streamID: Int32) {
        guard let slot = unsafe self.slot(streamID), unsafe slot.pointee.flags.contains(.hasBegun) else { return }
        unsafe slot.pointee.flags.insert(.ownerEnded)
        unsafe slot.pointee.flags.remove(.wantsWritable)
        unsafe self.resume(slot)
    }

    /// Ends a stream with RST_STREAM.
    package func reset(_ streamID: Int32, _ code: HTTP2ErrorCode) {
        guard let slot = unsafe self.slot(streamID) else { return }
        unsafe slot.pointee.flags.formUnion([.isResetByOwner, .ownerEnded])
        unsafe self.submitReset(slot, code)
    }

    /// Looks for streams that take too long.
    ///
    /// A request that is not whole after `requestSeconds` joins the batch flagged `timedOut`. A stream whose output has
    /// not moved for `stallSeconds` is reset (CANCEL), and its owner hears of it if it still has something to say. A
    /// request that goes on after its answer is reset too (NO_ERROR).
    ///
    /// - Returns: how many there were.
    package func expire(
        at second: UInt32,
        requestSeconds: UInt32,
        stallSeconds: UInt32,
        into batch: inout RequestBatch
    ) -> ExpiredStreams {
        unsafe self.state.pointee.now = second
        var late: [UnsafeMutablePointer<StreamSlot>] = unsafe []
        var stalled: [UnsafeMutablePointer<StreamSlot>] = unsafe []
        var answered: [UnsafeMutablePointer<StreamSlot>] = unsafe []
        unsafe self.state.pointee.slab.forEachLive { slot in
            if unsafe !slot.pointee.flags.contains(.isDispatched) {
                if unsafe second &- slot.pointee.beganAt >= requestSeconds {
                    unsafe late.append(slot)
                }
            } else if unsafe slot.pointee.flags.contains(.isAnswered) {
                if unsafe second &- slot.pointee.beganAt >= requestSeconds {
                    unsafe answered.append(slot)
                }
            } else if unsafe slot.pointee.outputPending > 0, unsafe second &- slot.pointee.progressAt >= stallSeconds {
                unsafe stalled.append(slot)
            }
        }
        unsafe swap(&self.state.pointee.batch, &batch)
        for index in unsafe late.indices {
            let slot = unsafe late[index]
            guard unsafe slot != self.state.pointee.headerSlot else { continue }
            unsafe slot.pointee.requestFlags.insert(.timedOut)
            unsafe self.state.pointee.dispatch(slot)
        }
        unsafe swap(&self.state.pointee.batch, &batch)
        for index in unsafe stalled.indices {
            let slot = unsafe stalled[index]
            unsafe slot.pointee.flags.insert(.isResetByOwner)
            unsafe self.submitReset(slot, .cancel)
        }
        for index in unsafe answered.indices {
            let slot = unsafe answered[index]
            unsafe slot.pointee.flags.insert(.isResetByOwner)
            unsafe self.submitReset(slot, .noError)
        }
        return unsafe ExpiredStreams(requests: late.count + answered.count, stalls: stalled.count)
    }
}

// MARK: - Towards nghttp2

extension HTTP2Session {
    /// The slot of an open stream.
    func slot(_ streamID: Int32) -> UnsafeMutablePointer<StreamSlot>? {
        // Sound: only slots are ever set as user data, and they stay at their address until the stream closes.
        unsafe nghttp2_session_get_stream_user_data(self.session, streamID)?.assumingMemoryBound(to: StreamSlot.self)
    }

    private func unanswered(_ streamID: Int32) -> UnsafeMutablePointer<StreamSlot>? {
        guard let slot = unsafe self.slot(streamID),
            unsafe slot.pointee.flags.isDisjoint(with: [.hasBegun, .ownerEnded])
        else { return nil }
        if unsafe !slot.pointee.flags.contains(.isDispatched) { unsafe self.state.pointee.dropRest(slot) }
        unsafe self.state.pointee.answeredStamp = slot.pointee.stamp
        return unsafe slot
    }

    private func resume(_ slot: UnsafeMutablePointer<StreamSlot>) {
        guard unsafe slot.pointee.flags.contains(.isDeferred) else { return }
        unsafe slot.pointee.flags.remove(.isDeferred)
        // Fails only for a stream that is about to close; nothing is to be resumed then.
        _ = unsafe nghttp2_session_resume_data(self.session, slot.pointee.streamID)
    }

    private func submitReset(_ slot: UnsafeMutablePointer<StreamSlot>, _ code: HTTP2ErrorCode) {
        // Fails only without memory.
        _ = unsafe nghttp2_submit_rst_stream(
            self.session,
            UInt8(NGHTTP2_FLAG_NONE.rawValue),
            slot.pointee.streamID,
            code.rawValue
        )
    }

    private func submit(
        _ slot: UnsafeMutablePointer<StreamSlot>,
        status: Int,
        fields: borrowing ResponseFields,
        hasBody: Bool
    ) -> Bool {
        precondition((100...999).contains(status), "a status has three digits")
        let streamID = unsafe slot.pointee.streamID
        var digits = (
            UInt8(truncatingIfNeeded: 0x30 + status / 100), UInt8(truncatingIfNeeded: 0x30 + status / 10 % 10),
            UInt8(truncatingIfNeeded: 0x30 + status % 10)
        )
        // Sound in the whole block: nghttp2 copies names and values during the call, while digits and fields are
        // borrowed; it does not write through the pointers, although their type allows it.
        return unsafe withUnsafeMutableBytes(of: &digits) { status in
            unsafe fields.withNameValues(
                first: Self.statusName,
                status.baseAddress?.assumingMemoryBound(to: UInt8.self),
                3
            ) { values, count in
                guard hasBody else {
                    return unsafe nghttp2_submit_response(self.session, streamID, values, count, nil) == 0
                }
                var provider = unsafe freshet_data_provider(Callbacks.readBody)
                return unsafe nghttp2_submit_response(self.session, streamID, values, count, &provider) == 0
            }
        }
    }

    private static var statusName: StaticString { ":status" }
}

extension StreamSlot {
    /// Moves the waiting bytes to the front when most of the store has been sent.
    fileprivate mutating func dropSent() {
        guard self.outputSent > 0, self.outputSent >= self.output.count / 2 else { return }
        self.output.removeFirst(self.outputSent)
        self.outputSent = 0
    }
}
