#if JetStream
import Clustering
import JournalStreams
import Journaling
import WidgetModel

/// A beat, which nodes of a cluster tell each other, as a message.
enum BeatMessage {
    static func bytes(_ beat: Beat, _ journalID: String, in subject: String) -> [UInt8] {
        MessageFormat.message(.beat, journalID, in: subject) { writer in
            beat.node.write(to: &writer)
            writer.write(byte: beat.phase.rawValue)
            writer.write(each: beat.holdings) { writer, holding in
                writer.write(varint: UInt64(holding.partition.rawValue))
                writer.write(varint: holding.epoch.rawValue)
                writer.write(byte: holding.standing.rawValue)
                writer.write(varint: holding.applied.rawValue)
                writer.write(holding.successor) { $0.write($1.rawValue) }
            }
            writer.write(varint: beat.wishes)
            writer.write(each: beat.followings) { writer, following in
                writer.write(varint: UInt64(following.partition.rawValue))
                writer.write(following.lag) { $0.write(varint: $1) }
            }
            let others = beat.holdings.filter { $0.rules != nil }
            writer.write(each: others) { writer, holding in
                writer.write(varint: UInt64(holding.partition.rawValue))
                writer.write(varint: UInt64(holding.rules ?? 0))
            }
            writer.write(beat.report) { writer, report in report.write(to: &writer) }
        }
    }

    static func beat(_ bytes: [UInt8], _ journalID: String, in subject: String) throws(MessageError) -> Beat {
        var reader = try MessageFormat.reader(of: bytes, .beat, journalID, in: subject)
        do {
            let node = try ClusterNode(from: &reader)
            guard let phase = Beat.Phase(rawValue: try reader.readByte()) else {
                throw MessageError(sentence: "it is from a newer program")
            }
            let holdings = try reader.readEach { (reader) throws(ByteError) in try Beat.Holding(from: &reader) }
            // Programs before them tell of no wishes.
            let wishes = reader.isAtEnd ? 0 : try reader.readVarint()
            // Nor of partitions that they follow.
            let followings =
                reader.isAtEnd
                ? [] : try reader.readEach { (reader) throws(ByteError) in try Beat.Following(from: &reader) }
            // Nor of other rules.
            var rules: [PartitionID: UInt32] = [:]
            if !reader.isAtEnd {
                let released = try reader.readEach { (reader) throws(ByteError) in
                    let partition = PartitionID(UInt16(truncatingIfNeeded: try reader.readVarint()))
                    return (partition, UInt32(truncatingIfNeeded: try reader.readVarint()))
                }
                for (partition, number) in released { rules[partition] = number }
            }
            // Nor of what operators compare.
            let report =
                reader.isAtEnd
                ? nil : try reader.readOptional { (reader) throws(ByteError) in try NodeReport(from: &reader) }
            return Beat(
                node: node,
                phase: phase,
                holdings: holdings.map { $0.released(for: rules[$0.partition]) },
                wishes: wishes,
                followings: followings,
                report: report
            )
        } catch {
            throw error as? MessageError ?? MessageError(sentence: "\(error)")
        }
    }
}

/// An announcement to the other nodes, as a message.
enum AnnouncementMessage {
    /// - Parameter node: The number of the node that tells it.
    static func bytes(_ announcement: [UInt8], by node: UInt64, _ journalID: String, in subject: String) -> [UInt8] {
        MessageFormat.message(.announcement, journalID, in: subject) { writer in
            writer.write(fixed64: node)
            writer.write(announcement)
        }
    }

    static func read(_ bytes: [UInt8], _ journalID: String, in subject: String) throws(MessageError)
        -> (node: UInt64, announcement: [UInt8])
    {
        var reader = try MessageFormat.reader(of: bytes, .announcement, journalID, in: subject)
        do {
            return (try reader.readFixed64(), try reader.readBytes())
        } catch {
            throw MessageError(sentence: "\(error)")
        }
    }
}

/// A claim as its message has it; the sequence of that is the epoch.
enum ClaimMessage {
    /// A claim, or a release.
    enum Content {
        case claim
        case release(Release)
    }

    static func bytes(_ content: Content, by node: ClusterNode, _ journalID: String, in subject: String) -> [UInt8] {
        MessageFormat.message(.claim, journalID, in: subject) { writer in
            node.write(to: &writer)
            let release: Release? =
                switch content {
                case .claim: nil
                case .release(let release): release
                }
            writer.write(release != nil)
            writer.write(release?.successor) { $0.write($1.rawValue) }
            if let release { writer.write(varint: UInt64(release.rules)) }
        }
    }

