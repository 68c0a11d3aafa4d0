package import HTTPTransport
import NIOCore
package import Ownership
package import WidgetModel

extension GatewayConfiguration {
    /// Where an app's reloads go as pushes: the real APNs, or another gateway.
    package struct Upstream: Hashable, Sendable {
        /// The treatment of the app's pushes of other types than widgets and controls.
        package enum Relay: String, Hashable, Sendable, CaseIterable {
            /// They are refused, as everywhere else.
            case none
            /// They go upstream with the credentials that they came with.
            case sender
            /// They go upstream with the gateway's credentials.
            case gateway
        }

        /// Default nil: APNs' host of the app's environment.
        package var url: String?
        /// The id of ``key``.
        package var keyID: KeyID?
        /// A PEM file: the .p8 that the gateway signs its own provider tokens with. This, ``certificate`` or both.
        package var key: String?
        /// A PEM file: a client certificate. APNs ignores a provider token beside one.
        package var certificate: String?
        /// A PEM file: the private key of ``certificate``.
        package var certificateKey: String?
        /// A PEM file: the authorities that the upstream is believed by. Default nil: the system's.
        package var authorities: String?
        /// Default none.
        package var relay = Relay.none

        package init() {}
    }

    /// Where an app's reloads, or the receipts of its senders, go as signed POSTs.
    package struct Webhook: Hashable, Sendable {
        package var url = ""
        /// A file that holds the secret of the signatures, 16 bytes or more; white space around it does not count.
        package var secretFile = ""
        /// A PEM file: the authorities that the receiver is believed by. Default nil: the system's.
        package var authorities: String?

        package init() {}
    }

    /// How reloads are delivered by HTTP, to upstreams and webhooks.
    package struct Deliveries: Hashable, Sendable {
        /// Connections to one upstream or webhook. Default 4.
        package var connectionsMax = 4
        /// Streams on one connection, however many more the other side takes. Default 1,000.
        package var streamsMax = 1000
        /// Requests that wait for a stream, of one upstream or webhook. Default 10,000.
        package var queueMax = 10_000
        /// Upstreams and webhooks with connections at one time. Default 1,024.
        package var targetsMax = 1024
        /// Deliveries in work at once. Default 1,000.
        package var inWorkMax = 1000
        /// Deliveries in work or waiting that memory holds. Default 100,000; more stay in the log until there is room.
        package var knownMax = 100_000
        /// How often a request is sent again that the other side surely did not act on. Default 3.
        package var resendsMax = 3
        /// For the name and TCP. Default 10 s.
        package var connect = Interval.seconds(10)
        /// For TLS and the first SETTINGS. Default 10 s.
        package var handshake = Interval.seconds(10)
        /// From taking its turn to the whole answer. Default 30 s.
        package var request = Interval.seconds(30)
        /// Without a request, before a connection is closed. Default 24 h.
        package var idle = Interval.hours(24)
        /// Without a byte while requests wait, before a PING. Default 10 s.
        package var pingAfter = Interval.seconds(10)
        /// Without a byte while none waits, before a PING. Default 1 h, as Apple advises.
        package var pingIdle = Interval.hours(1)
        /// For a sign of life after a PING. Default 10 s.
        package var pingAnswer = Interval.seconds(10)
        /// The first and the longest wait between two attempts to connect. Default 100 ms and 30 s.
        package var reconnectMin = Interval.milliseconds(100)
        package var reconnectMax = Interval.seconds(30)
        /// The first and the longest wait between two tries of one delivery. Default 1 s and 15 min.
        package var retryMin = Interval.seconds(1)
        package var retryMax = Interval.minutes(15)
        /// The wait after a 500. Default 15 min, as Apple asks.
        package var afterServerError = Interval.minutes(15)
        /// How long the gateway's own provider token is used. Default 50 min.
        package var tokenAge = Interval.minutes(50)
        /// Receipts in one request. Default 500.
        package var receiptsMax = 500
        /// How long receipts are gathered for one request. Default 1 s.
        package var receiptInterval = Interval.seconds(1)
        /// Networks that webhooks may reach although they are not public. Default none.
        package var allowedNetworks: [String] = []

        package init() {}
    }
}

extension GatewayConfiguration.Upstream {
    mutating func visit(_ visitor: inout some SettingsVisitor) {
        visitor.optional("url", &self.url, .url)
        visitor.optional("keyID", &self.keyID, .keyID)
        visitor.optionalFile("key", &self.key, .privateKey)
        visitor.optionalFile("certificate", &self.certificate, .certificates)
        visitor.optionalFile("certificateKey", &self.certificateKey, .privateKey)
        visitor.optionalFile("ca", &self.authorities, .certificates)
        visitor.scalar("relay", &self.relay, .choice())
        if (self.key == nil) != (self.keyID == nil) {
            visitor.fault("", "needs both keyID and key, or neither")
        }
        if (self.certificate == nil) != (self.certificateKey == nil) {
            visitor.fault("", "needs both certificate and certificateKey, or neither")
        }
        if self.key == nil, self.certificate == nil {
            visitor.fault("", "needs a key (key, keyID), a client certificate (certificate, certificateKey), or both")
        }
    }
}

