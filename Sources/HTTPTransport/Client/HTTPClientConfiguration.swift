package import NIOCore

/// The bounds and the patience of a client, for each target.
package struct HTTPClientConfiguration: Hashable, Sendable {
    /// How each of its connections behaves.
    package var connection = HTTP2ClientConfiguration()
    /// Connections to one target, those that drain not counted. Default 4.
    package var connectionsMax = 4
    /// Requests of one target that wait for a stream. Default 10,000; above it `send` fails with `queueFull`.
    package var queueMax = 10_000
    /// Streams on one connection, however many more the server would take. Default 1000.
    package var streamsPerConnectionMax = 1000
    /// How often a request is sent again that the server surely did not act on, or that may be repeated whatever it did.
    /// Default 3.
    package var resendsMax = 3
    /// A connection without requests for so long is closed. Default 24 h: APNs asks for connections to be kept.
    package var idleTimeout = TimeAmount.hours(24)
    /// The wait after the first attempt to connect that failed; it doubles, with jitter. Default 100 ms.
    package var reconnectDelayMin = TimeAmount.milliseconds(100)
    /// The longest wait between two attempts to connect. Default 30 s.
    package var reconnectDelayMax = TimeAmount.seconds(30)
    /// Targets with connections or requests at one time. Default 1024; above it `send` fails with `queueFull`.
    package var targetsMax = 1024

    package init() {}

    var pool: ConnectionPool.Limits {
        ConnectionPool.Limits(
            connectionsMax: self.connectionsMax,
            queueMax: self.queueMax,
            streamsPerConnectionMax: self.streamsPerConnectionMax,
            resendsMax: self.resendsMax,
            idleTimeout: self.idleTimeout,
            reconnectDelayMin: self.reconnectDelayMin,
            reconnectDelayMax: self.reconnectDelayMax
        )
    }
}
