import CNghttp2

/// One HTTP/2 connection without its socket: bytes in, completed messages and events out, bytes to send.
///
/// ```
///   bytes --> receive(_:at:into:) --> RequestBatch (server), takeResponses (client), takeEvents
///   bytes <-- drain(into:upTo:at:) <-- respond, beginStreaming, write, finish (server), request (client)
/// ```
///
/// Call `drain` after every round of calls: SETTINGS, acknowledgements and window updates also leave by it. When
/// ``isFinished`` is true after draining, close the connection.
///
/// Time comes as whole seconds of any monotonic clock. Not Sendable: a session belongs to the thread that calls it.
@safe package final class HTTP2Session {
    package enum Role: Hashable, Sendable {
        case server
        case client
    }

    package let role: Role
    package let limits: HTTP2Limits

    /// Owned; freed before `state`, which it borrows.
    let session: OpaquePointer
    /// Owned; the callbacks reach it.
    let state: UnsafeMutablePointer<SessionState>
    /// Owned; nghttp2's memory.
    private let pool: UnsafeMutablePointer<BlockPool>
    /// The error that ended the session. nghttp2's `mem_recv` must never be called again after it has failed (CVE-2026-27135).
    private var failure: HTTP2Error?
    /// The first bytes from a client until they turn out to be HTTP/2.
    private var opening: Opening?
    private var scanner: FrameScanner

    /// A session that has its SETTINGS ready to be drained.
    package init(_ role: Role, limits: HTTP2Limits = HTTP2Limits()) {
        self.role = role
        self.limits = limits
        let state = UnsafeMutablePointer<SessionState>.allocate(capacity: 1)
        unsafe state.initialize(to: SessionState(isServer: role == .server, limits: limits))
        unsafe self.state = state
        self.opening = role == .server ? Opening() : nil
        self.scanner = FrameScanner(prefaceBytes: role == .server ? Opening.prefaceLength : 0)
        let pool = UnsafeMutablePointer<BlockPool>.allocate(capacity: 1)
        unsafe pool.initialize(to: BlockPool())
        unsafe self.pool = pool
        var memory = unsafe BlockPool.functions(of: pool)
        var made: OpaquePointer?
        let option = unsafe Self.makeOption(limits)
        // Sound: the session copies callbacks, option and memory; `state` and `pool` outlive it by `deinit`.
        let result =
            role == .server
            ? unsafe nghttp2_session_server_new3(&made, Callbacks.shared, state, option, &memory)
            : unsafe nghttp2_session_client_new3(&made, Callbacks.shared, state, option, &memory)
        unsafe nghttp2_option_del(option)
        guard result == 0, let session = unsafe made else { preconditionFailure("no memory for an HTTP/2 session") }
        unsafe self.session = session
        self.submitFirstSettings()
    }

    deinit {
        unsafe nghttp2_session_del(self.session)
        unsafe self.pool.pointee.trim()
        unsafe self.pool.deinitialize(count: 1)
        unsafe self.pool.deallocate()
        unsafe self.state.pointee.slab.deallocate()
        unsafe self.state.deinitialize(count: 1)
        unsafe self.state.deallocate()
    }

    // MARK: From the peer

    /// Reads bytes from the peer; completed requests are added to `batch`.
    ///
    /// A client passes an empty batch and takes its responses by ``takeResponses(into:)``.
    ///
    /// - Throws: The error that ended the session. Its GOAWAY is to be drained; later calls throw `ended` and read
    ///   nothing.
    package func receive(
        _ bytes: Span<UInt8>,
        at second: UInt32,
        into batch: inout RequestBatch
    ) throws(HTTP2Error) {
        guard self.failure == nil else { throw HTTP2Error(.ended, "bytes after the end of the HTTP/2 session") }
        guard !bytes.isEmpty else { return }
        self.opening?.keepFirst(bytes)
        unsafe self.state.pointee.now = second
        unsafe swap(&self.state.pointee.batch, &batch)
        let error = self.read(bytes, at: second)
        unsafe swap(&self.state.pointee.batch, &batch)
        if let error { throw self.fail(error) }
        if self.opening?.isOver == true {
            self.opening = nil
        }
    }

    /// Judges each frame and gives it to nghttp2; the bytes before a frame that is refused are still read.
    private func read(_ bytes: Span<UInt8>, at second: UInt32) -> HTTP2Error? {
        var given = 0
        var offset = 0
        var mayClose = false
        // Taken out meanwhile: a check of exclusive access for each frame would cost more than finding it.
        var scanner = self.scanner
        defer { self.scanner = scanner }
        while let head = scanner.next(bytes, from: &offset) {
            var verdict = unsafe self.state.pointee.rules.judge(head, at: second)
            // Of the frames that nghttp2 has not read yet, only a reset closes a stream.
            mayClose = mayClose || head.type == FrameType.resetStream
            if case .pass = verdict { continue }
            if case .passIfOpen = verdict, !mayClose, unsafe self.slot(head.streamID) != nil { continue }
            // nghttp2's view of the frames before is needed now.
            if let error = self.give(bytes, given..<head.start) { return error }
            given = max(given, head.start)
            mayClose = false
            guard unsafe nghttp2_session_want_read(self.session) != 0 else { return nil }
            if case .passIfOpen = verdict {
                if unsafe self.slot(head.streamID) != nil { continue }
                verdict = unsafe self.state.pointee.rules.judgeClosed(head, at: second)
            }
            switch verdict {
            case .pass, .passIfOpen: continue
            case .tooMany(let limit): return HTTP2Error(limit, of: self.limits)
            case .broken(let rule): return HTTP2Error(rule, head)
            }
        }
        return self.give(bytes, given..<bytes.count)
    }

    /// Lets nghttp2 read a part of the bytes.
    private func give(_ bytes: Span<UInt8>, _ range: Range<Int>) -> HTTP2Error? {
        guard !range.isEmpty else { return nil }
        // Sound: nghttp2 reads the bytes during the call only. The callbacks reach `state` and nothing of `self`.
        let read = unsafe bytes.extracting(range).withUnsafeBufferPointer {
            unsafe nghttp2_session_mem_recv(self.session, $0.baseAddress, $0.count)
        }
        return read >= 0 ? nil : self.error(library: read)
    }

    /// Moves the events into `events`, and forgets them here.
    package func takeEvents(into events: inout [HTTP2Event]) {
        guard unsafe !self.state.pointee.events.isEmpty else { return }
        unsafe events.append(contentsOf: self.state.pointee.events)
        unsafe self.state.pointee.events.removeAll(keepingCapacity: true)
    }

    /// Exchanges the completed responses with an empty batch.
    package func takeResponses(into batch: inout ResponseBatch) {
        unsafe swap(&self.state.pointee.responses, &batch)
    }

    // MARK: To the peer

    /// Appends the bytes to send to `buffer`, frame by frame, until it holds `limit` bytes or nothing is left.
    ///
    /// The last frame may pass the limit by a frame's length (16 KiB). Throws if sending shows that a limit was broken.
    package func drain(into buffer: inout [UInt8], upTo limit: Int, at second: UInt32) throws(HTTP2Error) {
        unsafe self.state.pointee.now = second
        try self.checkUnreadAnswers()
        while buffer.count < limit {
            var bytes: UnsafePointer<UInt8>?
            // Sound: the bytes live until the next call into nghttp2 and are copied before it.
            let count = unsafe nghttp2_session_mem_send(self.session, &bytes)
            guard count >= 0 else {
                guard self.failure == nil else { return }
                throw self.fail(self.error(library: count))
            }
            guard count > 0 else { return }
            let start = buffer.count
            unsafe buffer.append(contentsOf: UnsafeBufferPointer(start: bytes, count: count))
            if unsafe self.state.pointee.streamLimit.isUnsent {
                unsafe self.state.pointee.streamLimit.announce(in: &buffer, from: start)
            }
        }
    }

    /// True when both sides are done: after a GOAWAY and the last stream, or after a fault.
    package var isFinished: Bool {
        if unsafe nghttp2_session_want_write(self.session) != 0 { return false }
        return unsafe self.failure != nil || nghttp2_session_want_read(self.session) == 0
    }

    /// Bytes of requests that are not whole, and of answers that have not gone.
    package var heldBytes: Int { unsafe self.state.pointee.heldBytes }

    /// Gives memory back that only a busy session has use for.
    package func freeSpares() {
        unsafe self.state.pointee.slab.freeSpares()
        unsafe self.pool.pointee.trim()
    }

    /// Streams that are open now.
    package var streamCount: Int { unsafe self.state.pointee.slab.liveCount }

    /// True once the peer's SETTINGS have arrived: it speaks HTTP/2.
    package var hasPeerSettings: Bool { unsafe self.state.pointee.hasPeerSettings }

    /// True once a client's connection preface has been read whole (RFC 9113, 3.4).
    package var hasPreface: Bool { self.opening == nil }

    /// The error code of the last GOAWAY that this side has sent.
    package var sentGoAway: HTTP2ErrorCode? { unsafe self.state.pointee.sentGoAway }

    /// Takes no more streams from the peer; those that are open may finish.
    package func goAway(_ code: HTTP2ErrorCode = .noError, debug: Span<UInt8> = Span()) {
        let last = unsafe nghttp2_session_get_last_proc_stream_id(self.session)
        // Sound: nghttp2 copies the debug data. It fails only without memory, and then the connection closes anyway.
        _ = unsafe debug.withUnsafeBufferPointer {
            unsafe nghttp2_submit_goaway(
                self.session,
                UInt8(NGHTTP2_FLAG_NONE.rawValue),
                last,
                code.rawValue,
                $0.baseAddress,
                $0.count
            )
        }
    }

    /// Begins to end the connection so that no stream on its way is lost (RFC 9113, 6.8).
    ///
    /// A first GOAWAY refuses nothing yet, a PING measures that it has arrived, and its acknowledgement brings the
    /// second GOAWAY, which does, with `debug` in it.
    package func beginDrain(debug: [UInt8] = []) {
        guard unsafe !self.state.pointee.isDraining else { return }
        unsafe self.state.pointee.isDraining = true
        unsafe self.state.pointee.drainDebug = debug
        let payload: UInt64 = 0x6E69_6172_645F_7366  // "fs_drain" on the wire of a little-endian machine
        unsafe self.state.pointee.drainPing = payload
        _ = unsafe nghttp2_submit_shutdown_notice(self.session)
        self.ping(payload)
    }

    /// Sends the second GOAWAY of a drain to a peer that does not acknowledge the PING before it.
    ///
    /// - Returns: Whether that was still to be sent.
    @discardableResult
    package func completeDrain() -> Bool {
        guard unsafe self.state.pointee.drainPing != nil else { return false }
        unsafe self.state.pointee.drainPing = nil
        let debug = unsafe self.state.pointee.drainDebug
        self.goAway(debug: debug.span)
        return true
    }

    /// Sends a PING; its acknowledgement is an event with the same payload.
    package func ping(_ payload: UInt64) {
        var bytes = payload
        // Sound: nghttp2 copies the eight bytes.
        _ = unsafe withUnsafeBytes(of: &bytes) {
            unsafe nghttp2_submit_ping(
                self.session,
                UInt8(NGHTTP2_FLAG_NONE.rawValue),
                $0.baseAddress?.assumingMemoryBound(to: UInt8.self)
            )
        }
    }

    /// Announces another limit for the streams that the client may have open. It counts at once: streams above it
    /// are refused even if the client does not know it yet; streams that are open stay.
    package func setMaxConcurrentStreams(_ limit: UInt32) {
        self.submitSettings([(StreamLimit.carrier, limit)], streams: limit)
    }

    /// SETTINGS of this side that the client has not acknowledged.
    package var unacknowledgedSettings: Int { unsafe self.state.pointee.streamLimit.unacknowledged }

    // MARK: Faults

    private func fail(_ error: HTTP2Error) -> HTTP2Error {
        self.failure = error
        let debug = Array(error.message.utf8)
        self.goAway(error.goAwayCode, debug: debug.span)
        return error
    }

    /// Ends the session for a reason of its owner's.
    ///
    /// - Returns: The error that later calls throw; its GOAWAY is to be drained.
    package func giveUp(_ reason: String) -> HTTP2Error {
        self.failure ?? self.fail(HTTP2Error(.limit, reason, goAway: .enhanceYourCalm))
    }

    /// Ends the session if a header block has not come whole in time.
    ///
    /// - Throws: The error to end the connection with; its GOAWAY is to be drained.
    package func expireHeaders(at second: UInt32, seconds: UInt32) throws(HTTP2Error) {
        let rules = unsafe self.state.pointee.rules
        guard self.failure == nil, rules.awaitsContinuation || self.scanner.isInsideHeaders,
            second &- rules.headerBlockBeganAt >= seconds
        else { return }
        throw self.fail(
            HTTP2Error(.late, "a header block took more than \(seconds) s", goAway: .enhanceYourCalm)
        )
    }

    /// A single answer may have any size; it is this side's own doing.
    private func checkUnreadAnswers() throws(HTTP2Error) {
        guard unsafe self.state.pointee.heldBytes > self.limits.heldBytesMax, self.failure == nil,
            self.streamCount > 1
        else { return }
        throw self.fail(HTTP2Error(.maxConnectionBytes, of: self.limits))
    }

    private func error(library code: Int) -> HTTP2Error {
        if let fault = unsafe self.state.pointee.fault { return fault }
        switch code {
        case LibraryCode.badClientMagic:
            if let line = self.opening?.requestLine {
                return HTTP2Error(.http1Request, "Unexpected HTTP/1.x request: \(line)")
            }
            return HTTP2Error(.badPreface, "the first bytes are not an HTTP/2 connection preface")
        case LibraryCode.tooManyContinuations:
            return HTTP2Error(.maxContinuations, of: self.limits)
        case LibraryCode.flooded:
            return HTTP2Error(.maxUnreadAcknowledgements, of: self.limits)
        default:
            // Sound: the text is one of nghttp2's literals.
            let text = unsafe String(cString: nghttp2_strerror(Int32(truncatingIfNeeded: code)))
            return HTTP2Error(.protocolViolation, "HTTP/2 session failed: \(text)")
        }
    }
}

