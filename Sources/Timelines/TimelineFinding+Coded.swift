package import WidgetModel

/// The bytes of a finding: a tag, and the case's values.
extension TimelineFinding: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        switch self {
        case .empty: writer.write(byte: 0)
        case .outOfOrder(let index): writer.write(tag: 1, index)
        case .inThePast(let count): writer.write(tag: 2, count)
        case .tooClose(let count, let nearest):
            writer.write(tag: 3, count)
            writer.write(nearest)
        case .ticking(let count, let every):
            writer.write(tag: 4, count)
            writer.write(every)
        case .endsBeforeReload(let by): writer.write(tag: 5, by)
        case .neverReloaded: writer.write(byte: 6)
        case .unchanged(let count): writer.write(tag: 7, count)
        case .pollsTooOften(let every): writer.write(tag: 8, every)
        case .manyEntries(let count, let advised):
            writer.write(tag: 9, count)
            advised.encode(into: &writer)
        case .manyBytes(let bytes, let advised):
            writer.write(tag: 10, bytes)
            advised.encode(into: &writer)
        case .unnamedReload(let outstanding): writer.write(tag: 11, outstanding)
        }
    }

    package init(from reader: inout ByteReader) throws(ByteFault) {
        let start = reader.offset
        switch try reader.readByte() {
        case 0: self = .empty
        case 1: self = .outOfOrder(index: try Int(from: &reader))
        case 2: self = .inThePast(count: try Int(from: &reader))
        case 3: self = .tooClose(count: try Int(from: &reader), nearest: try reader.readInterval())
        case 4: self = .ticking(count: try Int(from: &reader), every: try reader.readInterval())
        case 5: self = .endsBeforeReload(by: try reader.readInterval())
        case 6: self = .neverReloaded
        case 7: self = .unchanged(count: try Int(from: &reader))
        case 8: self = .pollsTooOften(every: try reader.readInterval())
        case 9: self = .manyEntries(count: try Int(from: &reader), advised: try Int(from: &reader))
        case 10: self = .manyBytes(bytes: try Int(from: &reader), advised: try Int(from: &reader))
        case 11: self = .unnamedReload(outstanding: try Int(from: &reader))
        default: throw .invalid(offset: start)
        }
    }
}

extension TimelineFault: ByteCoded {
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

    package init(from reader: inout ByteReader) throws(ByteFault) {
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
