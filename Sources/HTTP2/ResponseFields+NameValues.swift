import CNghttp2

extension ResponseFields {
    /// Lends the fields in nghttp2's form, behind one more field.
    ///
    /// The pointers are good within `body` only. They are mutable because nghttp2's type is; nothing may write to them.
    func withNameValues<Result>(
        first name: StaticString,
        _ value: UnsafeMutablePointer<UInt8>?,
        _ valueLength: Int,
        _ body: (UnsafePointer<nghttp2_nv>?, Int) -> Result
    ) -> Result {
        // Sound: the entries' ranges lie within `bytes`, and the array is borrowed for the whole closure.
        unsafe self.bytes.withUnsafeBufferPointer { bytes in
            unsafe withUnsafeTemporaryAllocation(of: nghttp2_nv.self, capacity: self.entries.count + 1) { values in
                unsafe values.initializeElement(
                    at: 0,
                    to: nghttp2_nv(
                        name: UnsafeMutablePointer(mutating: name.utf8Start),
                        value: value,
                        namelen: name.utf8CodeUnitCount,
                        valuelen: valueLength,
                        flags: UInt8(NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue)
                    )
                )
                for index in self.entries.indices {
                    let entry = self.entries[index]
                    let name = unsafe UnsafeMutablePointer(mutating: bytes.baseAddress! + Int(entry.offset))
                    let flag = entry.isIndexed ? NGHTTP2_NV_FLAG_NONE : NGHTTP2_NV_FLAG_NO_INDEX
                    unsafe values.initializeElement(
                        at: index + 1,
                        to: nghttp2_nv(
                            name: name,
                            value: name + Int(entry.nameLength),
                            namelen: Int(entry.nameLength),
                            valuelen: Int(entry.valueLength),
                            flags: UInt8(flag.rawValue)
                        )
                    )
                }
                return unsafe body(UnsafePointer(values.baseAddress), self.entries.count + 1)
            }
        }
    }
}
