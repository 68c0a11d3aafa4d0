import TLS

/// A client's and a server's session joined in memory.
struct Wire {
    let client: TLSSession
    let server: TLSSession
    /// Everything that a side has read.
    private(set) var readByClient: [UInt8] = []
    private(set) var readByServer: [UInt8] = []
    private(set) var clientProgress = TLSProgress.needsMoreCiphertext
    private(set) var serverProgress = TLSProgress.needsMoreCiphertext

    init(client: TLSContext, server: TLSContext, serverName: String = "localhost") throws {
        self.client = try .client(client, serverName: serverName)
        self.server = try .server(server)
    }

    /// Moves bytes both ways, at most `step` at a time, until nothing moves.
    mutating func settle(step: Int = .max) throws {
        while self.client.pendingCiphertextBytes > 0 || self.server.pendingCiphertextBytes > 0 {
            try self.clientToServer(step: step)
            try self.serverToClient(step: step)
        }
    }

    mutating func clientToServer(step: Int = .max) throws {
        for piece in pieces(self.client.drainAll(), step) {
            try self.server.receive(piece.span)
            self.serverProgress = try readAll(self.server, &self.readByServer)
        }
    }

    mutating func serverToClient(step: Int = .max) throws {
        for piece in pieces(self.server.drainAll(), step) {
            try self.client.receive(piece.span)
            self.clientProgress = try readAll(self.client, &self.readByClient)
        }
    }
}

/// Reads all that is there, and appends it to `bytes`.
func readAll(_ session: TLSSession, _ bytes: inout [UInt8]) throws -> TLSProgress {
    while true {
        var progress = TLSProgress.needsMoreCiphertext
        let piece = try [UInt8](capacity: 4096) { output in
            progress = try session.readPlaintext(into: &output)
        }
        guard case .bytes = progress else { return progress }
        bytes += piece
    }
}

private func pieces(_ bytes: [UInt8], _ step: Int) -> [[UInt8]] {
    guard bytes.count > step else { return bytes.isEmpty ? [] : [bytes] }
    return stride(from: 0, to: bytes.count, by: step).map { Array(bytes[$0..<min($0 + step, bytes.count)]) }
}