// MARK: - Set-up

extension HTTP2Session {
    private static func makeOption(_ limits: HTTP2Limits) -> OpaquePointer {
        var made: OpaquePointer?
        guard unsafe nghttp2_option_new(&made) == 0, let option = unsafe made else {
            preconditionFailure("no memory for the options of nghttp2")
        }
        unsafe nghttp2_option_set_no_auto_window_update(option, 1)
        unsafe nghttp2_option_set_no_closed_streams(option, 1)
        // `FieldRules` judges white space around values, of which the library takes none.
        unsafe nghttp2_option_set_no_rfc9113_leading_and_trailing_ws_validation(option, 1)
        // `FrameRules` counts resets, says what it was, and knows what requests have paid for, as the library does not.
        unsafe nghttp2_option_set_stream_reset_rate_limit(option, UInt64(Int64.max), 1)
        unsafe nghttp2_option_set_max_settings(option, limits.settingsEntriesMax)
        unsafe nghttp2_option_set_max_outbound_ack(option, limits.outboundAcknowledgementsMax)
        // The library counts every piece in which the 9 bytes of a frame's head arrive; `SessionState` counts frames.
        unsafe nghttp2_option_set_max_continuations(option, (limits.continuationsMax + 1) * 9)
        // A client assumes this before the server's SETTINGS arrive (RFC 9113, 6.5.2: at least 100).
        unsafe nghttp2_option_set_peer_max_concurrent_streams(option, 100)
        return unsafe option
    }

