import TLS
import TestSupport
import Testing

@Suite struct TransferTests {
    @Test(arguments: TLSVersion.allCases)
    func `large transfers arrive whole, both ways at once`(version: TLSVersion) throws {
        let seed: UInt64 = 0x5EED_0715
        var dice = SplitMix64(seed: seed)
        var wire = try Wire.ready(version: version)
        var sentByClient: [UInt8] = []
        var sentByServer: [UInt8] = []
        for size in [0, 1, 16_383, 16_384, 16_385, 100_000, 3_000_000] {
            let upward = (0..<size).map { _ in UInt8.random(in: 0...255, using: &dice) }
            try wire.client.write(upward.span)
            try wire.server.write(upward.reversed().span)
            sentByClient += upward
            sentByServer += upward.reversed()
            try wire.settle(step: Int.random(in: 1000...70_000, using: &dice))
        }
        #expect(wire.readByServer == sentByClient, "seed \(seed)")
        #expect(wire.readByClient == sentByServer, "seed \(seed)")
    }

    @Test(arguments: TLSVersion.allCases)
    func `a transfer survives being dripped byte by byte`(version: TLSVersion) throws {
        var wire = try Wire.ready(version: version)
        let text = (0..<3000).map { UInt8(truncatingIfNeeded: $0) }
        try wire.client.write(text.span)
        try wire.settle(step: 1)
        #expect(wire.readByServer == text)
        #expect(wire.serverProgress == .needsMoreCiphertext)
    }

    @Test func `a small buffer gets the plaintext in parts`() throws {
        let wire = try Wire.ready()
        try wire.client.write([1, 2, 3, 4, 5].span)
        try wire.server.receive(wire.client.drainAll().span)
        var parts: [TLSProgress] = []
        let bytes = try [UInt8](capacity: 2) { output in parts.append(try wire.server.readPlaintext(into: &output)) }
        #expect(bytes == [1, 2])
        let rest = try [UInt8](capacity: 10) { output in
            parts.append(try wire.server.readPlaintext(into: &output))
            parts.append(try wire.server.readPlaintext(into: &output))
        }
        #expect(rest == [3, 4, 5])
        #expect(parts == [.bytes(2), .bytes(3), .needsMoreCiphertext])
    }

    @Test func `draining into a small buffer leaves the rest`() throws {
        let wire = try Wire.ready()
        try wire.client.write([UInt8](repeating: 7, count: 1000).span)
        let pending = wire.client.pendingCiphertextBytes
        let first = [UInt8](capacity: 10) { output in _ = wire.client.drain(into: &output) }
        #expect(first.count == 10)
        #expect(wire.client.pendingCiphertextBytes == pending - 10)
        #expect(wire.client.drainAll().count == pending - 10)
        #expect(wire.client.drainAll() == [])
    }

    @Test(arguments: TLSVersion.allCases)
    func `close_notify is a clean end`(version: TLSVersion) throws {
        var wire = try Wire.ready(version: version)
        try wire.client.write([1, 2, 3].span)
        wire.client.shutdown()
        #expect(wire.client.state == .closed)
        try wire.settle()
        #expect(wire.readByServer == [1, 2, 3])
        #expect(wire.serverProgress == .closedCleanly)
        #expect(wire.server.peerHasClosed)
        #expect(throws: TLSError(.state, "cannot write: the TLS session is closed")) { try wire.client.write([4].span) }
        try wire.server.receiveEnd()
        #expect(try readAll(wire.server) == .closedCleanly)
        wire.server.shutdown()
        try wire.settle()
        #expect(wire.clientProgress == .closedCleanly)
        wire.server.shutdown()
        #expect(wire.server.pendingCiphertextBytes == 0)
    }

    @Test func `the server's last words can be read after the client's close_notify`() throws {
        var wire = try Wire.ready()
        wire.client.shutdown()
        try wire.clientToServer()
        try wire.server.write([9, 9].span)
        wire.server.shutdown()
        try wire.serverToClient()
        #expect(wire.readByClient == [9, 9])
        #expect(wire.clientProgress == .closedCleanly)
    }

    @Test(arguments: TLSVersion.allCases)
    func `an end without close_notify is truncation, after all that came`(version: TLSVersion) throws {
        let wire = try Wire.ready(version: version)
        try wire.client.write([1, 2, 3].span)
        try wire.server.receive(wire.client.drainAll().span)
        try wire.server.receiveEnd()
        var read: [UInt8] = []
        let error = try #require(throws: TLSError.self) { try readAll(wire.server, &read) }
        #expect(error.code == .truncated)
        #expect(error.message == "peer ended the connection without close_notify")
        #expect(wire.server.state == .closed)
        #expect(throws: error) { try wire.server.write([1].span) }
    }

