import Foundation
import Testing

/// The push listener's handshakes with the `openssl` program.
@Suite struct TLSPolicyTests {
    private func handshake(_ gateway: TestGateway, _ options: [String], input: String? = "") async throws
        -> Command.Result
    {
        try await Command.run(
            "openssl",
            [
                "s_client", "-connect", "127.0.0.1:\(gateway.pushPort)", "-servername", "localhost", "-CAfile",
                gateway.ca, "-verify_return_error",
            ] + options,
            input: input
        )
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
        // The listener ends the connections, so that the client has read the ticket before it leaves.
        let gateway = try await TestGateway.start(extra: "timeouts: {firstRequest: 5s}")
        let file = "\(gateway.folder)/session.pem"
        let options = [version, "-alpn", "h2", "-ign_eof"]
        let first = try await self.handshake(gateway, options + ["-sess_out", file])
        #expect(first.output.contains("New, "), "\(first.errors)")
        let second = try await self.handshake(gateway, options + ["-sess_in", file])
        #expect(second.output.contains("Reused, "), "\(second.errors)")
        if version == "-tls1_3" { #expect(first.output.contains("Max Early Data: 0")) }
        await gateway.stop()
    }
}
