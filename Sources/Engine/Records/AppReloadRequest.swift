package import IntentMatching
package import WidgetModel

/// The app asks for reloads: WidgetKit's `reloadTimelines(ofKind:)` and `reloadAllTimelines()`.
///
/// Unlike a push it also reaches instances that are not push-enabled.
package struct AppReloadRequest: Hashable, Sendable {
    package var app: BundleID
    package var kind: WidgetKind?
    package var pattern: MatchPattern?
    /// Only this host's instances.
    package var host: HostID?
    /// Names the state of the content, as a push's does.
    package var digest: [UInt8]?
    /// Whether it is for controls, WidgetKit's `reloadControls(ofKind:)`, and not for widgets.
    package var isForControls: Bool

    package init(
        app: BundleID,
        kind: WidgetKind? = nil,
        pattern: MatchPattern? = nil,
        host: HostID? = nil,
        digest: [UInt8]? = nil,
        isForControls: Bool = false
    ) {
        self.app = app
        self.kind = kind
        self.pattern = pattern
        self.host = host
        self.digest = digest
        self.isForControls = isForControls
    }

    package func encode(into writer: inout ByteWriter) {
        writer.write(self.app.rawValue)
        writer.write(self.kind) { $0.write($1.rawValue) }
        writer.write(self.pattern) { $1.encode(into: &$0) }
        writer.write(self.host) { $0.write($1.rawValue) }
        writer.write(self.digest) { $0.write($1) }
        writer.write(self.isForControls)
    }

    package init(from reader: inout ByteReader) throws(ByteFault) {
        self.app = BundleID(try reader.readString())
        self.kind = try reader.readOptional { (reader) throws(ByteFault) in WidgetKind(try reader.readString()) }
        self.pattern = try reader.readOptional { (reader) throws(ByteFault) in try MatchPattern(from: &reader) }
        self.host = try reader.readOptional { (reader) throws(ByteFault) in HostID(try reader.readString()) }
        self.digest = try reader.readOptional { (reader) throws(ByteFault) in try reader.readBytes() }
        self.isForControls = try reader.readBool()
    }
}
