import WidgetModel

extension GatewayConfiguration.Operators {
    mutating func visitCertificates(_ visitor: inout some SettingsVisitor) {
        var drafts = self.certificates.map { Draft($0) }
        visitor.records("certificates", &drafts, empty: Draft()) { draft, visitor in
            visitor.optional("fingerprint", &draft.fingerprint, .fingerprint)
            visitor.optional("userID", &draft.userID, .label)
            visitor.scalar("scope", &draft.scope, .choice())
            if (draft.fingerprint == nil) == (draft.userID == nil) {
                visitor.fault("", "needs either fingerprint (SHA-256 of the certificate) or userID (the subject's UID)")
            }
        }
        self.certificates = drafts.map(\.certificate)
    }

    /// A certificate while it is read.
    private struct Draft: Sendable {
        var fingerprint: [UInt8]?
        var userID: String?
        var scope = OperatorScope.read

        init() {}

        init(_ certificate: GatewayConfiguration.OperatorCertificate) {
            switch certificate.name {
            case .fingerprint(let bytes): self.fingerprint = bytes
            case .userID(let text): self.userID = text
            }
            self.scope = certificate.scope
        }

        var certificate: GatewayConfiguration.OperatorCertificate {
            // With neither, the fault has been reported and the configuration is never used.
            let name: GatewayConfiguration.ClientCertificate.Name =
                self.fingerprint.map { .fingerprint($0) } ?? .userID(self.userID ?? "")
            return GatewayConfiguration.OperatorCertificate(name: name, scope: self.scope)
        }
    }

    /// The fault of an access token's line; continues a sentence that starts with its place.
    static func sentence(refusing text: String, number: Int) -> String? {
        guard let token = OperatorToken(text, number: number) else {
            return "a line (number \(number)) without a token, then read, write or admin, then a name"
        }
        guard token.token.utf8.count >= Self.tokenBytesMin else {
            return "a token (number \(number)) of fewer than 16 characters; use a longer one"
        }
        return nil
    }
}
