package import WidgetModel

/// A session during which WidgetKit does not charge reloads. Raw values are part of the on-disk format.
package enum HostSession: UInt8, ByteCoded, Hashable, Sendable, CaseIterable {
    case media = 0
    case navigation = 1
    case location = 2

    var exemption: Exemption {
        switch self {
        case .media: .mediaSession
        case .navigation: .navigationSession
        case .location: .locationSession
        }
    }
}

/// A change after which the system reloads all widgets of a host by itself. Raw values are part of the on-disk format.
package enum SystemChange: UInt8, ByteCoded, Hashable, Sendable, CaseIterable {
    case locale = 0
    case dynamicType = 1
    case accessibility = 2
    case appearance = 3

    var cause: ReloadCause {
        switch self {
        case .locale: .localeChanged
        case .dynamicType: .dynamicTypeChanged
        case .accessibility: .accessibilityChanged
        case .appearance: .appearanceChanged
        }
    }
}

/// Something that happened on a host: `POST /v1/hosts/<token>/signals`.
///
/// Foreground, sessions and visibility lapse after ``lapse`` unless they are signalled again.
package struct HostSignal: ByteCoded, Hashable, Sendable {
    package enum Event: Hashable, Sendable {
        case appForeground
        case appBackground
        case sessionStarted(HostSession)
        case sessionEnded(HostSession)
        /// The instance came into the user's view, or still is there.
        case widgetVisible(InstanceID)
        case widgetHidden(InstanceID)
        /// The user tapped a button or a toggle of the instance.
        case appIntent(InstanceID)
        /// The instance performs an animation. Never a reload.
        case animation(InstanceID)
        case systemChange(SystemChange)
        /// Reloads widgets that use the location when they are looked at next.
        case significantLocationChange
        /// The host refreshes its widgets at its own rate from here on, or does so no longer. Never a reload.
        case standBy(Bool)
        case lowPower(Bool)
        /// The instance reloaded by itself: booked, not decided.
        case reloaded(InstanceID)
        /// The instance shows the entry of this date, which that reload brought: evidence for the reload.
        case entryShown(ReloadID, date: Instant)
    }

    /// How long a foreground, a session or a view holds without being signalled again.
    package static let lapse = Interval.hours(1)

    package var host: HostKey
    package var event: Event

    package init(host: HostKey, event: Event) {
        self.host = host
        self.event = event
    }
}

extension HostSignal.Event {
    /// The named instance; nil for the whole host, or if the signal names a reload.
    package var instance: InstanceID? {
        switch self {
        case .widgetVisible(let id), .widgetHidden(let id), .appIntent(let id), .animation(let id), .reloaded(let id):
            id
        case .appForeground, .appBackground, .sessionStarted, .sessionEnded, .systemChange,
            .significantLocationChange, .standBy, .lowPower, .entryShown:
            nil
        }
    }
}

extension HostSignal {
    package func encode(into writer: inout ByteWriter) {
        self.host.encode(into: &writer)
        self.event.encode(into: &writer)
    }

    package init(from reader: inout ByteReader) throws(ByteError) {
        self.host = try HostKey(from: &reader)
        self.event = try Event(from: &reader)
    }
}

/// The tags are part of the on-disk format.
extension HostSignal.Event: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        switch self {
        case .appForeground: writer.write(byte: 0)
        case .appBackground: writer.write(byte: 1)
        case .sessionStarted(let session): writer.write(tag: 2, session)
        case .sessionEnded(let session): writer.write(tag: 3, session)
        case .widgetVisible(let instance): writer.write(tag: 4, instance)
        case .widgetHidden(let instance): writer.write(tag: 5, instance)
        case .appIntent(let instance): writer.write(tag: 6, instance)
        case .animation(let instance): writer.write(tag: 7, instance)
        case .systemChange(let change): writer.write(tag: 8, change)
        case .significantLocationChange: writer.write(byte: 9)
        case .standBy(let isOn): writer.write(tag: 10, isOn)
        case .lowPower(let isOn): writer.write(tag: 11, isOn)
        case .reloaded(let instance): writer.write(tag: 12, instance)
        case .entryShown(let reload, let date):
            writer.write(tag: 13, reload)
            writer.write(date)
        }
    }

    package init(from reader: inout ByteReader) throws(ByteError) {
        let start = reader.offset
        switch try reader.readByte() {
        case 0: self = .appForeground
        case 1: self = .appBackground
        case 2: self = .sessionStarted(try HostSession(from: &reader))
        case 3: self = .sessionEnded(try HostSession(from: &reader))
        case 4: self = .widgetVisible(try InstanceID(from: &reader))
        case 5: self = .widgetHidden(try InstanceID(from: &reader))
        case 6: self = .appIntent(try InstanceID(from: &reader))
        case 7: self = .animation(try InstanceID(from: &reader))
        case 8: self = .systemChange(try SystemChange(from: &reader))
        case 9: self = .significantLocationChange
        case 10: self = .standBy(try reader.readBool())
        case 11: self = .lowPower(try reader.readBool())
        case 12: self = .reloaded(try InstanceID(from: &reader))
        case 13: self = .entryShown(try ReloadID(from: &reader), date: try reader.readInstant())
        default: throw .invalid(offset: start)
        }
    }
}
