import WidgetModel

/// Packs the configurations of instances into few bytes, and unpacks them: as an array of values, one of three parameters takes
/// 160 bytes, and so some thirty.
struct ConfigurationPacker: Sendable {
    /// The names of parameters, of which there are few, and the number of each.
    private var names: [String] = []
    private var numbers: [String: Int] = [:]
    /// The numbers of the names of the configuration that was packed last: most are followed by one of the same kind.
    private var latest: [Int] = []
    private var writer = ByteWriter()

    /// What ``pack(_:)`` left.
    var bytes: [UInt8] { self.writer.bytes }

    /// Leaves the packed form of a configuration in ``bytes``, nothing for one without parameters: how many parameters, and
    /// the number of the name and the value of each. O(size).
    mutating func pack(_ configuration: Configuration) {
        self.writer.bytes.removeAll(keepingCapacity: true)
        let parameters = configuration.parameters
        guard !parameters.isEmpty else { return }
        self.writer.write(count: parameters.count)
        for index in parameters.indices {
            self.writer.write(varint: UInt64(self.number(ofName: parameters[index].name, at: index)))
            parameters[index].value.encode(into: &self.writer)
        }
    }

    /// The configuration whose packed form this is. O(size).
    func unpacked(_ bytes: [UInt8]) -> Configuration {
        guard !bytes.isEmpty else { return .empty }
        var reader = ByteReader(bytes)
        do {
            return Configuration(
                try reader.readEach { (reader) throws(ByteFault) in
                    let name = self.names[Int(try reader.readVarint())]
                    return Configuration.Parameter(name: name, value: try ParameterValue(from: &reader))
                }
            )
        } catch {
            preconditionFailure("a configuration that was not packed here")
        }
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
