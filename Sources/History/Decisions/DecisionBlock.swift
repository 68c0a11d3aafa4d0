package import Engine
import Journaling
package import WidgetModel

/// Some decisions of one partition with numbers one behind the other: what is written, read and removed as one.
package struct DecisionBlock: Hashable, Sendable {
    /// What is known of a block without what is in it.
    package struct Head: Hashable, Sendable {
        package let partition: PartitionID
        /// The number of its first decision.
        package let first: UInt64
        package let count: Int
        /// When its first and its last decision were made, and at which entry the last.
        package let from: Instant
        package let until: Instant
        package let through: LogPosition

        /// The number behind its last decision.
        package var end: UInt64 { self.first + UInt64(self.count) }
    }

    package let head: Head
    package let rows: [FiledDecision]

    private static let version: UInt8 = 1
    /// The checksum at its end.
    private static let checksumBytes = 4

    /// - Parameter rows: At least one, in the order of their numbers.
    package init(_ partition: PartitionID, first: UInt64, _ rows: [FiledDecision]) {
        precondition(!rows.isEmpty, "a block of no decisions")
        self.head = Head(
            partition: partition,
            first: first,
            count: rows.count,
            from: rows[0].decision.at,
            until: rows[rows.count - 1].decision.at,
            through: rows[rows.count - 1].decision.position
        )
        self.rows = rows
    }

    /// One of its decisions by its number; nil if it is another's.
    package subscript(number: UInt64) -> FiledDecision? {
        number >= self.head.first && number < self.head.end ? self.rows[Int(number - self.head.first)] : nil
    }

    // MARK: Bytes

    /// The block as it is written: its head, whom it is about and which pushes, each once, the decisions, a checksum.
    package var bytes: [UInt8] {
        var writer = ByteWriter(reserving: 64 + self.rows.count * 24)
        writer.write(byte: Self.version)
        self.head.encode(into: &writer)
        var (instances, pushes) = (Numbering<InstanceAddress>(), Numbering<PushID>())
        for row in self.rows {
            if let instance = row.instance { instances.add(instance) }
            if let push = row.decision.push { pushes.add(push) }
        }
        writer.write(count: instances.values.count)
        for instance in instances.values { instance.encode(into: &writer) }
        writer.write(count: pushes.values.count)
        for push in pushes.values {
            writer.write(fixed64: push.high)
            writer.write(fixed64: push.low)
        }
        var (time, position) = (self.head.from, LogPosition.start)
        for (index, row) in self.rows.enumerated() {
            let decision = row.decision
            writer.write(signed: (decision.at - time).milliseconds)
            writer.write(varint: decision.position.rawValue &- position.rawValue)
            (time, position) = (decision.at, decision.position)
            let number = self.head.first + UInt64(index)
            writer.write(varint: row.previous.map { number - $0 } ?? 0)
            writer.write(count: row.instance.map { instances.number(of: $0) + 1 } ?? 0)
            writer.write(count: decision.push.map { pushes.number(of: $0) + 1 } ?? 0)
            writer.write(byte: decision.cause.rawValue)
            writer.write(byte: decision.outcome.rawValue)
            writer.write(byte: decision.reason.rawValue)
            writer.write(byte: decision.exemption.map { $0.rawValue + 1 } ?? 0)
            writer.write(decision.until) { writer, until in writer.write(until) }
        }
        writer.write(fixed32: CRC32C.of(writer.bytes.span))
        return writer.bytes
    }

    /// - Throws: Where the bytes are damaged, or of another version.
    package init(bytes: [UInt8]) throws(ByteFault) {
        guard bytes.count > Self.checksumBytes else { throw .invalid(offset: 0) }
        let end = bytes.count - Self.checksumBytes
        var last = ByteReader(bytes, in: end..<bytes.count)
        guard try last.readFixed32() == CRC32C.of(bytes.span.extracting(0..<end)) else { throw .invalid(offset: end) }
        var reader = ByteReader(bytes, in: 0..<end)
        guard try reader.readByte() == Self.version else { throw .invalid(offset: 0) }
        let head = try Head(from: &reader)
        let instances = try reader.readEach { (reader) throws(ByteFault) in try InstanceAddress(from: &reader) }
        let pushes = try reader.readEach { (reader) throws(ByteFault) in
            PushID(high: try reader.readFixed64(), low: try reader.readFixed64())
        }
        var rows: [FiledDecision] = []
        var (time, position) = (head.from, LogPosition.start)
        for index in 0..<head.count {
            time = time + Interval(milliseconds: try reader.readSigned())
            position = LogPosition(position.rawValue &+ (try reader.readVarint()))
            let back = try reader.readVarint()
            let number = head.first + UInt64(index)
            guard back <= number else { throw .invalid(offset: reader.offset) }
            let instance = try Self.item(of: instances, &reader)
            let push = try Self.item(of: pushes, &reader)
            let offset = reader.offset
            guard let cause = ReloadCause(rawValue: try reader.readByte()),
                let outcome = PushOutcome(rawValue: try reader.readByte()),
                let reason = DecisionReason(rawValue: try reader.readByte())
            else { throw .invalid(offset: offset) }
            let exemption = try reader.readByte()
            rows.append(
                FiledDecision(
                    instance: instance,
                    previous: back == 0 ? nil : number - back,
                    decision: DecisionView(
                        at: time,
                        position: position,
                        cause: cause,
                        push: push,
                        outcome: outcome,
                        reason: reason,
                        exemption: exemption == 0 ? nil : Exemption(rawValue: exemption - 1),
                        until: try reader.readOptional { (reader) throws(ByteFault) in try reader.readInstant() }
                    )
                )
            )
        }
        guard !rows.isEmpty else { throw .invalid(offset: reader.offset) }
        self.head = head
        self.rows = rows
    }

    /// What is known of a block by its first bytes; nil if those are of another version, or no block.
    package static func head(of bytes: [UInt8]) -> Head? {
        var reader = ByteReader(bytes)
        guard (try? reader.readByte()) == Self.version else { return nil }
        return try? Head(from: &reader)
    }

    private static func item<Item>(of items: [Item], _ reader: inout ByteReader) throws(ByteFault) -> Item? {
        let offset = reader.offset
        let number = try reader.readVarint()
        guard number <= UInt64(items.count) else { throw .invalid(offset: offset) }
        return number == 0 ? nil : items[Int(number) - 1]
    }
}

