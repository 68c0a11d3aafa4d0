import APNSWire
import ArgumentParser
import Partitions
import TLS
import WidgetModel

extension Token {
    /// `freshet token inspect`
    struct Inspect: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Show the owner, the purpose and the validity of a provider token or a host credential.",
            discussion: """
                Nothing is sent, and the token is not printed. With --key, the verb also checks the signature. The \
                gateway's configuration has the rights of a key: `freshet config get --team T` prints them, `reads` \
                among them.

                  freshet token inspect token.txt --key certs/provider-key.public.pem
                  freshet token mint --key certs/provider-key.p8 --kid K --team T \\
                    | freshet token inspect

                Exit codes: 0 valid now, 1 it cannot be read, has expired, is not valid yet, or its signature is wrong.
                """
        )

        @Argument(help: "A file with the token, - for standard input.") var file = "-"
        @Option(help: "The provider key or its public half, a PEM file, to check the signature.") var key: String?
        @OptionGroup var answer: AnswerOptions

        func run() throws {
            let text = try TokenText.read(self.file)
            let now = LogClock.wallTime()
            let reading: TokenReading
            do throws(TokenError) {
                reading = try TokenReading(text, now: now)
            } catch {
                Output.standardError("\(self.file) has no token of a sender or host: \(error.sentence)")
                throw ExitCode(1)
            }
            let isSigned = try self.publicKey.map { key in
                key.verify(signature: reading.signature.span, message: reading.signingInput.span)
            }
            if self.answer.json {
                Output.line(reading.json(isSigned: isSigned).words)
            } else {
                for line in reading.card(isSigned: isSigned, now: now).lines(on: Screen.current) { Output.line(line) }
            }
            if reading.fault != nil || isSigned == false { throw ExitCode(1) }
        }

        private var publicKey: ES256PublicKey? {
            get throws {
                guard let key = self.key else { return nil }
                do throws(TLSError) {
                    if let whole = try? ES256PrivateKey(pem: .file(key)) { return whole.publicKey }
                    return try ES256PublicKey(pem: .file(key))
                } catch {
                    throw Output.wrongUsage("--key: \(error)")
                }
            }
        }
    }
}

/// A token's claims, and whether it counts now by this machine's clock and the gateways' default rules.
struct TokenReading {
    /// R || S, and the bytes that are signed.
    let signature: [UInt8]
    let signingInput: [UInt8]
    /// Why it does not count; nil if it does.
    let fault: String?
    private let members: [(name: String, value: JSONValue?)]

    init(_ text: String, now: Instant) throws(TokenError) {
        let bytes = Array(text.utf8)
        let claims = try CompactToken.parse(bytes.span, reader: JSONReader()).claims
        if claims["aud"] != nil {
            let host = try HostCredential.parse(token: bytes.span, reader: JSONReader())
            (self.signature, self.signingInput) = (host.signature, host.signingInput)
            self.fault = Self.fault(host.claims, now)
            self.members = [
                ("is", .string("host credential")), ("team", .string(host.claims.team.rawValue)),
                ("keyID", .string(host.keyID.rawValue)), ("app", .string(host.claims.app.rawValue)),
                ("pushToken", .string(host.claims.pushToken.description)),
                ("host", host.claims.host.map { .string($0.rawValue) }), ("issuedAt", .instant(host.claims.issuedAt)),
                ("notBefore", host.claims.notBefore.map { .instant($0) }),
                ("expiresAt", .instant(host.claims.expiresAt)),
            ]
        } else {
            let provider: ProviderToken
            do throws(ProviderTokenError) {
                provider = try ProviderToken.parse(
                    authorization: Array("bearer \(text)".utf8).span,
                    reader: JSONReader()
                )
            } catch {
                throw TokenError(error.sentence)
            }
            (self.signature, self.signingInput) = (provider.signature, provider.signingInput)
            self.fault = Self.fault(provider.times, now)
            let end = provider.times.issuedAt + ProviderTokenRules().ageMax
            self.members = [
                ("is", .string("provider token")), ("team", .string(provider.team.rawValue)),
                ("keyID", .string(provider.keyID.rawValue)), ("issuedAt", .instant(provider.times.issuedAt)),
                ("notBefore", provider.times.notBefore.map { .instant($0) }),
                ("expiresAt", .instant(provider.times.expiresAt.map { min($0, end) } ?? end)),
            ]
        }
    }

    private static func fault(_ claims: HostCredentialClaims, _ now: Instant) -> String? {
        do throws(TokenError) {
            try HostCredentialRules().check(claims, now: now)
            return nil
        } catch {
            return error.sentence
        }
    }

    private static func fault(_ times: ProviderTokenTimes, _ now: Instant) -> String? {
        do throws(Rejection) {
            try ProviderTokenRules().check(times, now: now)
            return nil
        } catch {
            return error == .expiredProviderToken ? "the token has expired" : "the token is not valid yet"
        }
    }

    /// - Parameter isSigned: Whether the signature holds; nil where it was not checked.
    func json(isSigned: Bool?) -> JSONValue {
        .object(
            of: self.members.map { ($0.name, $0.value) } + [
                ("isGood", .bool(self.fault == nil && isSigned != false)),
                ("isSigned", isSigned.map { .bool($0) }), ("fault", self.fault.map { .string($0) }),
            ]
        )
    }

    /// For people.
    func card(isSigned: Bool?, now: Instant) -> TextCard {
        let titles = [
            "keyID": "key", "pushToken": "push token", "issuedAt": "issued", "notBefore": "not before",
            "expiresAt": "good until",
        ]
        var card = TextCard()
        for (name, value) in self.members {
            let isTime = ["issuedAt", "notBefore", "expiresAt"].contains(name)
            card.add(titles[name] ?? name, value.map { isTime ? Moment.text($0.words, now: now) : $0.words })
        }
        card.add(
            "signature",
            isSigned.map { $0 ? Cell("holds", .good) : Cell("is not by this key", .bad) } ?? "not checked: give --key"
        )
        card.add("counts now", self.fault.map { Cell("no: \($0)", .bad) } ?? Cell("yes", .good))
        return card
    }
}
