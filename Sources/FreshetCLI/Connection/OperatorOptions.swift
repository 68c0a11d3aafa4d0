import ArgumentParser
import Foundation
import OperatorAPI
import Settings

/// A gateway's listener for operators, and how one proves to be an operator: the same for every verb that asks it.
struct OperatorOptions: ParsableArguments {
    @OptionGroup var connection: ConnectionOptions
    @Option(
        help: """
            A file with the operator's token on its first line, - for standard input. Default: FRESHET_TOKEN_FILE, \
            FRESHET_OPERATOR_TOKEN, the context's, or for a gateway on this machine the file operator-token in its \
            data directory.
            """
    )
    var tokenFile: String?
    @Option(
        name: [.customLong("data"), .customShort("d")],
        help: "The gateway's data directory (default: FRESHET_DATA_DIRECTORY, data, or /var/lib/freshet)."
    )
    var directory: String?

    /// The gateway's address and the credential for it.
    func access() throws -> GatewayAccess {
        try self.connection.access(.ops, [.tokenFile: self.tokenFile, .dataDirectory: self.directory])
    }
}

extension GatewayAccess {
    /// An operator's token, and where it was found.
    struct OperatorToken: Sendable {
        let text: String
        let place: String
    }

    /// The token to send: the named one, else one that is found; nil if there is none.
    ///
    /// A token that was not named is for the gateway beside it: it is not shown to another machine's.
    func operatorToken() throws -> OperatorToken? {
        for layer in self.layers {
            if let file = layer.values[.tokenFile] {
                return OperatorToken(text: try TokenText.read(file), place: file)
            }
            if let text = layer.values[.operatorToken] {
                return OperatorToken(text: text, place: layer.place(of: .operatorToken))
            }
            guard self.isOnThisMachine, let directory = layer.values[.dataDirectory] else { continue }
            let file = OperatorTokenFile(inDirectory: directory)
            if let text = try? file.read() { return OperatorToken(text: text, place: file.path) }
        }
        guard self.isOnThisMachine else { return nil }
        for file in self.operatorTokenFiles {
            if let text = try? file.read() { return OperatorToken(text: text, place: file.path) }
        }
        return nil
    }

    /// Where a gateway on this machine may have its token.
    private var operatorTokenFiles: [OperatorTokenFile] {
        let named = self.value(.dataDirectory).map { [$0.text] }
        return (named ?? ["data", GatewayConfiguration().dataDirectory]).map { OperatorTokenFile(inDirectory: $0) }
    }

    /// The remedy for a missing or wrong credential.
    func advice(_ token: OperatorToken?) -> String {
        if let token { return "the token is from \(token.place)" }
        let ways = "give --token-file or \(GatewaySetting.operatorToken.variable)"
        guard self.isOnThisMachine else { return "no token was found: \(ways)" }
        let files = self.operatorTokenFiles.map(\.path).joined(separator: " and ")
        return "no token was found, since \(files) cannot be read: \(ways), or --data"
    }
}