extension DecisionBlock.Head {
    fileprivate func encode(into writer: inout ByteWriter) {
        writer.write(varint: UInt64(self.partition.rawValue))
        writer.write(fixed64: self.first)
        writer.write(count: self.count)
        writer.write(self.from)
        writer.write(self.until)
        writer.write(varint: self.through.rawValue)
    }

    fileprivate init(from reader: inout ByteReader) throws(ByteFault) {
        self.partition = PartitionID(UInt16(truncatingIfNeeded: try reader.readVarint()))
        self.first = try reader.readFixed64()
        // A block is of a few thousands; what says otherwise is none.
        let offset = reader.offset
        self.count = Int(clamping: try reader.readVarint())
        guard self.count > 0, self.count <= 1_000_000, self.first <= UInt64.max - 1_000_000 else {
            throw .invalid(offset: offset)
        }
        self.from = try reader.readInstant()
        self.until = try reader.readInstant()
        self.through = LogPosition(try reader.readVarint())
    }
}

/// Values by the order in which they came first.
private struct Numbering<Value: Hashable> {
    private(set) var values: [Value] = []
    private var numbers: [Value: Int] = [:]

    mutating func add(_ value: Value) {
        guard self.numbers[value] == nil else { return }
        self.numbers[value] = self.values.count
        self.values.append(value)
    }

    /// Precondition: it was added.
    func number(of value: Value) -> Int { self.numbers[value] ?? 0 }
}
