package import WidgetModel

/// The span of a traced push, which follows the push in the log: 41 bytes after its tag.
///
/// Decisions do not depend on it. The push's later events become spans below this one, also in a process that was
/// started later.
package struct PushTrace: ByteCoded, Hashable, Sendable {
    package let push: PushID
    package let context: TraceContext

    package init(push: PushID, context: TraceContext) {
        self.push = push
        self.context = context
    }

    package func encode(into writer: inout ByteWriter) {
        self.push.encode(into: &writer)
        writer.write(self.context.isSampled)
        writer.write(fixed64: self.context.high)
        writer.write(fixed64: self.context.low)
        writer.write(fixed64: self.context.spanID)
    }

    package init(from reader: inout ByteReader) throws(ByteError) {
        let start = reader.offset
        self.push = try PushID(from: &reader)
        let flags = try reader.readByte()
        let (high, low) = (try reader.readFixed64(), try reader.readFixed64())
        let context = TraceContext(
            high: high,
            low: low,
            spanID: try reader.readFixed64(),
            isSampled: flags == 1
        )
        guard let context, flags <= 1 else { throw .invalid(offset: start) }
        self.context = context
    }
}

extension Engine {
    /// Where in the log a push stands and when it was accepted, if it is still known; the last one if several have the id.
    package func origin(of push: PushID) -> (position: LogPosition, acceptedAt: Instant)? {
        self.ledger.pushes.find(push).last.map { (self.ledger[$0].position, self.ledger[$0].acceptedAt) }
    }
}
