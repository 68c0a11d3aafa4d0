import APNSWire
package import Settings
import TLS
import WidgetModel

extension SenderDirectory {
    /// A digest of the credentials by which the gateway's configuration and files let callers be known, to compare those of two gateways
    /// with the same program.
    ///
    /// It is of what everyone may know: names, ids, rights and public keys. Secrets would be open to guessing, so an operator's token
    /// counts by its name and scope, an upstream's key by its id, and secrets of webhooks and timeline providers do not count.
    ///
    /// - Parameter configuration: That in force.
    package func digest(_ configuration: GatewayConfiguration) -> UInt64 {
        var lines = configuration.teams.flatMap { team in team.keys.map { self.line($0, of: team.id) } }
        for app in configuration.apps {
            lines += app.clientCertificates.map { certificate in
                Self.line(["sender", app.bundleID.rawValue, Self.text(certificate.name), Self.text(certificate.topics)])
            }
            if let key = app.upstream?.keyID {
                lines.append(Self.line(["upstream", app.bundleID.rawValue, key.rawValue]))
            }
        }
        let operators = configuration.operators
        for text in operators.tokens {
            // A token without a name would be named by its place in the file.
            guard let caller = OperatorToken(text.value, number: 0)?.caller else { continue }
            lines.append(Self.line(["operator", caller.name, caller.scope.rawValue]))
        }
        lines += operators.certificates.map { Self.line(["operator", Self.text($0.name), $0.scope.rawValue]) }
        lines.append(Self.line(["open", "\(operators.isOpen)", configuration.clientCertificates.unnamed.rawValue]))
        lines.append(Self.line(["revoked", "\(self.certificates.revocationDigest)"]))
        // The order in which a file has them decides nothing.
        return Digests.short(Array(lines.sorted().joined(separator: "\n").utf8).span)
    }

    private func line(_ key: GatewayConfiguration.ProviderKey, of team: TeamID) -> String {
        Self.line([
            "key", team.rawValue, key.id.rawValue, (try? self.keys.key(key.id)?.publicKey.pemRepresentation) ?? "",
            Self.text(key.topics), Self.text(key.allowedActions?.map(\.rawValue)), "\(key.reads)",
            key.environment?.rawValue ?? "", key.relatedKey?.rawValue ?? "",
        ])
    }

    /// None of them has a control character but the key, which is of a fixed form.
    private static func line(_ fields: [String]) -> String { fields.joined(separator: "\t") }

    /// Nil is all of them.
    private static func text(_ names: [String]?) -> String { names?.sorted().joined(separator: ",") ?? "*" }

    private static func text(_ name: GatewayConfiguration.ClientCertificate.Name) -> String {
        switch name {
        case .fingerprint(let bytes): Base16.text(of: bytes)
        case .userID(let id): "UID \(id)"
        }
    }
}
