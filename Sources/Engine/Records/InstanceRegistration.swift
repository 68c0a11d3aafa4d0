package import WidgetModel

/// One widget instance of a registration, WidgetKit's `WidgetInfo`.
package struct InstanceRegistration: Hashable, Sendable {
    package var id: InstanceID
    package var kind: WidgetKind
    package var family: WidgetFamily
    /// Typed by the kind's schema, defaults filled in.
    package var configuration: Configuration
    /// Whether pushes reach it.
    package var pushEnabled: Bool
    package var tags: [String]
    /// A control's own push token.
    package var controlToken: DeviceToken?

    package init(
        id: InstanceID,
        kind: WidgetKind,
        family: WidgetFamily,
        configuration: Configuration = .empty,
        pushEnabled: Bool = true,
        tags: [String] = [],
        controlToken: DeviceToken? = nil
    ) {
        self.id = id
        self.kind = kind
        self.family = family
        self.configuration = configuration
        self.pushEnabled = pushEnabled
        self.tags = tags
        self.controlToken = controlToken
    }

    package func encode(into writer: inout ByteWriter) {
        writer.write(self.id.rawValue)
        writer.write(self.kind.rawValue)
        writer.write(byte: self.family.rawValue)
        self.configuration.encode(into: &writer)
        writer.write(self.pushEnabled)
        writer.write(each: self.tags) { $0.write($1) }
        writer.write(self.controlToken) { $0.write($1.bytes) }
    }

    package init(from reader: inout ByteReader) throws(ByteFault) {
        self.id = InstanceID(try reader.readString())
        self.kind = WidgetKind(try reader.readString())
        let start = reader.offset
        guard let family = WidgetFamily(rawValue: try reader.readByte()) else { throw .invalid(offset: start) }
        self.family = family
        self.configuration = try Configuration(from: &reader)
        self.pushEnabled = try reader.readBool()
        self.tags = try reader.readEach { (reader) throws(ByteFault) in try reader.readString() }
        self.controlToken = try reader.readOptional { (reader) throws(ByteFault) in
            DeviceToken(bytes: try reader.readBytes())
        }
    }
}
