import ArgumentParser

/// `freshet dashboard`
struct Dashboard: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the address of the dashboard, for a browser.",
        discussion: """
            The operator's token stands in it once, behind the #, which browsers send to nobody. The page keeps the token for as \
            long as its tab is open, and takes it out of the address. Whoever has the address is an operator: open it, and do not \
            hand it on.

              freshet dashboard --data /var/lib/freshet

            Exit codes: 0 printed, 64 wrong usage.
            """
    )

    @OptionGroup var gateway: OperatorOptions

    func run() throws {
        let access = try self.gateway.access()
        guard let token = try access.operatorToken() else {
            // A gateway that is open, or knows a certificate, wants none.
            Output.standardError("\(access.advice(nil)). The page asks for the token if the gateway wants one.")
            return print("\(access.url)/")
        }
        print("\(access.url)/#token=\(token.text.percentEncoded)")
    }
}
