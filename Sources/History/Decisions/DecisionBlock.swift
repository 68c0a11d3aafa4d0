package import Engine
import Journaling
package import WidgetModel

/// Some decisions of one partition with consecutive numbers, which are written, read and removed as one.
package struct DecisionBlock: Hashable, Sendable {
    /// The head of a block, without its decisions.
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
    /// The instances that its decisions are about.
    package let instances: [InstanceAddress]
    package let rows: [FiledDecision]

    private static let version: UInt8 = 2
    /// Five varints of ten bytes, a push's id, seven bytes.
    private static let rowBytesMax = 5 * 10 + 16 + 7
    /// The checksum at its end.
    private static let checksumBytes = 4

    /// - Parameters:
    ///   - first: The number of the first decision.
    ///   - rows: At least one, in the order of their numbers.
    ///   - instances: The instances that they are about; others may be among them.
    package init(_ partition: PartitionID, first: UInt64, _ rows: [FiledDecision], about instances: [InstanceAddress]) {
        precondition(!rows.isEmpty, "a block of no decisions")
        self.head = Head(
            partition: partition,
            first: first,
            count: rows.count,
            from: rows[0].decision.at,
            until: rows[rows.count - 1].decision.at,
            through: rows[rows.count - 1].decision.position
        )
        self.instances = instances
        self.rows = rows
    }

    /// One of its decisions by its number; nil if it is another's.
    package subscript(number: UInt64) -> FiledDecision? {
        number >= self.head.first && number < self.head.end ? self.rows[Int(number - self.head.first)] : nil
    }

    /// The instance that a decision of the block is about; nil if the instance was removed before it was written.
    package func instance(of row: FiledDecision) -> InstanceAddress? { row.instance.map { self.instances[$0] } }

    // MARK: Bytes

    /// The block as it is written: its head, the instances, the decisions, a checksum.
    package var bytes: [UInt8] {
        var writer = ByteWriter(reserving: 64 + self.rows.count * 24)
        writer.write(byte: Self.version)
        self.head.encode(into: &writer)
        writer.write(count: self.instances.count)
        var host: HostKey?
        for instance in self.instances {
            // Neighbours are often of one host.
            let isSameHost = instance.host == host
            writer.write(isSameHost)
            if !isSameHost {
                host = instance.host
                writer.write(instance.host.app.rawValue)
                writer.write(instance.host.id.rawValue)
            }
            writer.write(instance.instance.rawValue)
        }
        var before = (time: self.head.from, position: LogPosition.start, push: PushID?.none)
        for (index, row) in self.rows.enumerated() {
            // Nothing is written as often as this. All at once: each of a dozen calls would make room by itself.
            writer.bytes.append(addingCapacity: Self.rowBytesMax) { output in
                let decision = row.decision
                output.append(signed: (decision.at - before.time).milliseconds)
                output.append(varint: decision.position.rawValue &- before.position.rawValue)
                let number = self.head.first + UInt64(index)
                output.append(varint: row.previous.map { number - $0 } ?? 0)
                output.append(varint: row.instance.map { UInt64($0) + 1 } ?? 0)
                // Most are about the push that the one before is about.
                let isSamePush = decision.push == before.push
                output.append(isSamePush)
                if !isSamePush {
                    output.append(decision.push != nil)
                    if let push = decision.push {
                        output.append(fixed64: push.high)
                        output.append(fixed64: push.low)
                    }
                }
                output.append(decision.cause.rawValue)
                output.append(decision.outcome.rawValue)
                output.append(decision.reason.rawValue)
                output.append(decision.exemption.map { $0.rawValue + 1 } ?? 0)
                output.append(decision.until != nil)
                if let until = decision.until { output.append(signed: until.milliseconds) }
                before = (decision.at, decision.position, decision.push)
            }
        }
        writer.write(fixed32: CRC32C.of(writer.bytes.span))
        return writer.bytes
    }

    /// - Throws: Where the bytes are damaged, or of another version.
    package init(bytes: [UInt8]) throws(ByteError) {
        guard bytes.count > Self.checksumBytes else { throw .invalid(offset: 0) }
        let end = bytes.count - Self.checksumBytes
        var last = ByteReader(bytes, in: end..<bytes.count)
        guard try last.readFixed32() == CRC32C.of(bytes.span.extracting(0..<end)) else { throw .invalid(offset: end) }
        var reader = ByteReader(bytes, in: 0..<end)
        guard try reader.readByte() == Self.version else { throw .invalid(offset: 0) }
        let head = try Head(from: &reader)
        var host: HostKey?
        let instances = try reader.readEach { (reader) throws(ByteError) in
            if try !reader.readBool() {
                host = HostKey(app: try BundleID(from: &reader), id: try HostID(from: &reader))
            }
            guard let host else { throw .invalid(offset: reader.offset) }
            return InstanceAddress(host: host, instance: InstanceID(try reader.readString()))
        }
        var rows: [FiledDecision] = []
        var (time, position, push) = (head.from, LogPosition.start, PushID?.none)
        for index in 0..<head.count {
            time = time + Interval(milliseconds: try reader.readSigned())
            position = LogPosition(position.rawValue &+ (try reader.readVarint()))
            let back = try reader.readVarint()
            let number = head.first + UInt64(index)
            guard back <= number else { throw .invalid(offset: reader.offset) }
            let instance = try reader.readVarint()
            guard instance <= UInt64(instances.count) else { throw .invalid(offset: reader.offset) }
            if try !reader.readBool() {
                push = try reader.readOptional { (reader) throws(ByteError) in
                    PushID(high: try reader.readFixed64(), low: try reader.readFixed64())
                }
            }
            let cause: ReloadCause = try reader.readCase()
            let outcome: PushOutcome = try reader.readCase()
            let reason: DecisionReason = try reader.readCase()
            let exemption = try reader.readByte()
            rows.append(
                FiledDecision(
                    instance: instance == 0 ? nil : Int(instance) - 1,
                    previous: back == 0 ? nil : number - back,
                    decision: DecisionView(
                        at: time,
                        position: position,
                        cause: cause,
                        push: push,
                        outcome: outcome,
                        reason: reason,
                        exemption: exemption == 0 ? nil : Exemption(rawValue: exemption - 1),
                        until: try reader.readOptional { (reader) throws(ByteError) in try reader.readInstant() }
                    )
                )
            )
        }
        guard !rows.isEmpty else { throw .invalid(offset: reader.offset) }
        self.head = head
        self.instances = instances
        self.rows = rows
    }

    /// The head of a block, from its first bytes; nil if they are of another version, or of no block.
    package static func head(of bytes: [UInt8]) -> Head? {
        var reader = ByteReader(bytes)
        guard (try? reader.readByte()) == Self.version else { return nil }
        return try? Head(from: &reader)
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

    fileprivate init(from reader: inout ByteReader) throws(ByteError) {
        self.partition = PartitionID(UInt16(truncatingIfNeeded: try reader.readVarint()))
        self.first = try reader.readFixed64()
        // A block has a few thousand decisions; bytes with a larger count are no block.
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
