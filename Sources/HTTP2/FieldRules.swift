/// The rules about header fields that nghttp2 does not check.
///
/// A value must neither begin nor end with white space (RFC 9113, 8.2.1): such a message is malformed. There is one
/// exception: an `authorization` without a credential, such as `bearer `, which a script sends if it could not make its
/// token. The answer says that the token is missing; a reset stream would say nothing.
enum FieldRules {
    @inline(__always)
    static func isWellFormed(
        _ name: UnsafePointer<UInt8>,
        _ nameLength: Int,
        _ value: UnsafePointer<UInt8>?,
        _ valueLength: Int
    ) -> Bool {
        guard valueLength > 0, let value = unsafe value else { return true }
        // Sound: nghttp2 gives that many bytes of name and value.
        if unsafe !Self.isSpace(value[0]) && !Self.isSpace(value[valueLength - 1]) { return true }
        return unsafe Self.isWithoutCredential(
            UnsafeBufferPointer(start: name, count: nameLength),
            UnsafeBufferPointer(start: value, count: valueLength)
        )
    }

    /// Whether a field is an `authorization` of nothing but white space, or of a scheme and white space behind it.
    @inline(never)
    private static func isWithoutCredential(
        _ name: UnsafeBufferPointer<UInt8>,
        _ value: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        guard unsafe name.elementsEqual("authorization".utf8) else { return false }
        let scheme = unsafe value.prefix { !Self.isSpace($0) }
        let rest = unsafe value[scheme.endIndex...]
        return unsafe rest.allSatisfy { Self.isSpace($0) }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