    private func submitFirstSettings() {
        var settings: [(Int32, UInt32)] = [
            (Int32(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE.rawValue), UInt32(clamping: self.limits.headerListBytesMax)),
            (Int32(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE.rawValue), UInt32(clamping: self.limits.streamWindowBytes)),
        ]
        switch self.role {
        case .server:
            // Some clients take the absence of the first for 1; the second spares nghttp2 its tree of priorities.
            settings.append((StreamLimit.carrier, self.limits.concurrentStreamsMax))
            settings.append((Int32(NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES.rawValue), 1))
        case .client:
            settings.append((Int32(NGHTTP2_SETTINGS_ENABLE_PUSH.rawValue), 0))
        }
        self.submitSettings(settings, streams: self.limits.concurrentStreamsMax)
        // Sound: stream 0 is the connection; the call fails only without memory.
        _ = unsafe nghttp2_session_set_local_window_size(
            self.session,
            UInt8(NGHTTP2_FLAG_NONE.rawValue),
            0,
            self.limits.connectionWindowBytes
        )
    }

    private func submitSettings(_ settings: [(Int32, UInt32)], streams: UInt32) {
        let entries = settings.map { nghttp2_settings_entry(settings_id: $0.0, value: $0.1) }
        if self.role == .server {
            unsafe self.state.pointee.streamLimit.submit(max: streams)
            unsafe self.state.pointee.rules.streamsMax = Int(streams)
        }
        // Sound: nghttp2 copies the entries. It fails only without memory: every entry is within its range.
        _ = unsafe entries.withUnsafeBufferPointer {
            unsafe nghttp2_submit_settings(
                self.session,
                UInt8(NGHTTP2_FLAG_NONE.rawValue),
                $0.baseAddress,
                $0.count
            )
        }
    }
}
