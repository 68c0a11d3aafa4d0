import Testing
import WidgetModel

/// Structures whose bytes follow from one description of their fields.
@Suite struct FieldCodingTests {
    private struct Sample: FieldCoded, Hashable {
        static let coding = Fields(
            Self.init,
            \.flag,
            \.count,
            \.number,
            \.name,
            \.bytes,
            \.at,
            \.length,
            \.host,
            \.push
        )
        var flag = true
        var count = -3
        var number = UInt64.max
        var name: String? = "é"
        var bytes: [UInt8] = [1, 2]
        var at = Instant(milliseconds: -1)
        var length = Interval.seconds(1)
        var host = HostKey(app: BundleID("a"), id: HostID("h"))
        var push: [PushID?] = [nil, PushID(high: 1, low: 2)]
    }

    private struct Nothing: FieldCoded, Hashable {
        static let coding = Fields(Self.init)
    }

    private enum Choice: UInt8, ByteCoded {
        case one = 1
    }

    private static func isWhole<Value: ByteCoded & Hashable>(_ value: Value) throws -> Bool {
        let bytes = value.encoded
        for end in bytes.indices {
            #expect(throws: ByteError.self) { try Value(encoded: Array(bytes[..<end])) }
        }
        #expect(throws: ByteError.invalid(offset: bytes.count)) { try Value(encoded: bytes + [0]) }
        return try Value(encoded: bytes) == value
    }

    @Test func `what was written is read back, and nothing less or more`() throws {
        #expect(try Self.isWhole(Sample()))
        var other = Sample()
        (other.name, other.push, other.bytes) = (nil, [], [])
        #expect(try Self.isWhole(other))
        #expect(try Self.isWhole(Nothing()))
        #expect(Nothing().encoded == [])
        #expect(try Self.isWhole([DeviceToken(bytes: [7]), DeviceToken(bytes: [])]))
        #expect(try Self.isWhole(InstanceNumber(raw: 3)))
        #expect(try Self.isWhole(LogPosition(.max)))
        #expect(try Self.isWhole(ChannelID("c")))
        #expect(try Self.isWhole(Choice.one))
    }

    @Test func `fields stand one after the other, in the order of their description`() {
        #expect(Sample().encoded.starts(with: [1, 5] + UInt64.max.encoded + [1, 2]))
    }

    @Test func `a choice that there is not is refused where it stands`() {
        #expect(throws: ByteError.invalid(offset: 0)) { try Choice(encoded: [2]) }
        #expect(throws: ByteError.invalid(offset: 0)) { try InstanceNumber(encoded: (UInt64(UInt32.max) + 1).encoded) }
    }
}
