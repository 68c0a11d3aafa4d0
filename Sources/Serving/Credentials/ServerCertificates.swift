import Synchronization
package import TLS
package import WidgetModel

/// The certificates that the TLS listeners show: the present ones, and how to take new ones.
package final class ServerCertificates: Sendable {
    /// One listener's certificate, for operators.
    package struct View: Hashable, Sendable {
        package let listener: String
        package let certificate: OwnCertificate
        /// How often another one has taken its place since the start.
        package var replaced = 0
        /// Why the files as they are now were not taken; nil if they were.
        package var refusal: String?

        /// Whether peers refuse it by now.
        package func hasEnded(now: Instant) -> Bool { self.certificate.notAfter <= now }
    }

    /// A certificate that ends so soon is warned of.
    package static let warning = Interval.days(14)

    private let views: Mutex<[View]>

    /// - Parameter certificates: Each listener's certificate at the start, in the order of listeners.
    package init(_ certificates: [(listener: String, certificate: OwnCertificate)] = []) {
        self.views = Mutex(certificates.map { View(listener: $0.listener, certificate: $0.certificate) })
    }

    /// Every listener's certificate now, in the order of listeners.
    package var current: [View] { self.views.withLock { $0 } }

    /// Takes the certificates that `load` makes for a listener, unless it has ended already.
    ///
    /// - Returns: The result of `load`.
    /// - Throws: Why it was not taken; the listener goes on with those that it has.
    package func replace(
        _ listener: String,
        now: Instant,
        load: () throws -> TLSContext
    ) throws -> TLSContext {
        do {
            let context = try load()
            guard let certificate = context.certificate else {
                throw TLSError(.configuration, "the listener has no certificate")
            }
            guard certificate.notAfter > now else {
                throw TLSError(
                    .configuration,
                    "the certificate expired at \(Self.text(certificate.notAfter)); replace it with a newer one"
                )
            }
            self.update(listener) { view in
                let isNew = view.certificate != certificate
                view = View(listener: listener, certificate: certificate, replaced: view.replaced + (isNew ? 1 : 0))
            }
            return context
        } catch {
            self.update(listener) { $0.refusal = "\(error)" }
            throw error
        }
    }

    private func update(_ listener: String, _ change: (inout View) -> Void) {
        self.views.withLock { views in
            guard let index = views.firstIndex(where: { $0.listener == listener }) else { return }
            change(&views[index])
        }
    }

    /// The listeners whose certificate has ended or will soon, in their order.
    package func ending(now: Instant) -> [View] {
        self.current.filter { $0.certificate.notAfter < now + Self.warning }
    }

    package static func text(_ instant: Instant) -> String { RFC3339.text(of: instant) ?? "\(instant.milliseconds)" }
}

extension OwnCertificate {
    /// When it ends.
    package var notAfter: Instant { Instant(seconds: self.notAfterSeconds) }
}
