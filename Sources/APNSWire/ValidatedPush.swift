package import WidgetModel

/// The target of a push.
package enum PushTarget: Hashable, Sendable {
    /// The host or control that a token belongs to; the range holds the token's hex digits.
    case device(token: ByteRange)
    /// Every matching instance of an app.
    case targeted(bundle: ByteRange, isDryRun: Bool)

    package var path: PushPath {
        switch self {
        case .device: PushPath[.device]
        case .targeted: PushPath[.targeted]
        }
    }
}

/// A push request whose headers are in order and whose sender may push to its app.
///
/// Ranges lie in the buffer that the head's ranges lie in.
package struct ValidatedPush: Hashable, Sendable {
    package let target: PushTarget
    /// The app's number in the ``TopicTable``.
    package let app: Int
    /// `widgets` or `controls`.
    package let type: PushType
    /// nil if the sender gave none.
    package let id: PushID?
    /// The id as the sender spelled it: the answer echoes it byte for byte, since clients match on it.
    package let idText: ByteRange?
    /// nil if the sender gave none; the app's default applies.
    package let priority: Priority?
    /// UNIX seconds, 0 for "now or never", nil if the sender gave none.
    package let expiration: Int64?
    /// At most ``CollapseID/bytesMax`` bytes, never empty.
    package let collapseID: ByteRange?

    /// Whether it is to an app, not to a device.
    package var isTargeted: Bool {
        if case .targeted = self.target { true } else { false }
    }

    /// A hash of all parts of a push except its id and target: type, priority, expiration, collapse id, body.
    ///
    /// Two requests with one id and different hashes are different pushes. The same in every process, because it goes
    /// into the log. O(bytes / 8).
    package func contentHash(in bytes: Span<UInt8>, body: Span<UInt8>) -> UInt64 {
        var hash = StableHash()
        var dryRun = false
        if case .targeted(_, let isDryRun) = self.target { dryRun = isDryRun }
        hash.combine(
            UInt64(self.type.rawValue) << 16 | UInt64(self.priority?.rawValue ?? 0xFF) << 8
                | (self.expiration == nil ? 0 : 1) | (self.collapseID == nil ? 0 : 2) | (dryRun ? 4 : 0)
        )
        hash.combine(UInt64(bitPattern: self.expiration ?? 0))
        if let collapseID = self.collapseID { Self.combine(bytes.extracting(collapseID.bounds), into: &hash) }
        Self.combine(body, into: &hash)
        return hash.value
    }

    private static func combine(_ bytes: Span<UInt8>, into hash: inout StableHash) {
        hash.combine(UInt64(bytes.count))
        var offset = 0
        while offset + 8 <= bytes.count {
            hash.combine(bytes.word(at: offset))
            offset += 8
        }
        hash.combine(bytes.lastPartialWord)
    }
}
