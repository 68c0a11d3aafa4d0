package import WidgetModel

/// The text form of `apns-topic`: a bundle id and, for most push types, a suffix.
package enum Topic {
    /// The longest topic in bytes: the longest bundle id and the longest suffix.
    package static let bytesMax = PushRoute.bundleBytesMax + 25

    /// The suffix of a push type's topic. Source: Apple, "Sending notification requests to APNs".
    package static func suffix(of type: PushType) -> StaticString {
        switch type {
        case .alert, .background, .mdm: ""
        case .complication: ".complication"
        case .controls: ".push-type.controls"
        case .fileprovider: ".pushkit.fileprovider"
        case .liveactivity: ".push-type.liveactivity"
        case .location: ".location-query"
        case .pushtotalk: ".voip-ptt"
        case .voip: ".voip"
        case .widgets: ".push-type.widgets"
        }
    }

    /// The topic of an app for a push type.
    package static func of(_ app: BundleID, type: PushType) -> String { "\(app)\(Self.suffix(of: type))" }

    /// The type that the suffix of a topic tells, nil if it has none. No suffix ends with another.
    static func suffixType(_ topic: Span<UInt8>) -> PushType? {
        for type in PushType.allCases {
            let suffix = Self.suffix(of: type)
            let start = topic.count - suffix.utf8CodeUnitCount
            // At least one byte of bundle id stands before it.
            if suffix.utf8CodeUnitCount > 0, start > 0, topic.holds(suffix, at: start) { return type }
        }
        return nil
    }

    /// Whether a byte may stand in a bundle id or topic. The underscore is not Apple's but seen in the wild.
    static func isTopicByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"): true
        default: false
        }
    }

    static func isWellFormed(_ topic: Span<UInt8>) -> Bool {
        guard topic.count <= Self.bytesMax else { return false }
        for index in topic.indices where !Self.isTopicByte(topic[index]) { return false }
        return true
    }
}
