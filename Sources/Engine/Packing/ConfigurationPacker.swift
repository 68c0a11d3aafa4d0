import WidgetModel

/// Packs the configurations of instances into few bytes, and unpacks them: as an array of values, one of three parameters takes
/// 160 bytes, and so ten to some thirty.
struct ConfigurationPacker: Sendable {
    /// The names of parameters, of which there are few, and the number of each.
    private var names: [String] = []
    private var numbers: [String: Int] = [:]
    /// By the names' numbers.
    private var texts: [ParameterTexts] = []
    private let seed = ByteHash.processSeed()
    /// The numbers of the names of the configuration that was packed last: most are followed by one of the same kind.
    private var latest: [Int] = []
    private var writer = ByteWriter()

    /// What a numbered text is packed as begins with a byte that no value begins with: this and the upper half of its number.
    private static let numbered: UInt8 = 1 << 7

    /// What ``pack(_:)`` left.
    var bytes: [UInt8] { self.writer.bytes }

    /// Leaves the packed form of a configuration in ``bytes``, nothing for one without parameters: how many parameters, and
    /// the number of the name and the value of each, or the number of its text. Equal bytes for equal configurations that
    /// have no fractions, see ``Configuration/hasFractions``. O(size).
    mutating func pack(_ configuration: Configuration) {
        self.writer.bytes.removeAll(keepingCapacity: true)
        let parameters = configuration.parameters
        guard !parameters.isEmpty else { return }
        self.writer.write(count: parameters.count)
        for index in parameters.indices {
            let name = self.number(ofName: parameters[index].name, at: index)
            self.writer.write(varint: UInt64(name))
            if case .string(let text) = parameters[index].value,
                let number = self.texts[name].number(of: text, seed: self.seed)
            {
                self.writer.write(byte: Self.numbered | UInt8(number >> 8))
                self.writer.write(byte: UInt8(number & 0xFF))
            } else {
                parameters[index].value.encode(into: &self.writer)
            }
        }
    }

    /// The configuration whose packed form this is. O(size).
    func unpacked(_ bytes: [UInt8]) -> Configuration {
        guard !bytes.isEmpty else { return .empty }
        var reader = ByteReader(bytes)
        do {
            return Configuration(
                try reader.readEach { (reader) throws(ByteFault) in
                    let name = Int(try reader.readVarint())
                    let value = try self.value(bytes[reader.offset], ofName: name, from: &reader)
                    return Configuration.Parameter(name: self.names[name], value: value)
                }
            )
        } catch {
            preconditionFailure("a configuration that was not packed here")
        }
    }

    private func value(
        _ first: UInt8,
        ofName name: Int,
        from reader: inout ByteReader
    ) throws(ByteFault) -> ParameterValue {
        guard first & Self.numbered != 0 else { return try ParameterValue(from: &reader) }
        let upper = Int(try reader.readByte() & ~Self.numbered)
        return .string(self.texts[name][upper << 8 | Int(try reader.readByte())])
    }

    @inline(__always)
    private mutating func number(ofName name: String, at index: Int) -> Int {
        if index < self.latest.count, self.names[self.latest[index]] == name { return self.latest[index] }
        return self.find(name, at: index)
    }

    @inline(never)
    private mutating func find(_ name: String, at index: Int) -> Int {
        let number = self.numbers[name] ?? self.names.count
        if number == self.names.count {
            self.names.append(name)
            self.texts.append(ParameterTexts())
            self.numbers[name] = number
        }
        if index < self.latest.count { self.latest[index] = number } else { self.latest.append(number) }
        return number
    }
}

extension Configuration {
    /// Whether there may be a number that is no integer: 0.0 equals -0.0, and is not packed as it is.
    var hasFractions: Bool {
        self.parameters.contains { parameter in
            switch parameter.value {
            case .double, .array: true
            case .string, .int, .bool, .date: false
            }
        }
    }
}
