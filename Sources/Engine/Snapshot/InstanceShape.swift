import IntentMatching
import WidgetModel

/// The fields that instances with a like configuration have in common.
///
/// A frame of a snapshot says each of its shapes once, before its rows, and a row says which one is its own: so a field
/// that most rows share is read some hundred times less often than there are rows.
struct InstanceShape: Coded {
    var kind: KindNumber
    var family: WidgetFamily
    var tags: [String]
    var configuration: Configuration

    static let blank = InstanceShape(kind: .none, InstanceDetails.Whole(row: .blank), .empty)

    func coded(by coder: inout some StateCoder) throws(ByteError) -> InstanceShape {
        InstanceShape(
            kind: try coder.number(self.kind),
            family: try coder.choice(self.family),
            tags: try coder.value(self.tags),
            configuration: try coder.configuration(self.configuration)
        )
    }
}

extension InstanceShape {
    /// That of an instance.
    init(kind: KindNumber, _ details: InstanceDetails.Whole, _ configuration: Configuration) {
        self.init(kind: kind, family: details.row.family, tags: details.tags, configuration: configuration)
    }
}

/// The shapes of the rows of one frame, as they come up while it is written.
struct ShapeWriter {
    /// By its bytes.
    private var numbers: [[UInt8]: UInt32] = [:]
    /// One after the other.
    private var written: [UInt8] = []
    private var scratch = StateWriter()

    var byteCount: Int { self.written.count }

    /// The number of a shape, which is written if it is the first of its kind.
    mutating func intern(_ shape: InstanceShape) throws(ByteError) -> UInt32 {
        self.scratch.writer.bytes.removeAll(keepingCapacity: true)
        _ = try shape.coded(by: &self.scratch)
        if let number = self.numbers[self.scratch.writer.bytes] { return number }
        let number = UInt32(self.numbers.count)
        self.numbers[self.scratch.writer.bytes] = number
        self.written += self.scratch.writer.bytes
        return number
    }

    /// Writes the shapes behind their length in four bytes and their count.
    func write(to writer: inout ByteWriter) {
        var count = ByteWriter()
        count.write(count: self.numbers.count)
        writer.write(fixed32: UInt32(count.bytes.count + self.written.count))
        writer.bytes += count.bytes
        writer.bytes += self.written
    }
}

/// The shapes of the rows of one frame. A shape is read when a row asks for it: a reader that wants one host of a million steps over nearly
/// all frames.
struct ShapeReader {
    private let range: Range<Int>
    private var shapes: [InstanceShape] = []

    /// Steps over the shapes that begin here.
    init(_ coder: inout StateReader) throws(ByteError) {
        let end = try coder.rowEnd()
        self.range = coder.offset..<end
        coder.move(to: end)
    }

    /// A shape by its number.
    @inline(__always)
    mutating func shape(_ number: UInt32, _ coder: inout StateReader) throws(ByteError) -> InstanceShape {
        if self.shapes.isEmpty { try self.read(&coder) }
        guard number < self.shapes.count else { throw coder.fault() }
        return self.shapes[Int(number)]
    }

    private mutating func read(_ coder: inout StateReader) throws(ByteError) {
        let goesOn = coder.offset
        coder.move(to: self.range.lowerBound)
        let count: Int = try coder.number(0)
        for _ in 0..<count { self.shapes.append(try InstanceShape.blank.coded(by: &coder)) }
        guard coder.offset == self.range.upperBound else { throw coder.fault() }
        coder.move(to: goesOn)
    }
}
