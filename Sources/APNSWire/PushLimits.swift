/// How much a push may bring.
package struct PushLimits: Hashable, Sendable {
    /// The longest body in bytes. Default 4,096, as at APNs.
    package var bodyBytesMax: Int
    /// The longest device token in hex digits. Default 400: Apple says not to assume a size, and a bound is needed.
    package var tokenDigitsMax: Int

    package init(bodyBytesMax: Int = 4096, tokenDigitsMax: Int = 400) {
        self.bodyBytesMax = bodyBytesMax
        self.tokenDigitsMax = tokenDigitsMax
    }
}
