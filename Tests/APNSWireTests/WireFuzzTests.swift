import APNSWire
import TestSupport
import Testing
import WidgetModel

/// Damaged input may be refused or accepted, but never trap, and accepted input keeps its promises.
@Suite struct WireFuzzTests {
    private let reader = JSONReader()

    @Test(arguments: UInt64(0)..<8)
    func `damaged tokens never trap`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for _ in 0..<2000 {
            var fixture = TokenFixture()
            fixture.isStandardBase64 = random.chance(1, in: 4)
            if random.chance(1, in: 3) {
                fixture.header = String(decoding: JSONFuzz.mutate(Array(fixture.header.utf8), &random), as: UTF8.self)
            }
            if random.chance(1, in: 3) {
                fixture.claims = String(decoding: JSONFuzz.mutate(Array(fixture.claims.utf8), &random), as: UTF8.self)
            }
            if random.chance(1, in: 3) {
                let der = TokenFixture.der(TokenFixture.integer(TokenFixture.r), TokenFixture.integer(TokenFixture.s))
                fixture.signature = JSONFuzz.mutate(random.chance(1, in: 2) ? der : fixture.signature, &random)
            }
            var text = fixture.authorization
            if random.chance(1, in: 3) { text = JSONFuzz.mutate(text, &random) }
            if let token = try? ProviderToken.parse(authorization: text.span, reader: self.reader) {
                #expect(token.signature.count == 64, "seed \(seed)")
                #expect(!token.keyID.rawValue.isEmpty && !token.team.rawValue.isEmpty, "seed \(seed)")
                #expect((0...253_402_300_799).contains(token.times.issuedAt.seconds), "seed \(seed)")
            }
            _ = try? HostCredential.parse(authorization: text.span, reader: self.reader)
        }
    }

    @Test(arguments: UInt64(0)..<8)
    func `damaged heads never trap`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for _ in 0..<2000 {
            var fixture = PushFixture.full
            if random.chance(1, in: 3) { fixture.set(":path", "/v1/apps/com.example%2Escores/pushes?dry-run=true") }
            for _ in 0...(random.next() % 2) {
                let index = Int(random.next() % UInt64(fixture.lines.count))
                let line = fixture.lines[index]
                let value = random.chance(3, in: 4) ? JSONFuzz.mutate(line.value, &random) : line.value
                var name = line.name
                if random.chance(1, in: 8) {
                    name = String(decoding: JSONFuzz.mutate(Array(name.utf8), &random), as: UTF8.self)
                }
                fixture.lines[index] = PushFixture.Line(name: name, value: value)
            }
            fixture.bodyBytes = Int(random.next() % 5000)
            guard let push = try? fixture.validate() else { continue }
            let (head, bytes) = fixture.received
            #expect(fixture.bodyBytes <= 4096 && fixture.bodyBytes > 0, "seed \(seed)")
            #expect((push.collapseID?.count ?? 1) <= CollapseID.bytesMax, "seed \(seed)")
            #expect(push.id == nil || push.idText?.count == 36, "seed \(seed)")
            #expect(push.expiration ?? 0 >= 0, "seed \(seed)")
            if case .device(let token) = push.target {
                let hex = String(decoding: bytes[token.bounds], as: UTF8.self)
                #expect(DeviceToken(hex: hex) != nil, "seed \(seed)")
            }
            #expect(head.method == .post, "seed \(seed)")
            _ = push.contentHash(in: bytes.span, body: bytes.span)
        }
    }

    @Test(arguments: UInt64(0)..<8)
    func `damaged payloads and answers never trap`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for _ in 0..<2000 {
            let body = JSONFuzz.mutate(JSONFuzz.texts[Int(random.next() % 2)], &random)
            let isTargeted = random.chance(1, in: 2)
            if let payload = try? PushPayload.parse(body.span, isTargeted: isTargeted, reader: self.reader) {
                let text = payload.jsonText
                let again = try? PushPayload.parse(text.span, isTargeted: isTargeted, reader: self.reader)
                #expect(again == payload, "seed \(seed): \(body)")
            }
            _ = PushResponse.parse(status: 410, id: nil, body: body.span, reader: self.reader)
        }
    }

    @Test(arguments: UInt64(0)..<8)
    func `what is written as JSON is read back`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for _ in 0..<200 {
            let value = Self.value(depth: 0, &random)
            #expect((try? self.reader.parse(value.jsonText)) == value, "seed \(seed)")
        }
    }

    private static func value(depth: Int, _ random: inout SplitMix64) -> JSONValue {
        switch random.next() % (depth < 4 ? 8 : 6) {
        case 0: return .null
        case 1: return .bool(random.chance(1, in: 2))
        case 2: return .int(Int64(bitPattern: random.next()))
        case 3: return .unsigned(random.next() | 1 << 63)
        case 4: return .double(Double(Int64(bitPattern: random.next())) * 1.000_000_1e-9 + 0.1)
        case 5: return .string(Self.text(&random))
        case 6: return .array((0..<(random.next() % 4)).map { _ in Self.value(depth: depth + 1, &random) })
        default:
            return .object(
                (0..<(random.next() % 20)).map { index in
                    let name = "\(index)" + Self.text(&random)
                    return JSONValue.Member(name: name, value: Self.value(depth: depth + 1, &random))
                }
            )
        }
    }

    private static func text(_ random: inout SplitMix64) -> String {
        let scalars: [Unicode.Scalar] = ["a", "\"", "\\", "\n", "\0", "\u{1F}", "é", "\u{301}", "😀", "/", "\u{7F}"]
        var text = String.UnicodeScalarView()
        for _ in 0..<(random.next() % 6) { text.append(scalars[Int(random.next() % UInt64(scalars.count))]) }
        return String(text)
    }
}
