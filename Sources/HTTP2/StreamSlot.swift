/// A session's state of one stream.
///
/// The layout is fixed and the slot stays at its address from the stream's first frame until its close: nghttp2 holds
/// the address as the stream's user data. `input` holds, one after the other, the pseudo-header values, the fields (two
/// 4-byte lengths, name, value each) and the body.
@safe struct StreamSlot {
    struct Flags: OptionSet {
        let rawValue: UInt16

        /// The slot belongs to a stream.
        static let isLive = Flags(rawValue: 1)
        /// The message from the peer has left in a batch, whole or cut short.
        static let isDispatched = Flags(rawValue: 2)
        /// The peer has sent END_STREAM.
        static let peerEnded = Flags(rawValue: 4)
        /// This side has begun its message.
        static let hasBegun = Flags(rawValue: 8)
        /// This side has given all of its message; it may not be sent yet.
        static let ownerEnded = Flags(rawValue: 16)
        /// nghttp2 waits for `resume_data`.
        static let isDeferred = Flags(rawValue: 32)
        /// The writer was told `.full` and wants to hear when there is room.
        static let wantsWritable = Flags(rawValue: 64)
        /// This side resets the stream by its own will, so that it does not count as the peer's fault.
        static let isResetByOwner = Flags(rawValue: 128)
        /// This side's message is out to its end.
        static let isAnswered = Flags(rawValue: 512)
        /// The header block has ended; the following bytes in `input` are the body.
        static let hasHead = Flags(rawValue: 256)
        /// Of a client: the response's body is handed out as it comes.
        static let isStreamed = Flags(rawValue: 1024)
        /// Of a server: the request's head has come and its owner has not seen it.
        static let isHeadPending = Flags(rawValue: 2048)
        /// Of a server: the method is HEAD, whose answer has no content (RFC 9110, 9.3.2).
        static let isForHeadAlone = Flags(rawValue: 4096)
    }

    var streamID: Int32 = 0
    var flags: Flags = []
    var requestFlags: RequestBatch.Flags = []
    /// Of a response, from the peer.
    var status: UInt16 = 0
    var emptyDataFrames: UInt16 = 0
    var paddingBytes = 0
    /// Bytes of `input` that count as held.
    var heldInput = 0
    var fieldCount: UInt32 = 0
    /// RFC 9113, 6.5.2: name + value + 32 each.
    var headerListBytes: Int = 0
    var method = ByteRange.empty
    var path = ByteRange.empty
    var authority = ByteRange.empty
    var fieldsOffset: UInt32 = 0
    var bodyOffset: UInt32 = 0
    /// The most body bytes that the owner takes, if that is less than the session's limit.
    var bodyBytesMax = Int.max
    /// Body bytes thrown away since the message was dispatched.
    var discardedBytes = 0
    /// Body bytes whose credit goes back to the peer only with the answer.
    var heldCredit: UInt32 = 0
    /// The owner's stamp of the request as it was handed out.
    var stamp: UInt64 = 0
    /// When the stream began, in seconds.
    var beganAt: UInt32 = 0
    /// When output last moved, in seconds.
    var progressAt: UInt32 = 0
    var input = ByteStore()
    var output = ByteStore()
    /// Bytes of `output` that have gone.
    var outputSent: Int32 = 0
    var nextFree: UnsafeMutablePointer<StreamSlot>?

    init() {
        unsafe self.nextFree = nil
    }

    /// Bytes of the body that have come.
    var bodyBytes: Int { Int(self.input.count) - Int(self.bodyOffset) }

    var outputPending: Int32 { self.output.count - self.outputSent }
}
