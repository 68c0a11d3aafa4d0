import ArgumentParser
import Foundation
import WidgetModel

/// `freshet dashboard`
struct Dashboard: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the dashboard's address, or open it in a browser.",
        discussion: """
            The address ends with # and the operator's token. Browsers do not send this part. The page removes the \
            token from the address, and keeps it while its tab is open. Keep the address secret: with it, other \
            people can act as an operator.

            With --key, the address is for a sender: it opens the pages of the key's team. The key signs a token that is \
            valid for an hour. The configuration must let the key read (`teams[].keys[].reads`).

            --open passes the address to xdg-open; other users of this machine can see it there for a moment.

              freshet dashboard --data /var/lib/freshet
              freshet dashboard --open
              freshet dashboard --server https://gateway.example.com:9443 \\
                --key AuthKey_K.p8 --kid K --team T

            Exit codes: 0 printed or opened, 1 no browser could be opened, 64 wrong usage.
            """
    )

    @Flag(help: "Open the address in this user's browser instead.") var open = false
    @Option(help: "A provider key that reads, a .p8 file, in place of an operator's token.") var key: String?
    @Option(help: "The key's id.") var kid: String?
    @Option(help: "The team's id.") var team: String?
    @OptionGroup var gateway: OperatorOptions
    @OptionGroup var answer: AnswerOptions

    func run() throws {
        let access = try self.gateway.access()
        if let key = self.key { return try self.show(access, try self.token(of: key, access)) }
        guard self.kid == nil, self.team == nil else { throw Output.wrongUsage("--kid and --team need --key") }
        guard let token = try access.operatorToken() else {
            // A gateway that is open, or knows a certificate, wants none.
            Output.standardError("\(access.advice(nil)). The page asks for the token if the gateway wants one.")
            return try self.show("\(access.url)/")
        }
        try self.show(access, token.text)
    }

    /// A token that a sender's key signs; a context may say whose the key is.
    private func token(of key: String, _ access: GatewayAccess) throws -> String {
        guard let kid = self.kid ?? access.value(.kid)?.text, let team = self.team ?? access.value(.team)?.text else {
            throw Output.wrongUsage("--key needs --kid and --team")
        }
        var signer = Token.Signer()
        (signer.key, signer.kid, signer.team) = (key, kid, team)
        return try ProviderTokenMint.mint(signer)
    }

    private func show(_ access: GatewayAccess, _ token: String) throws {
        try self.show("\(access.url)/#token=\(token.percentEncoded)")
    }

    private func show(_ address: String) throws {
        guard self.open else { return self.answer.print([("address", .string(address))], or: address) }
        #if os(macOS)
        let opener = "open"
        #else
        let opener = "xdg-open"
        #endif
        let status: Int32
        do {
            status = try OtherProgram.run(opener, [address])
        } catch {
            Output.standardError("\(FailureText.of(error, about: opener)); leave out --open to print the address")
            throw ExitCode.failure
        }
        guard status == 0 else {
            Output.standardError("\(opener) ended with \(status); leave out --open to print the address")
            throw ExitCode.failure
        }
        // With the token in it, the address is printed only where it is not opened.
        if self.answer.json { self.answer.print([("isOpened", .bool(true))], or: "") }
    }
}

/// Programs of the system.
enum OtherProgram {
    /// Runs one that the PATH has, with this terminal.
    ///
    /// - Returns: Its exit code; 127 if there is no such program.
    static func run(_ name: String, _ arguments: [String], isQuiet: Bool = false) throws -> Int32 {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [name] + arguments
        if isQuiet {
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
        }
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus
    }
}
