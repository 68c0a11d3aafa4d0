import Foundation

/// A push of a bulk, with its target.
public struct AddressedPush: Sendable, Hashable {
    /// The push.
    public var push: Push
    /// The instances of the app that it is for.
    public var target: Target

    /// Makes a push with its target.
    public init(_ push: Push = Push(), to target: Target) {
        self.push = push
        self.target = target
    }
}

extension Sender {
    /// Sends many pushes in one request: for a sender that cannot have many open requests.
    ///
    /// The gateway accepts or refuses each push separately. Pushes without an answer, and pushes that the gateway asks
    /// for again, are sent again with the same id, as ``Endpoint/retries`` says.
    ///
    /// - Parameter pushes: The pushes. By default a gateway takes 10,000 and 1 MiB at once.
    /// - Returns: The result for each push, in the same order: the confirmation that it is on disk, or the reason of a
    ///   refusal.
    /// - Throws: ``FreshetError`` if no result is known, an error of the token source, or `CancellationError`.
    public func push(_ pushes: [AddressedPush]) async throws -> [Result<Receipt, FreshetError>] {
        var results: [Result<Receipt, FreshetError>?] = Array(repeating: nil, count: pushes.count)
        var open = Array(pushes.indices)
        var attempts = 0
        while !open.isEmpty {
            attempts += 1
            var waits: [Duration] = []
            do {
                for (place, answer) in zip(open, try await self.answers(to: open.map { pushes[$0] })) {
                    let result = answer.result(of: pushes[place].push, attempts: attempts)
                    results[place] = result
                    guard case .failure(let error) = result else { continue }
                    if let wait = self.endpoint.retries.wait(after: attempts, error) {
                        results[place] = nil
                        waits.append(wait)
                    }
                }
            } catch let error as FreshetError {
                if let wait = self.endpoint.retries.wait(after: attempts, error) {
                    waits.append(wait)
                } else if results.allSatisfy({ $0 == nil }) {
                    throw error
                } else {
                    for place in open { results[place] = .failure(error) }
                }
            }
            open = open.filter { results[$0] == nil }
            if let wait = waits.max() { try await Task.sleep(for: wait) }
        }
        return results.compactMap { $0 }
    }

    private func answers(to pushes: [AddressedPush]) async throws -> [BulkAnswer] {
        let path = ["v1", "apps", self.app, "pushes", "bulk"]
        let request = try EndpointRequest("POST", path, lines: pushes.map { BulkLine(addressed: $0) })
        let answers = try await self.endpoint.send(request).lines(BulkAnswer.self)
        guard answers.count == pushes.count, answers.enumerated().allSatisfy({ $0.offset + 1 == $0.element.line })
        else {
            throw FreshetError.unreachable("only \(answers.count) of \(pushes.count) lines were answered")
        }
        return answers
    }
}

/// A push's line: its headers, and its body as `payload`.
private struct BulkLine: Encodable {
    let addressed: AddressedPush

    private enum Names: String, CodingKey {
        case id = "apns-id", priority = "apns-priority", expiration = "apns-expiration"
        case collapseID = "apns-collapse-id", payload
    }

    func encode(to encoder: any Encoder) throws {
        var line = encoder.container(keyedBy: Names.self)
        let push = self.addressed.push
        try line.encode(push.id.uuidString.lowercased(), forKey: .id)
        try line.encodeIfPresent(push.priority, forKey: .priority)
        try line.encodeIfPresent(push.expirationSeconds, forKey: .expiration)
        try line.encodeIfPresent(push.collapseID, forKey: .collapseID)
        try line.encode(push.body(self.addressed.target), forKey: .payload)
    }
}

/// The answer to a line.
private struct BulkAnswer: Decodable {
    let line: Int
    let status: Int
    let uniqueID: UUID?
    let retryAfter: UInt32?
    let rejection: Refusal.Body?
    let problem: Refusal.Body?

    private enum CodingKeys: String, CodingKey {
        case line, status, uniqueID = "apns-unique-id", retryAfter = "retry-after", rejection, problem
    }

    func result(of push: Push, attempts: Int) -> Result<Receipt, FreshetError> {
        guard !(200..<300 ~= self.status) else {
            return .success(Receipt(id: push.id, uniqueID: self.uniqueID, attempts: attempts))
        }
        let body = self.rejection ?? self.problem
        return .failure(.refused(Refusal(status: self.status, retryAfter: self.retryAfter, body)))
    }
}
