import Engine
import History
import TestSupport
import Testing
import WidgetModel

/// Decisions as they are written.
@Suite struct DecisionBlockTests {
    static func row(_ random: inout SplitMix64, number: UInt64, at: Instant, position: UInt64) -> FiledDecision {
        FiledDecision(
            instance: random.next() % 8 == 0 ? nil : Int(random.next() % 5),
            previous: number == 0 || random.next() % 4 == 0 ? nil : number - 1 - random.next() % number,
            decision: DecisionView(
                at: at,
                position: LogPosition(position),
                cause: ReloadCause.allCases.randomElement(using: &random)!,
                push: random.next() % 2 == 0 ? nil : PushID(high: random.next(), low: random.next() % 3),
                outcome: PushOutcome.allCases.randomElement(using: &random)!,
                reason: DecisionReason.allCases.randomElement(using: &random)!,
                exemption: random.next() % 2 == 0 ? nil : Exemption.allCases.randomElement(using: &random),
                until: random.next() % 2 == 0 ? nil : Instant(milliseconds: Int64(random.next() % (1 << 42)))
            )
        )
    }

    static func block(_ random: inout SplitMix64, first: UInt64, count: Int, at: Instant = Sports.start)
        -> DecisionBlock
    {
        var rows: [FiledDecision] = []
        var (time, position) = (at, random.next() % 1000)
        for index in 0..<UInt64(count) {
            time = time + Interval(milliseconds: Int64(random.next() % 3))
            position += random.next() % 2
            rows.append(Self.row(&random, number: first + index, at: time, position: position))
        }
        let instances = (0..<5).map { InstanceAddress(host: HostKey("host-\($0)"), instance: InstanceID("a")) }
        return DecisionBlock(PartitionID(1), first: first, rows, about: instances)
    }

    @Test(arguments: UInt64(1)..<30) func `what is read is what was written`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let block = Self.block(&random, first: random.next() % (1 << 40), count: 1 + Int(random.next() % 300))
        let bytes = block.bytes
        #expect(try DecisionBlock(bytes: bytes) == block)
        #expect(DecisionBlock.head(of: bytes) == block.head)
        #expect(block[block.head.first] == block.rows.first && block[block.head.end - 1] == block.rows.last)
        #expect(block[block.head.end] == nil)
    }

    @Test func `a row of the longest numbers has room`() throws {
        let first = UInt64.max - 1_000_000
        func row(_ at: Instant, _ position: UInt64, _ push: UInt64) -> FiledDecision {
            FiledDecision(
                instance: 0,
                previous: 0,
                decision: DecisionView(
                    at: at,
                    position: LogPosition(position),
                    cause: .push,
                    push: PushID(high: push, low: push),
                    outcome: .deferred,
                    reason: .pace,
                    exemption: .developerMode,
                    until: Instant(milliseconds: .max)
                )
            )
        }
        let rows = [
            row(.epoch, 0, 1), row(Instant(milliseconds: .max), .max, .max), row(Instant(milliseconds: .max), 0, 2),
        ]
        let address = InstanceAddress(host: HostKey("host"), instance: InstanceID("a"))
        let block = DecisionBlock(PartitionID(1), first: first, rows, about: [address])
        #expect(try DecisionBlock(bytes: block.bytes) == block)
    }

    @Test func `what is damaged is none, wherever it is damaged, and what is torn off`() {
        var random = SplitMix64(seed: 3)
        let bytes = Self.block(&random, first: 7, count: 20).bytes
        for index in bytes.indices {
            var damaged = bytes
            damaged[index] ^= 1 << UInt8(random.next() % 8)
            #expect(throws: ByteError.self, "byte \(index)") { try DecisionBlock(bytes: damaged) }
            #expect(throws: ByteError.self, "\(index) bytes") { try DecisionBlock(bytes: Array(bytes[..<index])) }
        }
    }
}
