package import WidgetModel

/// The bytes of a stack: its widgets in their order.
extension SmartStack: ByteCoded {
    package func encode(into writer: inout ByteWriter) { self.widgets.encode(into: &writer) }
    package init(from reader: inout ByteReader) throws(ByteError) { self.widgets = try Array(from: &reader) }
}

extension SmartStack.Widget: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        self.instance.encode(into: &writer)
        self.date.encode(into: &writer)
        writer.write(fixed32: self.score.bitPattern)
    }

    package init(from reader: inout ByteReader) throws(ByteError) {
        self.instance = try InstanceID(from: &reader)
        self.date = try Instant?(from: &reader)
        self.score = Float(bitPattern: try reader.readFixed32())
    }
}
