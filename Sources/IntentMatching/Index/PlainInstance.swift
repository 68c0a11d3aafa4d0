package import WidgetModel

/// An instance that pushes reach, without tags and conditions, as most are.
package struct PlainInstance: Sendable {
    /// The caller's number.
    let instance: UInt32
    let family: WidgetFamily
    /// The caller's number of its host.
    let host: UInt32
    let configuration: Configuration

    /// See ``IntentIndex/insert(_:app:kind:family:host:tags:configuration:when:pushEnabled:)``.
    package init(_ instance: UInt32, family: WidgetFamily, host: UInt32, configuration: Configuration) {
        self.instance = instance
        self.family = family
        self.host = host
        self.configuration = configuration
    }
}
