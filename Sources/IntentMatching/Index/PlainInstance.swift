package import WidgetModel

/// An instance that pushes reach, without tags and conditions, as most are.
package struct PlainInstance: Sendable {
    /// The caller's number.
    let instance: InstanceNumber
    let family: WidgetFamily
    /// The caller's number of its host.
    let host: HostNumber
    let configuration: Configuration

    /// See ``IntentIndex/insert(_:app:kind:family:host:tags:configuration:when:pushEnabled:)``.
    package init(_ instance: InstanceNumber, family: WidgetFamily, host: HostNumber, configuration: Configuration) {
        self.instance = instance
        self.family = family
        self.host = host
        self.configuration = configuration
    }
}
