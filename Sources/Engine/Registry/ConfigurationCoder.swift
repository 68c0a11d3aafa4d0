import BasicContainers
import IntentMatching
import Storage
import WidgetModel

/// Codes the configurations of instances as few bytes, and decodes them. A configuration of three parameters takes 160 bytes as an array of
/// values, and seven to about thirty coded.
struct ConfigurationCoder: ~Copyable, Sendable {
    /// The names of a configuration's parameters, in their order: most instances of a kind have the same.
    private struct Shape: Hashable, Sendable {
        /// By number.
        var names: [Int] = []
    }

    /// How many shapes are numbered: those that came first.
    static let shapesMax = 4096
    /// The code of a numbered text begins with a byte that no value begins with: this and the upper half of its number.
    private static let numbered: UInt8 = 1 << 7

    /// The names of parameters, of which there are few, and the number of each. Names are compared by their bytes.
    private var names: [String] = []
    private var numbers: [UTF8Text: Int] = [:]
    /// By the names' numbers.
    private var texts = UniqueArray<ParameterTexts>()
    private let seed = SeededHash.processSeed
    private var shapes: [Shape] = []
    private var shapeNumbers: [Shape: Int] = [:]
    /// The shape of the configuration that was coded last, and its number if it has one: most are followed by one that is alike.
    private var latest = (shape: Shape(), number: Int?.none)
    private var writer = ByteWriter()

    /// The bytes that ``encode(_:)`` left.
    var bytes: [UInt8] { self.writer.bytes }

    /// Leaves the code of a configuration in ``bytes``, nothing for one without parameters: one more than the number of its
    /// shape, or 0 and the number of each name behind how many there are; then each value, or the number of its text. Equal
    /// bytes for equal configurations that have no fractions, see ``Configuration/hasFractions``. O(size).
    mutating func encode(_ configuration: Configuration) {
        self.writer.bytes.removeAll(keepingCapacity: true)
        let parameters = configuration.parameters
        guard !parameters.isEmpty else { return }
        self.noteShape(of: parameters)
        if let number = self.latest.number {
            self.writer.write(count: number + 1)
        } else {
            self.writer.write(count: 0)
            self.writer.write(each: self.latest.shape.names) { $0.write(count: $1) }
        }
        for index in parameters.indices {
            if case .string(let text) = parameters[index].value,
                let number = self.texts[self.latest.shape.names[index]].intern(text, seed: self.seed)
            {
                self.writer.write(byte: Self.numbered | UInt8(number >> 8))
                self.writer.write(byte: UInt8(number & 0xFF))
            } else {
                parameters[index].value.encode(into: &self.writer)
            }
        }
    }

    /// The configuration whose code this is. O(size).
    func decode(_ bytes: [UInt8]) -> Configuration {
        guard !bytes.isEmpty else { return .empty }
        var reader = ByteReader(bytes)
        do {
            let number = Int(try reader.readVarint())
            let names =
                number > 0
                ? self.shapes[number - 1].names
                : try reader.readEach { (reader) throws(ByteError) in Int(try reader.readVarint()) }
            var parameters: [Configuration.Parameter] = []
            parameters.reserveCapacity(names.count)
            for name in names {
                let value = try self.value(bytes[reader.offset], ofName: name, from: &reader)
                parameters.append(Configuration.Parameter(name: self.names[name], value: value))
            }
            return Configuration(parameters)
        } catch {
            preconditionFailure("a configuration that was not coded here")
        }
    }

    private func value(
        _ first: UInt8,
        ofName name: Int,
        from reader: inout ByteReader
    ) throws(ByteError) -> ParameterValue {
        guard first & Self.numbered != 0 else { return try ParameterValue(from: &reader) }
        let upper = Int(try reader.readByte() & ~Self.numbered)
        return .string(self.texts[name][upper << 8 | Int(try reader.readByte())])
    }

    /// Makes a configuration's shape the latest.
    @inline(__always)
    private mutating func noteShape(of parameters: [Configuration.Parameter]) {
        let names = self.latest.shape.names
        if names.count == parameters.count,
            names.indices.allSatisfy({ self.names[names[$0]].hasSameBytes(as: parameters[$0].name) })
        {
            return
        }
        self.findOtherShape(of: parameters)
    }

    @inline(never)
    private mutating func findOtherShape(of parameters: [Configuration.Parameter]) {
        let shape = Shape(names: parameters.map { self.internName($0.name) })
        if self.shapeNumbers[shape] == nil, self.shapes.count < Self.shapesMax {
            self.shapeNumbers[shape] = self.shapes.count
            self.shapes.append(shape)
        }
        self.latest = (shape, self.shapeNumbers[shape])
    }

    private mutating func internName(_ name: String) -> Int {
        let text = UTF8Text(name)
        if let number = self.numbers[text] { return number }
        self.numbers[text] = self.names.count
        self.names.append(name)
        self.texts.append(ParameterTexts())
        return self.names.count - 1
    }
}

extension Configuration {
    /// Whether there may be a number that is no integer: 0.0 equals -0.0, and has another code.
    var hasFractions: Bool {
        self.parameters.contains { parameter in
            switch parameter.value {
            case .double, .array: true
            case .string, .int, .bool, .date: false
            }
        }
    }
}
