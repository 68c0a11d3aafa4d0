package import IntentMatching
package import WidgetModel

/// One widget instance of a registration, WidgetKit's `WidgetInfo`.
package struct InstanceRegistration: ByteCoded, Hashable, Sendable {
    /// The most bytes of an instance's id. Routes take far fewer.
    static let idBytesMax = Int(UInt16.max)

    package var id: InstanceID
    package var kind: WidgetKind
    package var family: WidgetFamily
    /// Typed by the kind's schema, defaults filled in.
    package var configuration: Configuration
    /// Whether pushes reach it.
    package var pushEnabled: Bool
    package var tags: [String]
    /// The condition that a push's attributes must fulfil; nil if every push may reach it.
    package var when: MatchPattern?
    /// A control's own push token.
    package var controlToken: DeviceToken?

    package init(
        id: InstanceID,
        kind: WidgetKind,
        family: WidgetFamily,
        configuration: Configuration = .empty,
        pushEnabled: Bool = true,
        tags: [String] = [],
        when: MatchPattern? = nil,
        controlToken: DeviceToken? = nil
    ) {
        self.id = id
        self.kind = kind
        self.family = family
        self.configuration = configuration
        self.pushEnabled = pushEnabled
        self.tags = tags
        self.when = when
        self.controlToken = controlToken
    }

    package func encode(into writer: inout ByteWriter) {
        writer.write(self.id.rawValue)
        writer.write(self.kind.rawValue)
        writer.write(byte: self.family.rawValue)
        self.configuration.encode(into: &writer)
        // The condition came later: records without one are as they always were.
        writer.write(byte: (self.pushEnabled ? 1 : 0) | (self.when == nil ? 0 : 2))
        writer.write(each: self.tags) { $0.write($1) }
        writer.write(self.controlToken) { $1.encode(into: &$0) }
        self.when?.encode(into: &writer)
    }

    package init(from reader: inout ByteReader) throws(ByteError) {
        let start = reader.offset
        self.id = InstanceID(try reader.readString())
        guard self.id.rawValue.utf8.count <= Self.idBytesMax else { throw .invalid(offset: start) }
        self.kind = WidgetKind(try reader.readString())
        self.family = try reader.readCase()
        self.configuration = try Configuration(from: &reader)
        let flagsOffset = reader.offset
        let flags = try reader.readByte()
        guard flags < 4 else { throw .invalid(offset: flagsOffset) }
        self.pushEnabled = flags & 1 == 1
        self.tags = try reader.readEach { (reader) throws(ByteError) in try reader.readString() }
        self.controlToken = try reader.readOptional { (reader) throws(ByteError) in try DeviceToken(from: &reader) }
        self.when = flags & 2 == 2 ? try MatchPattern(from: &reader) : nil
    }
}
