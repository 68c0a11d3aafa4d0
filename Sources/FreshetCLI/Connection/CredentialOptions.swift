import ArgumentParser
import Foundation

/// How a sender proves who it is: a ready token, or a key to mint one with.
struct CredentialOptions: ParsableArguments {
    @Option(
        help: """
            A file with a provider token, - for standard input. Default: the token in FRESHET_PROVIDER_TOKEN.
            """
    )
    var tokenFile: String?
    @Option(help: "The provider key that mints a token, a .p8 file.") var key: String?
    @Option(help: "The key's id.") var kid: String?
    @Option(help: "The team's id.") var team: String?

    /// Their values, beside a token's file.
    var settings: [GatewaySetting: String?] { [.key: self.key, .kid: self.kid, .team: self.team] }

    /// Whether a token is minted, and can be minted anew.
    func isMinted(_ access: GatewayAccess) -> Bool {
        guard self.tokenFile == nil else { return false }
        let layer = access.layers.first { $0.values[.key] != nil || $0.values[.providerToken] != nil }
        return layer?.values[.key] != nil
    }

    /// The token to send, or nil if a client certificate speaks.
    func providerToken(_ access: GatewayAccess) throws -> String? {
        if let file = self.tokenFile { return try TokenText.read(file) }
        guard self.isMinted(access), let key = access.value(.key) else { return access.value(.providerToken)?.text }
        guard let kid = access.value(.kid), let team = access.value(.team) else {
            throw Output.wrongUsage("--key needs --kid and --team")
        }
        var signer = Token.Signer()
        signer.key = key.text
        signer.kid = kid.text
        signer.team = team.text
        return try ProviderTokenMint.mint(signer)
    }

    /// The token to send, where nothing else will do.
    func requiredProviderToken(_ access: GatewayAccess) throws -> String {
        guard let token = try self.providerToken(access) else {
            throw Output.wrongUsage("give --token-file, or --key with --kid and --team")
        }
        return token
    }
}

/// Tokens in files.
enum TokenText {
    /// The token on the first line that is neither empty nor a comment, as in `ops.tokensFile`: behind it may stand its
    /// purpose.
    ///
    /// - Parameter file: A path; - for standard input.
    /// - Throws: Exit code 64, if there is none.
    static func read(_ file: String) throws(ExitCode) -> String {
        let bytes = file == "-" ? try? FileHandle.standardInput.readToEnd() : try? Data(contentsOf: URL(filePath: file))
        guard let bytes else {
            throw Output.wrongUsage(
                "the token file \(file) cannot be read; check that it exists, and its owner and mode"
            )
        }
        let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline).map {
            $0.trimmingCharacters(in: .whitespaces)
        }
        guard let line = lines.first(where: { !$0.isEmpty && !$0.hasPrefix("#") }),
            let token = line.split(separator: " ").first
        else { throw Output.wrongUsage("\(file) has no token") }
        return String(token)
    }
}
