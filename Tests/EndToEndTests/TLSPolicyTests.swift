import Foundation
import Testing

/// The push listener's handshakes with the `openssl` program.
@Suite struct TLSPolicyTests {
    private func handshake(_ gateway: TestGateway, _ options: [String], input: String? = "") async throws
        -> Command.Result
    {
        try await Command.run("openssl", self.arguments(gateway, options), input: input)
    }

    private func arguments(_ gateway: TestGateway, _ options: [String]) -> [String] {
        [
            "s_client", "-connect", "127.0.0.1:\(gateway.pushPort)", "-servername", "localhost", "-CAfile",
            gateway.ca, "-verify_return_error",
        ] + options
    }

    @Test func `TLS 1_2 and 1_3 are spoken, with forward secrecy and authenticated encryption`() async throws {
        let gateway = try await TestGateway.start()
        let spoken = [
            ["-tls1_3"], ["-tls1_2"], ["-tls1_3", "-ciphersuites", "TLS_CHACHA20_POLY1305_SHA256"],
            ["-tls1_2", "-cipher", "ECDHE-ECDSA-CHACHA20-POLY1305"], ["-tls1_3", "-groups", "P-384"],
        ]
        for options in spoken {
            let seen = try await self.handshake(gateway, ["-alpn", "h2"] + options)
            #expect(seen.status == 0, "\(options): \(seen.errors)")
            #expect(seen.output.contains("ALPN protocol: h2"), "\(options)")
            #expect(seen.output.contains("Compression: NONE"), "\(options)")
        }
        let refused = [
            ["-tls1", "-cipher", "ALL:@SECLEVEL=0"], ["-tls1_1", "-cipher", "ALL:@SECLEVEL=0"],
            ["-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-SHA256"], ["-tls1_2", "-cipher", "ECDHE-ECDSA-AES256-SHA"],
            ["-tls1_2", "-cipher", "AES128-GCM-SHA256"], ["-tls1_2", "-cipher", "DHE-RSA-AES128-GCM-SHA256"],
            ["-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-CCM"], ["-tls1_3", "-ciphersuites", "TLS_AES_128_CCM_SHA256"],
            ["-tls1_3", "-groups", "ffdhe2048"], ["-tls1_3", "-groups", "P-521"],
        ]
        for options in refused {
            let seen = try await self.handshake(gateway, ["-alpn", "h2"] + options)
            #expect(seen.status == 1, "\(options)")
            #expect(seen.output.contains("Cipher is (NONE)"), "\(options)")
        }
        await gateway.stop()
    }

    @Test func `a client that wants to negotiate anew is refused`() async throws {
        let gateway = try await TestGateway.start()
        let seen = try await self.handshake(gateway, ["-tls1_2", "-alpn", "h2"], input: "R\n")
        #expect(seen.output.contains("Secure Renegotiation IS supported"))
        #expect(seen.errors.contains("RENEGOTIATING"))
        #expect(seen.errors.contains("no renegotiation"), "\(seen.errors)")
        await gateway.stop()
    }

    @Test(arguments: ["-tls1_2", "-tls1_3"])
    func `a session is resumed by its ticket, and never with early data`(version: String) async throws {
        // The clients stay until they have seen what they came for.
        let gateway = try await TestGateway.start(extra: "timeouts: {firstRequest: 10m}")
        let file = "\(gateway.folder)/session.pem"
        let options = [version, "-alpn", "h2", "-ign_eof"]
        let first = try Command("openssl", self.arguments(gateway, options + ["-sess_out", file]))
        var session = ""
        for await line in first.lines where line.contains(", Cipher is ") {
            guard line.contains("New, TLS") else {
                first.terminate()
                continue
            }
            session = try await gateway.eventually("a session with a ticket: \(first.written)") {
                let read = try await Command.run("openssl", ["sess_id", "-in", file, "-noout", "-text"])
                return read.output.contains("TLS session ticket:") ? read.output : nil
            }
            first.terminate()
        }
        if version == "-tls1_3" { #expect(session.contains("Max Early Data: 0")) }
        let errors = await first.wait().errors
        #expect(!session.isEmpty, "\(errors)")

        let second = try Command("openssl", self.arguments(gateway, options + ["-sess_in", file]))
        for await line in second.lines where line.contains(", Cipher is ") { second.terminate() }
        let seen = await second.wait()
        #expect(seen.output.contains("Reused, "), "\(seen.errors)")
        await gateway.stop()
    }
}
