import APNSWire
package import Engine
package import WidgetModel

/// The placeholder that an added widget shows until its timeline is there: its kind's representation without personal
/// data.
package struct Placeholder: Hashable, Sendable {
    /// The reload that brings the timeline.
    package let reload: ReloadID
    package let address: InstanceAddress
    package let kind: WidgetKind
    package let family: WidgetFamily
    /// The content for the host to draw.
    package let content: JSONValue

    package var app: BundleID { self.address.app }

    package init(
        reload: ReloadID,
        address: InstanceAddress,
        kind: WidgetKind,
        family: WidgetFamily,
        content: JSONValue
    ) {
        self.reload = reload
        self.address = address
        self.kind = kind
        self.family = family
        self.content = content
    }

    /// - Parameter entry: The provider's answer.
    /// - Returns: Nil if there is nothing to draw in it.
    package init?(_ subject: FetchSubject, entry: JSONValue?) {
        guard let content = entry?["content"] else { return nil }
        self.init(
            reload: subject.reload,
            address: subject.address,
            kind: subject.kind,
            family: subject.family,
            content: content
        )
    }
}

extension Placeholder: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        self.reload.encode(into: &writer)
        self.address.encode(into: &writer)
        writer.write(self.kind.rawValue)
        writer.write(byte: self.family.rawValue)
        writer.write(self.content.jsonText)
    }

    package init(from reader: inout ByteReader) throws(ByteError) {
        let reload = try ReloadID(from: &reader)
        let address = try InstanceAddress(from: &reader)
        let kind = WidgetKind(try reader.readString())
        let family: WidgetFamily = try reader.readCase()
        let start = reader.offset
        let content = try reader.readBytes()
        guard let content = try? JSONReader().value(of: content, bytesMax: content.count) else {
            throw .invalid(offset: start)
        }
        self.init(reload: reload, address: address, kind: kind, family: family, content: content)
    }
}
