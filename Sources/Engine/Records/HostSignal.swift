package import WidgetModel

/// A session during which WidgetKit does not charge reloads. Raw values are part of the on-disk format.
package enum HostSession: UInt8, Hashable, Sendable, CaseIterable {
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
package enum SystemChange: UInt8, Hashable, Sendable, CaseIterable {
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
package struct HostSignal: Hashable, Sendable {
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
    /// Part of the on-disk format.
    private enum Tag: UInt8 {
        case appForeground = 0
        case appBackground = 1
        case sessionStarted = 2
        case sessionEnded = 3
        case widgetVisible = 4
        case widgetHidden = 5
        case appIntent = 6
        case animation = 7
        case systemChange = 8
        case significantLocationChange = 9
        case standBy = 10
        case lowPower = 11
        case reloaded = 12
        case entryShown = 13
    }

    package func encode(into writer: inout ByteWriter) {
        self.host.encode(into: &writer)
        func write(_ tag: Tag) { writer.write(byte: tag.rawValue) }
        func write(_ tag: Tag, _ instance: InstanceID) {
            write(tag)
            writer.write(instance.rawValue)
        }
        func write(_ tag: Tag, byte: UInt8) {
            write(tag)
            writer.write(byte: byte)
        }
        switch self.event {
        case .appForeground: write(.appForeground)
        case .appBackground: write(.appBackground)
        case .sessionStarted(let session): write(.sessionStarted, byte: session.rawValue)
        case .sessionEnded(let session): write(.sessionEnded, byte: session.rawValue)
        case .widgetVisible(let instance): write(.widgetVisible, instance)
        case .widgetHidden(let instance): write(.widgetHidden, instance)
        case .appIntent(let instance): write(.appIntent, instance)
        case .animation(let instance): write(.animation, instance)
        case .systemChange(let change): write(.systemChange, byte: change.rawValue)
        case .significantLocationChange: write(.significantLocationChange)
        case .standBy(let isOn): write(.standBy, byte: isOn ? 1 : 0)
        case .lowPower(let isOn): write(.lowPower, byte: isOn ? 1 : 0)
        case .reloaded(let instance): write(.reloaded, instance)
        case .entryShown(let reload, let date):
            write(.entryShown)
            reload.encode(into: &writer)
            writer.write(date)
        }
    }

    package init(from reader: inout ByteReader) throws(ByteFault) {
        self.host = try HostKey(from: &reader)
        let start = reader.offset
        guard let tag = Tag(rawValue: try reader.readByte()) else { throw .invalid(offset: start) }
        switch tag {
        case .appForeground: self.event = .appForeground
        case .appBackground: self.event = .appBackground
        case .sessionStarted, .sessionEnded:
            guard let session = HostSession(rawValue: try reader.readByte()) else { throw .invalid(offset: start) }
            self.event = tag == .sessionStarted ? .sessionStarted(session) : .sessionEnded(session)
        case .widgetVisible: self.event = .widgetVisible(InstanceID(try reader.readString()))
        case .widgetHidden: self.event = .widgetHidden(InstanceID(try reader.readString()))
        case .appIntent: self.event = .appIntent(InstanceID(try reader.readString()))
        case .animation: self.event = .animation(InstanceID(try reader.readString()))
        case .systemChange:
            guard let change = SystemChange(rawValue: try reader.readByte()) else { throw .invalid(offset: start) }
            self.event = .systemChange(change)
        case .significantLocationChange: self.event = .significantLocationChange
        case .standBy: self.event = .standBy(try reader.readBool())
        case .lowPower: self.event = .lowPower(try reader.readBool())
        case .reloaded: self.event = .reloaded(InstanceID(try reader.readString()))
        case .entryShown:
            let reload = try ReloadID(from: &reader)
            self.event = .entryShown(reload, date: try reader.readInstant())
        }
    }
}
