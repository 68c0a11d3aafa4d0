package import WidgetModel

/// How much a push may bring.
package struct PushLimits: Hashable, Sendable {
    /// The longest body in bytes. Default 4,096, as at APNs.
    package var bodyBytesMax: Int
    /// The longest body of a push of the type `voip` in bytes. Default 5,120, as at APNs.
    package var voipBodyBytesMax: Int
    /// The longest device token in hex digits, if the app has no bound of its own. Default 400: Apple says not to
    /// assume a size, and a bound is needed.
    package var tokenDigitsMax: Int

    package init(bodyBytesMax: Int = 4096, voipBodyBytesMax: Int = 5120, tokenDigitsMax: Int = 400) {
        self.bodyBytesMax = bodyBytesMax
        self.voipBodyBytesMax = voipBodyBytesMax
        self.tokenDigitsMax = tokenDigitsMax
    }

    /// The longest body of a push of a type.
    package func bodyBytesMax(of type: PushType) -> Int {
        type == .voip ? self.voipBodyBytesMax : self.bodyBytesMax
    }
}
