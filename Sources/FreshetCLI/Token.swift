import APNSWire
import ArgumentParser
import Partitions
import TLS
import WidgetModel

/// `freshet token`
struct Token: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Mint the tokens of senders and hosts, and inspect them.",
        discussion: """
              freshet token mint --key certs/provider-key.p8 --kid K --team T

            Exit codes: 0 done, 1 the key or token cannot be read or is not valid, 64 wrong usage.
            """,
        subcommands: [Mint.self, MintHost.self, Inspect.self]
    )

    /// The options that every minted token needs.
    struct Signer: ParsableArguments {
        @Option(help: "The provider key, a .p8 file.") var key: String
        @Option(help: "The key's id, the kid of the configuration.") var kid: String
        @Option(help: "The team's id.") var team: String

        func token(_ signingInput: (KeyID) -> [UInt8]) throws -> String {
            let input = signingInput(KeyID(self.kid))
            let signature = try ES256PrivateKey(pem: .file(self.key)).sign(input.span)
            return String(decoding: CompactToken.compact(signingInput: input, signature: signature), as: UTF8.self)
        }
    }

    /// How a minted token is printed.
    struct Form: ParsableArguments {
        @Flag(help: "Print the whole header, `authorization: bearer <token>`.") var header = false
        @OptionGroup var answer: AnswerOptions

        func print(_ token: String) {
            let header = "authorization: bearer \(token)"
            self.answer.print(
                [("token", .string(token)), ("header", .string(header))],
                or: self.header ? header : token
            )
        }
    }

    /// `freshet token mint`
    struct Mint: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Mint a provider token, valid for an hour.",
            discussion: """
                Send it as `authorization: bearer <token>`, as in curl -H "$(freshet token mint … --header)". Use one \
                token for all connections of a team.

                  freshet token mint --key certs/provider-key.p8 --kid K --team T --header
                """
        )

        @OptionGroup var signer: Signer
        @OptionGroup var form: Form
        @Option(help: "The token's iat in UNIX seconds. Default: now.") var issuedAt: Int64?

        func run() throws {
            let issuedAt = self.issuedAt.map { Instant(seconds: $0) } ?? LogClock.wallTime()
            self.form.print(try ProviderTokenMint.mint(self.signer, issuedAt: issuedAt))
        }
    }

    /// `freshet token host`
    struct MintHost: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "host",
            abstract: "Mint a host credential for one push token of an app.",
            discussion: """
                With --host, the credential also names the host: the host may then register under that name, also with \
                a new push token. Without it, the host's name comes from its push token.

                  freshet token host --key certs/provider-key.p8 --kid K --team T \\
                    --app com.example.scores \\
                    --push-token 0a1b2c3d --host phone
                """
        )

        @OptionGroup var signer: Signer
        @OptionGroup var form: Form
        @Option(help: "The app's bundle id.") var app: String
        @Option(name: .customLong("push-token"), help: "The host's push token in hex.") var pushToken: String
        @Option(help: "The id of the host that has the push token.") var host: String?
        @Option(help: "For how many days, 1 to 90.") var days: Int64 = 30

        func validate() throws {
            guard DeviceToken(hex: self.pushToken) != nil else { throw ValidationError("--push-token is not hex") }
            guard (1...90).contains(self.days) else { throw ValidationError("--days takes 1 to 90") }
        }

        func run() throws {
            guard let pushToken = DeviceToken(hex: self.pushToken) else { return }
            let now = LogClock.wallTime()
            let claims = HostCredentialClaims(
                team: TeamID(self.signer.team),
                app: BundleID(self.app),
                pushToken: pushToken,
                host: self.host.map { HostID($0) },
                issuedAt: now,
                expiresAt: now + .days(self.days)
            )
            self.form.print(try self.signer.token { claims.signingInput(keyID: $0) })
        }
    }
}

/// Mints provider tokens for the verbs that call a gateway.
enum ProviderTokenMint {
    static func mint(_ signer: Token.Signer, issuedAt: Instant = LogClock.wallTime()) throws -> String {
        try signer.token {
            ProviderTokenClaims(keyID: $0, team: TeamID(signer.team), issuedAt: issuedAt).signingInput
        }
    }
}
