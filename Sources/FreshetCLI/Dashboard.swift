import ArgumentParser
import Foundation

/// `freshet dashboard`
struct Dashboard: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the address of the dashboard, for a browser.",
        discussion: """
            The operator's token stands in it once, behind the #, which browsers send to nobody. The page keeps the token for as \
            long as its tab is open, and takes it out of the address. Whoever has the address is an operator: open it, and do not \
            hand it on.

              freshet dashboard --data /var/lib/freshet
            """
    )

    @OptionGroup var gateway: OperatorOptions

    func run() throws {
        let (host, port) = try self.gateway.place()
        let authority = "\(host.contains(":") ? "[\(host)]" : host):\(port)"
        guard let token = try self.gateway.token() else {
            // A gateway that is open, or knows a certificate, wants none.
            Output.standardError(
                "\(try self.gateway.advice(nil)). The page asks for the token if the gateway wants one."
            )
            return print("https://\(authority)/")
        }
        let text = token.text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? token.text
        print("https://\(authority)/#token=\(text)")
    }
}