extension GatewayConfiguration.Webhook {
    mutating func visit(_ visitor: inout some SettingsVisitor) {
        visitor.scalar("url", &self.url, .url, isRequired: true)
        visitor.file("secretFile", &self.secretFile, .secret, isRequired: true)
        visitor.optionalFile("ca", &self.authorities, .certificates)
    }
}

extension GatewayConfiguration.Deliveries {
    mutating func visit(_ visitor: inout some SettingsVisitor) {
        let short: ClosedRange<Interval> = .milliseconds(10) ... .hours(1)
        let long: ClosedRange<Interval> = .milliseconds(10) ... .days(7)
        visitor.scalar("maxConnections", &self.connectionsMax, .integer(1...100))
        visitor.scalar("maxStreams", &self.streamsMax, .integer(1...100_000))
        visitor.scalar("maxQueue", &self.queueMax, .integer(1...1_000_000))
        visitor.scalar("maxTargets", &self.targetsMax, .integer(1...100_000))
        visitor.scalar("maxInWork", &self.inWorkMax, .integer(1...100_000))
        visitor.scalar("maxKnown", &self.knownMax, .integer(1...10_000_000))
        visitor.scalar("maxResends", &self.resendsMax, .integer(0...100))
        visitor.scalar("connect", &self.connect, .duration(short))
        visitor.scalar("handshake", &self.handshake, .duration(short))
        visitor.scalar("request", &self.request, .duration(short))
        visitor.scalar("idle", &self.idle, .duration(long))
        visitor.scalar("pingAfter", &self.pingAfter, .duration(long))
        visitor.scalar("pingIdle", &self.pingIdle, .duration(long))
        visitor.scalar("pingAnswer", &self.pingAnswer, .duration(short))
        visitor.scalar("minReconnect", &self.reconnectMin, .duration(short))
        visitor.scalar("maxReconnect", &self.reconnectMax, .duration(short))
        visitor.scalar("minRetry", &self.retryMin, .duration(short))
        visitor.scalar("maxRetry", &self.retryMax, .duration(long))
        visitor.scalar("afterServerError", &self.afterServerError, .duration(long))
        visitor.scalar("tokenAge", &self.tokenAge, .duration(.minutes(20) ... .minutes(59)))
        visitor.scalar("maxReceipts", &self.receiptsMax, .integer(1...10_000))
        visitor.scalar("receiptInterval", &self.receiptInterval, .duration(short))
        visitor.scalars("allowedNetworks", &self.allowedNetworks, .network)
    }

    /// The settings of the client of upstreams and webhooks.
    package var client: HTTPClientConfiguration {
        var client = HTTPClientConfiguration()
        client.connectionsMax = self.connectionsMax
        client.streamsPerConnectionMax = self.streamsMax
        client.queueMax = self.queueMax
        client.targetsMax = self.targetsMax
        client.resendsMax = self.resendsMax
        client.idleTimeout = .milliseconds(self.idle.milliseconds)
        client.reconnectDelayMin = .milliseconds(self.reconnectMin.milliseconds)
        client.reconnectDelayMax = .milliseconds(self.reconnectMax.milliseconds)
        client.connection.connectTimeout = .milliseconds(self.connect.milliseconds)
        client.connection.handshakeTimeout = .milliseconds(self.handshake.milliseconds)
        client.connection.pingAfterSilence = .milliseconds(self.pingAfter.milliseconds)
        client.connection.pingWhenIdle = .milliseconds(self.pingIdle.milliseconds)
        client.connection.pingTimeout = .milliseconds(self.pingAnswer.milliseconds)
        client.connection.responseBodyBytesMax = 65_536
        // The pool bounds the requests that it hands to a connection.
        client.connection.requestsMax = 1_100_000
        return client
    }

    /// The settings of the machine that decides on deliveries.
    package var machine: DeliveryMachine.Settings {
        var settings = DeliveryMachine.Settings()
        settings.limits.inWorkMax = self.inWorkMax
        settings.limits.knownMax = self.knownMax
        settings.retries = self.retries
        settings.requestTimeout = self.request
        return settings
    }

    /// The settings of the machine that decides on receipts.
    package var receipts: ReceiptMachine.Settings {
        var settings = ReceiptMachine.Settings()
        settings.batchMax = self.receiptsMax
        settings.interval = self.receiptInterval
        settings.retries = self.retries
        settings.requestTimeout = self.request
        return settings
    }

    private var retries: DeliveryRetries {
        var retries = DeliveryRetries()
        retries.first = self.retryMin
        retries.max = self.retryMax
        retries.afterServerError = self.afterServerError
        return retries
    }
}

extension SettingType<String> {
    static let url = SettingType.text("an https URL without a user name and fragment (https://push.example:2197)") {
        HTTPOrigin.parse($0) != nil
    }

    static let network = SettingType.text("a network, such as 10.1.0.0/16 or fd00::/8") { IPNetwork($0) != nil }
}
