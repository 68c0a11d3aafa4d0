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