    static func claim(_ message: StoredMessage, _ journalID: String, in subject: String) throws(MessageError) -> Claim {
        var reader = try MessageFormat.reader(of: message.bytes, .claim, journalID, in: subject)
        do {
            let (epoch, node) = (Epoch(message.sequence), try ClusterNode(from: &reader))
            guard try reader.readBool() else { return Claim(epoch: epoch, node: node) }
            let successor = try reader.readOptional { (reader) throws(ByteError) in try NodeName(from: &reader) }
            // Programs before them release for nodes with the same rules.
            let rules = reader.isAtEnd ? node.rules : UInt32(truncatingIfNeeded: try reader.readVarint())
            return Claim(epoch: epoch, node: node, Release(to: successor, rules: rules))
        } catch {
            throw MessageError(sentence: "\(error)")
        }
    }
}

/// The operators' wishes as a message, whose sequence is their version.
enum WishesMessage {
    static func bytes(_ wishes: PlacementWishes, _ journalID: String, in subject: String) -> [UInt8] {
        MessageFormat.message(.wishes, journalID, in: subject) { writer in
            writer.write(each: wishes.drained.sorted()) { $0.write($1.rawValue) }
            writer.write(each: wishes.places.sorted { $0.key < $1.key }) { writer, place in
                writer.write(varint: UInt64(place.key.rawValue))
                writer.write(place.value.rawValue)
            }
            writer.write(varint: UInt64(wishes.rules ?? 0))
        }
    }

    static func wishes(_ message: StoredMessage, _ journalID: String, in subject: String) throws(MessageError)
        -> PlacementWishes
    {
        var reader = try MessageFormat.reader(of: message.bytes, .wishes, journalID, in: subject)
        do {
            let drained = try reader.readEach { (reader) throws(ByteError) in try NodeName(from: &reader) }
            let places = try reader.readEach { (reader) throws(ByteError) in
                (PartitionID(UInt16(truncatingIfNeeded: try reader.readVarint())), try NodeName(from: &reader))
            }
            // Programs before them want no other rules. No rules have the number 0.
            let rules = reader.isAtEnd ? 0 : UInt32(truncatingIfNeeded: try reader.readVarint())
            return PlacementWishes(
                version: message.sequence,
                drained: Set(drained),
                places: Dictionary(places) { $1 },
                rules: rules == 0 ? nil : rules
            )
        } catch {
            throw MessageError(sentence: "\(error)")
        }
    }
}

extension ClusterNode {
    fileprivate func write(to writer: inout ByteWriter) {
        writer.write(self.name.rawValue)
        writer.write(self.incarnation.startedAt)
        writer.write(fixed64: self.incarnation.number)
        writer.write(self.address)
        writer.write(varint: UInt64(self.rules))
    }

    fileprivate init(from reader: inout ByteReader) throws(ByteError) {
        self.init(
            name: try NodeName(from: &reader),
            incarnation: Incarnation(startedAt: try reader.readInstant(), number: try reader.readFixed64()),
            address: try reader.readString(),
            rules: UInt32(truncatingIfNeeded: try reader.readVarint())
        )
    }
}

extension NodeReport {
    fileprivate func write(to writer: inout ByteWriter) {
        writer.write(self.program)
        writer.write(fixed64: self.settings)
        writer.write(fixed64: self.credentials)
        writer.write(each: self.overdue) { writer, one in
            writer.write(varint: UInt64(one.partition.rawValue))
            writer.write(one.since)
        }
    }

    fileprivate init(from reader: inout ByteReader) throws(ByteError) {
        self.init(
            program: try reader.readString(),
            settings: try reader.readFixed64(),
            credentials: try reader.readFixed64(),
            overdue: try reader.readEach { (reader) throws(ByteError) in
                let partition = PartitionID(UInt16(truncatingIfNeeded: try reader.readVarint()))
                return Overdue(partition: partition, since: try reader.readInstant())
            }
        )
    }
}

extension NodeName {
    fileprivate init(from reader: inout ByteReader) throws(ByteError) {
        let start = reader.offset
        guard let name = NodeName(try reader.readString()) else { throw .invalid(offset: start) }
        self = name
    }
}

extension Beat.Following {
    fileprivate init(from reader: inout ByteReader) throws(ByteError) {
        self.init(
            partition: PartitionID(UInt16(truncatingIfNeeded: try reader.readVarint())),
            lag: try reader.readOptional { (reader) throws(ByteError) in try reader.readVarint() }
        )
    }
}

extension Beat.Holding {
    /// The same, let go of for nodes with these rules; nil for those of its node.
    fileprivate func released(for rules: UInt32?) -> Beat.Holding {
        Beat.Holding(
            partition: self.partition,
            epoch: self.epoch,
            standing: self.standing,
            applied: self.applied,
            successor: self.successor,
            rules: rules
        )
    }

    fileprivate init(from reader: inout ByteReader) throws(ByteError) {
        let partition = PartitionID(UInt16(truncatingIfNeeded: try reader.readVarint()))
        let epoch = Epoch(try reader.readVarint())
        self.init(
            partition: partition,
            epoch: epoch,
            standing: try reader.readCase(),
            applied: LogPosition(try reader.readVarint()),
            successor: try reader.readOptional { (reader) throws(ByteError) in try NodeName(from: &reader) }
        )
    }
}
#endif
