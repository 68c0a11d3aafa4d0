package import WidgetModel

/// The kind and subject of a record, read from its first bytes alone: for a search for few records among many.
package struct RecordHeader: Hashable, Sendable {
    package enum Subject: Hashable, Sendable {
        /// It may concern any host.
        case anybody
        /// One host; the place of its key in the bytes, see ``HostKey/text``.
        case host(Range<Int>)
        /// No widget at all.
        case nobody
    }

    package let kind: Record.Tag
    package let subject: Subject
    /// Where the bundle id of the app is that the record names, nil if it names none.
    package private(set) var app: Range<Int>?
    /// Where the push token of a registration is.
    package private(set) var token: Range<Int>?

    /// - Parameters:
    ///   - bytes: The entry's bytes.
    ///   - range: Where the record is in them, without its length prefix.
    /// - Throws: If the bytes are no record of a kind that this engine knows.
    package init(_ bytes: [UInt8], in range: Range<Int>) throws(ByteError) {
        guard let first = range.first, let kind = Record.Tag(rawValue: bytes[first]) else {
            throw .invalid(offset: range.lowerBound)
        }
        self.kind = kind
        var reader = ByteReader(bytes, in: range.dropFirst())
        switch kind {
        case .settings, .configure, .order: self.subject = .anybody
        case .tick, .trace, .audit: self.subject = .nobody
        case .push:
            let head = try PushHead(from: &reader)
            self.subject = head.target == .app ? .anybody : .host(head.targetName)
            if head.target == .app { self.app = head.targetName }
        case .unregister, .signal, .timeline, .delivery:
            self.subject = .host(try reader.readByteRange())
        case .register:
            self.subject = .host(try reader.readByteRange())
            self.token = try reader.readByteRange()
        case .appReload, .invalidate:
            self.app = try reader.readByteRange()
            self.subject = .anybody
        case .channel:
            _ = try reader.readByte()
            self.app = try reader.readByteRange()
            self.subject = .nobody
        }
        if case .host(let key) = self.subject {
            guard let separator = bytes[key].firstIndex(of: 0) else { throw .invalid(offset: key.lowerBound) }
            self.app = key.lowerBound..<separator
        }
    }
}
