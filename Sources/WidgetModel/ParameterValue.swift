/// The value of one parameter of a widget's configuration intent.
///
/// An enum case and an entity id are strings here; the kind's schema knows the difference. Integers are exact over
/// the whole of `Int64`; `1` and `1.0` are equal to a match pattern but not to `==`.
package enum ParameterValue: Hashable, Sendable {
    case string(String)
    case int(Int64)
    /// Never NaN nor infinite: the schema refuses those.
    case double(Double)
    case bool(Bool)
    case date(Instant)
    case array([ParameterValue])
}

extension ParameterValue {
    package func encode(into writer: inout ByteWriter) {
        switch self {
        case .string(let string):
            writer.write(byte: 0)
            writer.write(string)
        case .int(let int):
            writer.write(byte: 1)
            writer.write(signed: int)
        case .double(let double):
            writer.write(byte: 2)
            writer.write(double)
        case .bool(let bool):
            writer.write(byte: 3)
            writer.write(bool)
        case .date(let date):
            writer.write(byte: 4)
            writer.write(date)
        case .array(let elements):
            writer.write(byte: 5)
            writer.write(each: elements) { $1.encode(into: &$0) }
        }
    }

    package init(from reader: inout ByteReader) throws(ByteError) {
        let start = reader.offset
        switch try reader.readByte() {
        case 0: self = .string(try reader.readString())
        case 1: self = .int(try reader.readSigned())
        case 2: self = .double(try reader.readDouble())
        case 3: self = .bool(try reader.readBool())
        case 4: self = .date(try reader.readInstant())
        case 5:
            // One level only: an array of arrays cannot be configured, so damaged bytes cannot recurse deeply.
            self = .array(
                try reader.readEach { (reader) throws(ByteError) in
                    let element = try ParameterValue(from: &reader)
                    if case .array = element { throw ByteError.invalid(offset: start) }
                    return element
                }
            )
        default: throw .invalid(offset: start)
        }
    }

    /// Goes to the end of a value without reading it.
    package static func skip(_ reader: inout ByteReader) throws(ByteError) {
        let start = reader.offset
        switch try reader.readByte() {
        case 0: _ = try reader.readByteRange()
        case 1, 4: _ = try reader.readVarint()
        case 2: _ = try reader.readFixed64()
        case 3: _ = try reader.readByte()
        case 5:
            for _ in 0..<(try reader.readCount()) {
                guard reader.offset < reader.end, reader.bytes[reader.offset] != 5 else {
                    throw .invalid(offset: start)
                }
                try Self.skip(&reader)
            }
        default: throw .invalid(offset: start)
        }
    }
}

/// The parameters of one widget instance: WidgetKit's configuration intent, as typed values by name.
///
/// Sorted by name, each name once; an absent parameter is not listed. Nested parameters are flattened to dotted
/// names (`venue.city`).
package struct Configuration: Hashable, Sendable {
    package struct Parameter: Hashable, Sendable {
        package let name: String
        package let value: ParameterValue

        package init(name: String, value: ParameterValue) {
            self.name = name
            self.value = value
        }
    }

    package let parameters: [Parameter]

    package static let empty = Configuration([])

    /// Sorts by name. Precondition: no name occurs twice.
    package init(_ parameters: [Parameter]) {
        let sorted = parameters.sorted { $0.name < $1.name }
        for index in sorted.indices.dropFirst() {
            precondition(sorted[index - 1].name != sorted[index].name, "a parameter occurs twice")
        }
        self.parameters = sorted
    }

    /// The value of a parameter, or nil if it is absent. O(log n).
    package subscript(name: String) -> ParameterValue? {
        var low = 0
        var high = self.parameters.count
        while low < high {
            let middle = (low + high) / 2
            if self.parameters[middle].name < name { low = middle + 1 } else { high = middle }
        }
        guard low < self.parameters.count, self.parameters[low].name == name else { return nil }
        return self.parameters[low].value
    }

    package func encode(into writer: inout ByteWriter) {
        writer.write(each: self.parameters) { writer, parameter in
            writer.write(parameter.name)
            parameter.value.encode(into: &writer)
        }
    }

    package init(from reader: inout ByteReader) throws(ByteError) {
        let start = reader.offset
        let parameters = try reader.readEach { (reader) throws(ByteError) in
            Parameter(name: try reader.readString(), value: try ParameterValue(from: &reader))
        }
        for index in parameters.indices.dropFirst() where parameters[index - 1].name >= parameters[index].name {
            throw .invalid(offset: start)
        }
        self.parameters = parameters
    }
}
