import CNghttp2

/// The client's side of exchanges.
extension HTTP2Session {
    /// Queues a request. nghttp2 sends it when the server's limit of concurrent streams allows.
    ///
    /// `fields` begins with the other pseudo-header fields (`:scheme`, `:authority`, `:path`) and goes on with the rest.
    ///
    /// - Parameter isStreamed: whether the response's body is handed out piece by piece, as for an event stream, which has
    ///   no end to wait for.
    /// - Returns: the stream; nil when the connection has no more stream ids or has ended.
    package func request(
        method: String,
        fields: borrowing ResponseFields,
        body: Span<UInt8> = Span(),
        isStreamed: Bool = false
    ) -> Int32? {
        precondition(self.role == .client, "only a client requests")
        let slot = unsafe self.state.pointee.slab.allocateSlot(streamID: 0, at: self.state.pointee.now)
        unsafe slot.pointee.flags.formUnion(
            isStreamed ? [.hasBegun, .ownerEnded, .isStreamed] : [.hasBegun, .ownerEnded]
        )
        // Sound: the span's bytes are copied during the call.
        unsafe body.withUnsafeBufferPointer { unsafe slot.pointee.output.append($0.baseAddress, $0.count) }
        unsafe self.state.pointee.heldBytes += body.count
        var method = method
        let streamID = method.withUTF8 { text in
            // Sound: nghttp2 copies names and values during the call and does not write to them.
            unsafe fields.withNameValues(
                first: ":method",
                UnsafeMutablePointer(mutating: text.baseAddress),
                text.count
            ) { values, count in
                guard !body.isEmpty else {
                    return unsafe nghttp2_submit_request(self.session, nil, values, count, nil, slot)
                }
                var provider = unsafe freshet_data_provider(Callbacks.readBody)
                return unsafe nghttp2_submit_request(self.session, nil, values, count, &provider, slot)
            }
        }
        guard streamID > 0 else {
            unsafe self.state.pointee.heldBytes -= body.count
            unsafe self.state.pointee.slab.giveBack(slot)
            return nil
        }
        unsafe slot.pointee.streamID = streamID
        return streamID
    }

    /// Gives a request up: RST_STREAM with CANCEL.
    package func cancel(_ streamID: Int32) {
        // Works for requests that still wait for their turn too; fails only without memory.
        _ = unsafe nghttp2_submit_rst_stream(
            self.session,
            UInt8(NGHTTP2_FLAG_NONE.rawValue),
            streamID,
            HTTP2ErrorCode.cancel.rawValue
        )
    }
}
