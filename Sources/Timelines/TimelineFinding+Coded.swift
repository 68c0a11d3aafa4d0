package import WidgetModel

/// The bytes of a finding: a tag, a count, and milliseconds or another count; 0 where the case has none.
extension TimelineFinding: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        let (tag, count, other) = self.parts
        writer.write(byte: tag)
        writer.write(count: count)
        writer.write(signed: other)
    }

    package init(from reader: inout ByteReader) throws(ByteError) {
        let start = reader.offset
        let tag = try reader.readByte()
        guard let count = Int(exactly: try reader.readVarint()) else { throw .invalid(offset: start) }
        let other = try reader.readSigned()
        switch tag {
        case 0: self = .empty
        case 1: self = .outOfOrder(index: count)
        case 2: self = .inThePast(count: count)
        case 3: self = .tooClose(count: count, nearest: .milliseconds(other))
        case 4: self = .ticking(count: count, every: .milliseconds(other))
        case 5: self = .endsBeforeReload(by: .milliseconds(other))
        case 6: self = .neverReloaded
        case 7: self = .unchanged(count: count)
        case 8: self = .pollsTooOften(every: .milliseconds(other))
        case 9: self = .manyEntries(count: count, advised: Int(other))
        case 10: self = .manyBytes(bytes: count, advised: Int(other))
        case 11: self = .unnamedReload(outstanding: count)
        default: throw .invalid(offset: start)
        }
    }

    private var parts: (tag: UInt8, count: Int, other: Int64) {
        switch self {
        case .empty: (0, 0, 0)
        case .outOfOrder(let index): (1, index, 0)
        case .inThePast(let count): (2, count, 0)
        case .tooClose(let count, let nearest): (3, count, nearest.milliseconds)
        case .ticking(let count, let every): (4, count, every.milliseconds)
        case .endsBeforeReload(let by): (5, 0, by.milliseconds)
        case .neverReloaded: (6, 0, 0)
        case .unchanged(let count): (7, count, 0)
        case .pollsTooOften(let every): (8, 0, every.milliseconds)
        case .manyEntries(let count, let advised): (9, count, Int64(advised))
        case .manyBytes(let bytes, let advised): (10, bytes, Int64(advised))
        case .unnamedReload(let outstanding): (11, outstanding, 0)
        }
    }
}

extension TimelineError: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        switch self {
        case .tooManyEntries(let count, let max):
            writer.write(tag: 0, count)
            max.encode(into: &writer)
        case .digestLength(let bytes, let max):
            writer.write(tag: 1, bytes)
            max.encode(into: &writer)
        case .scoreNotFinite(let index): writer.write(tag: 2, index)
        case .negativeDuration(let index): writer.write(tag: 3, index)
        }
    }

    package init(from reader: inout ByteReader) throws(ByteError) {
        let start = reader.offset
        switch try reader.readByte() {
        case 0: self = .tooManyEntries(count: try Int(from: &reader), max: try Int(from: &reader))
        case 1: self = .digestLength(bytes: try Int(from: &reader), max: try Int(from: &reader))
        case 2: self = .scoreNotFinite(index: try Int(from: &reader))
        case 3: self = .negativeDuration(index: try Int(from: &reader))
        default: throw .invalid(offset: start)
        }
    }
}
