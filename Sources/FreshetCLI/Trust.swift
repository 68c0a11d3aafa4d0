import ArgumentParser
import Foundation
import WidgetModel

/// `freshet trust`
struct Trust: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make this user's browser trust a development CA, so that it opens the dashboard without a warning.",
        discussion: """
            For the CA that freshet certs makes. On Linux, the CA goes into the store of Chromium and Chrome \
            (~/.pki/nssdb, with certutil of libnss3-tools); on macOS, into the login keychain. Firefox has its own \
            store: import the CA under Settings, Certificates.

              freshet trust certs/ca.pem
              freshet trust certs/ca.pem --remove

            Exit codes: 0 done, 1 the file cannot be read or the store cannot be changed, 64 wrong usage.
            """
    )
    private static let name = "Freshet development CA"

    @Argument(help: "The CA's certificate, in PEM.") var file = "certs/ca.pem"
    @Flag(help: "Remove the CA from the store.") var remove = false
    @OptionGroup var answer: AnswerOptions

    func run() throws {
        guard FileManager.default.isReadableFile(atPath: self.file) else {
            Output.standardError("\(self.file) cannot be read; check the path, or make a CA with freshet certs")
            throw ExitCode.failure
        }
        #if os(macOS)
        let verb = self.remove ? ["remove-trusted-cert"] : ["add-trusted-cert", "-r", "trustRoot"]
        try self.change("security", verb + [self.file], "Xcode's command line tools")
        #else
        let home = ProcessInfo.processInfo.environment["HOME"] ?? NSHomeDirectory()
        let store = "sql:\(home)/.pki/nssdb"
        if !self.remove {
            try FileManager.default.createDirectory(atPath: "\(home)/.pki/nssdb", withIntermediateDirectories: true)
            if !FileManager.default.fileExists(atPath: "\(home)/.pki/nssdb/cert9.db") {
                try self.change("certutil", ["-N", "--empty-password", "-d", store], "libnss3-tools")
            }
            // One of that name is an older one's.
            _ = try OtherProgram.run("certutil", ["-D", "-n", Self.name, "-d", store], isQuiet: true)
        }
        let verb = self.remove ? ["-D"] : ["-A", "-t", "C,,", "-i", self.file]
        try self.change("certutil", verb + ["-n", Self.name, "-d", store], "libnss3-tools")
        #endif
        self.answer.print(
            [("file", .string(self.file)), ("isTrusted", .bool(!self.remove))],
            or: self.remove ? "trusted no longer" : "trusted by this user's browser once you restart it"
        )
    }

    private func change(_ program: String, _ arguments: [String], _ package: String) throws {
        let status = try OtherProgram.run(program, arguments)
        guard status != 0 else { return }
        Output.standardError(
            status == 127 ? "\(program) is missing: install \(package)" : "\(program) ended with \(status)"
        )
        throw ExitCode.failure
    }
}
