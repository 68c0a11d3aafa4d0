extension RequestBatch {
    /// Copies a slot's message, or its head alone, to the end of the batch.
    mutating func append(_ slot: UnsafeMutablePointer<StreamSlot>, isHeadAlone: Bool = false) {
        let count = unsafe isHeadAlone ? Int(slot.pointee.bodyOffset) : Int(slot.pointee.input.count)
        let base = unsafe self.bytes.append(slot.pointee.input, count)
        let fields = unsafe self.fields.append(slot, base: base)
        unsafe self.requests.append(
            Request(
                streamID: slot.pointee.streamID,
                flags: slot.pointee.requestFlags,
                method: slot.pointee.method.moved(by: base),
                path: slot.pointee.path.moved(by: base),
                authority: slot.pointee.authority.moved(by: base),
                fields: fields,
                body: isHeadAlone ? .empty : slot.pointee.body.moved(by: base)
            )
        )
    }
}

extension ResponseBatch {
    /// Copies a slot's message to the end of the batch.
    mutating func append(_ slot: UnsafeMutablePointer<StreamSlot>) {
        let base = unsafe self.bytes.append(slot.pointee.input, Int(slot.pointee.input.count))
        let fields = unsafe self.fields.append(slot, base: base)
        unsafe self.responses.append(
            Response(
                streamID: slot.pointee.streamID,
                status: Int(slot.pointee.status),
                fields: fields,
                body: slot.pointee.body.moved(by: base),
                isTooLarge: !slot.pointee.requestFlags.isEmpty
            )
        )
    }

    /// Copies a piece of a streamed body to the end of the batch.
    mutating func append(
        pieceOf slot: UnsafeMutablePointer<StreamSlot>,
        _ bytes: UnsafePointer<UInt8>?,
        _ length: Int
    ) {
        let offset = UInt32(truncatingIfNeeded: self.bytes.count)
        // Sound: nghttp2 keeps the bytes for the callback.
        unsafe self.bytes.append(contentsOf: UnsafeBufferPointer(start: bytes, count: length))
        let range = ByteRange(offset: offset, length: UInt32(truncatingIfNeeded: length))
        unsafe self.pieces.append(Piece(streamID: slot.pointee.streamID, bytes: range))
    }
}

extension StreamSlot {
    /// Where the body lies in `input`; empty before the header block has ended.
    fileprivate var body: ByteRange {
        guard self.flags.contains(.hasHead) else { return .empty }
        return ByteRange(offset: self.bodyOffset, length: UInt32(self.input.count) - self.bodyOffset)
    }
}

extension [UInt8] {
    /// Appends the first bytes of a store, at most all of it, and returns where they begin.
    fileprivate mutating func append(_ store: ByteStore, _ count: Int) -> UInt32 {
        let base = UInt32(truncatingIfNeeded: self.count)
        // Sound: the store's first bytes are initialized and belong to the slot, not to this array.
        unsafe self.append(contentsOf: UnsafeBufferPointer(start: store.base, count: count))
        return base
    }
}

extension [RequestBatch.Field] {
    /// Reads the lengths that stand before each field of a slot, and appends the fields' places.
    fileprivate mutating func append(_ slot: UnsafeMutablePointer<StreamSlot>, base: UInt32) -> Range<Int32> {
        let first = Int32(truncatingIfNeeded: self.count)
        var offset = unsafe slot.pointee.fieldsOffset
        guard let store = unsafe slot.pointee.input.base else { return first..<first }
        for _ in unsafe 0..<slot.pointee.fieldCount {
            // Sound: `appendLengths` has written eight bytes at this offset, and both texts follow.
            let lengths = unsafe UnsafeRawPointer(store + Int(offset)).loadUnaligned(as: (UInt32, UInt32).self)
            let name = offset + 8
            self.append(
                RequestBatch.Field(
                    name: ByteRange(offset: base &+ name, length: lengths.0),
                    value: ByteRange(offset: base &+ name &+ lengths.0, length: lengths.1)
                )
            )
            offset = name &+ lengths.0 &+ lengths.1
        }
        return first..<Int32(truncatingIfNeeded: self.count)
    }
}

extension ByteRange {
    fileprivate func moved(by base: UInt32) -> ByteRange {
        ByteRange(offset: self.offset &+ base, length: self.length)
    }
}