    @Test(arguments: TLSVersion.allCases)
    func `every flipped bit of a record is found`(version: TLSVersion) throws {
        let length = try Self.record(version).count
        for index in 0..<length {
            let wire = try Wire.ready(version: version)
            try wire.client.write([1, 2, 3].span)
            var record = wire.client.drainAll()
            record[index] ^= 1 << (index % 8)
            var read: [UInt8] = []
            // A length that says more than came is not wrong yet; the end of the input shows it.
            let error = #expect(throws: TLSError.self, "byte \(index)") {
                try wire.server.receive(record.span)
                _ = try readAll(wire.server, &read)
                try wire.server.receiveEnd()
                _ = try readAll(wire.server, &read)
            }
            #expect(read == [], "byte \(index)")
            #expect(wire.server.state == .closed, "byte \(index): \(error?.message ?? "")")
        }
    }

    private static func record(_ version: TLSVersion) throws -> [UInt8] {
        let wire = try Wire.ready(version: version)
        try wire.client.write([1, 2, 3].span)
        return wire.client.drainAll()
    }

    @Test func `noise never traps and never becomes plaintext`() throws {
        let seed: UInt64 = 0x5EED_2015
        var dice = SplitMix64(seed: seed)
        let context = try Fixture.shared.get().serverContext()
        let client = try Fixture.shared.get().clientContext()
        for round in 0..<400 {
            let session = try TLSSession.server(context)
            var bytes = try TLSSession.client(client, serverName: "localhost").drainAll()
            for _ in 0..<Int.random(in: 1...8, using: &dice) {
                bytes[Int.random(in: 0..<bytes.count, using: &dice)] = UInt8.random(in: 0...255, using: &dice)
            }
            do { try session.receive(bytes.span) } catch { #expect(session.state == .closed, "seed \(seed), \(round)") }
            #expect(session.state != .ready)
        }
    }

    @Test func `what follows a close_notify is ignored`() throws {
        var wire = try Wire.ready()
        wire.client.shutdown()
        try wire.settle()
        try wire.server.receive([UInt8](repeating: 0xFF, count: 5000).span)
        #expect(try readAll(wire.server) == .closedCleanly)
        try wire.server.write([1].span)
        #expect(wire.server.state == .ready)
    }

    @Test func `a shutdown during the handshake ends it`() throws {
        let fixture = try Fixture.shared.get()
        let client = try TLSSession.client(fixture.clientContext(), serverName: "localhost")
        let server = try TLSSession.server(fixture.serverContext())
        server.shutdown()
        #expect(server.state == .closed)
        #expect(throws: TLSError(.state, "the TLS session was closed during the handshake")) {
            try server.receive(client.drainAll().span)
        }
        #expect(server.pendingCiphertextBytes == 0)
    }

    @Test func `a burst leaves a session working after its memory is given back`() throws {
        var wire = try Wire.ready()
        for _ in 0..<3 {
            let burst = [UInt8](repeating: 5, count: 200_000)
            try wire.client.write(burst.span)
            try wire.settle()
            try wire.client.write([6].span)
            try wire.settle()
        }
        #expect(wire.readByServer.count == 600_003)
    }

    @Test func `the memory of a burst is kept while bytes come and go, and given back once they do not`() throws {
        var wire = try Wire.ready()
        try wire.client.write([UInt8](repeating: 5, count: 60_000).span)
        try wire.settle()
        let busy = wire.server.heldCiphertextBytes
        #expect(busy > 60_000)
        wire.server.releaseIdleMemory()
        #expect(wire.server.heldCiphertextBytes == busy)
        wire.server.releaseIdleMemory()
        #expect(wire.server.heldCiphertextBytes <= 8192)
        try wire.client.write([6].span)
        try wire.settle()
        #expect(wire.readByServer.count == 60_001)
    }

    @Test func `a burst beyond what a busy session keeps is given back at once`() throws {
        var wire = try Wire.ready()
        try wire.client.write([UInt8](repeating: 5, count: 400_000).span)
        try wire.settle()
        #expect(wire.server.heldCiphertextBytes < 262_144)
    }

    @Test func `nothing can be written before the handshake is complete`() throws {
        let session = try TLSSession.client(Fixture.shared.get().clientContext(), serverName: "localhost")
        #expect(throws: TLSError(.state, "cannot write: the TLS session is handshaking")) {
            try session.write([1].span)
        }
        #expect(session.negotiatedProtocol == nil)
        session.shutdown()
        #expect(session.state == .closed)
    }
}

/// Reads all that is there, and drops it.
private func readAll(_ session: TLSSession) throws -> TLSProgress {
    var dropped: [UInt8] = []
    return try readAll(session, &dropped)
}
