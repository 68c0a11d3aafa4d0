import BasicContainers
import Storage
import WidgetModel

/// Filling a segment with many instances field by field, not one by one: the tables for look-ups of values stay in the
/// processor's cache, and columns are written in one go.
extension KindSegment {
    /// So many instances at once: their values fit into the processor's first cache.
    private static let batchMax = 128
    /// Fewer are not worth it.
    private static let batchMin = 8

    /// Appends the first of some instances, those with the same parameters in the same order.
    ///
    /// - Parameters:
    ///   - instances: The instances, which are not known.
    ///   - batch: Memory for the codes that are made of their values.
    /// - Returns: How many these are: none, if they are to be appended one by one. Their rows follow those before.
    mutating func append(_ instances: Span<PlainInstance>, _ batch: inout ValueBatch) -> Int {
        guard self.isLoading, self.conditionField == nil else { return 0 }
        let limit = min(instances.count, Self.batchMax)
        guard limit >= Self.batchMin, let places = self.places(of: instances[0].configuration) else { return 0 }
        let count = Self.alike(instances.extracting(first: limit))
        guard count >= Self.batchMin else { return 0 }
        let instances = instances.extracting(first: count)
        for field in self.fields.indices {
            batch.start()
            switch field {
            case Self.familyField: self.encodeFamilies(instances, &batch)
            case Self.hostField:
                for index in instances.indices { batch.codes.append(self.code(ofHost: instances[index].host)) }
            default:
                if let place = places.firstIndex(of: field) {
                    self.encode(field, place, instances, &batch)
                } else {
                    self.encodeAbsent(field, count, &batch)
                }
            }
            self.table.columns[field].append(batch)
        }
        self.table.finishBatch(count)
        for index in instances.indices { self.instances.append(instances[index].instance) }
        return count
    }

    /// By place in a configuration, the field of the parameter there; nil if one is new.
    private func places(of configuration: Configuration) -> [Int]? {
        var places: [Int] = []
        var expected = Self.firstParameter
        for parameter in configuration.parameters {
            guard let field = self.fields.index(named: parameter.name.utf8.span, expected: expected) else {
                return nil
            }
            places.append(field)
            expected = field + 1
        }
        return places
    }

    /// How many instances from the first on have the same parameters in the same order, all with names in ASCII.
    private static func alike(_ instances: Span<PlainInstance>) -> Int {
        let names = instances[0].configuration.parameters.map(\.name)
        guard names.allSatisfy({ $0.utf8.allSatisfy { $0 < 0x80 } }) else { return 0 }
        for index in instances.indices {
            let parameters = instances[index].configuration.parameters.span
            guard parameters.count == names.count else { return index }
            for place in parameters.indices {
                let name = parameters[place].name
                // A name that equals a text in ASCII with other bytes is longer.
                guard name == names.span[place], name.utf8.count == names.span[place].utf8.count else { return index }
            }
        }
        return instances.count
    }

    private mutating func encodeFamilies(_ instances: Span<PlainInstance>, _ batch: inout ValueBatch) {
        var known = InlineArray<32, UInt32>(repeating: 0)
        for index in instances.indices {
            let family = Int(instances[index].family.rawValue)
            if known[family] == 0 {
                known[family] = self.fields[Self.familyField].dictionary.internCode(of: Self.familyNames[family])
            } else {
                self.fields[Self.familyField].dictionary.retain(known[family])
            }
            batch.codes.append(known[family])
        }
    }

    /// Those of a field that none of the instances has.
    private func encodeAbsent(_ field: Int, _ count: Int, _ batch: inout ValueBatch) {
        for _ in 0..<count {
            // No instance is without tags: there may be none of them.
            if field == self.tagsField { batch.addEmpty() } else { batch.codes.append(0) }
        }
    }

    private mutating func encode(
        _ field: Int,
        _ place: Int,
        _ instances: Span<PlainInstance>,
        _ batch: inout ValueBatch
    ) {
        let seed = self.fields[field].dictionary.seed
        batch.add(instances, place: place, seed: seed)
        self.fields[field].internCodes(of: &batch) { row, element in
            let value = instances[row].configuration.parameters.span[place].value
            if case .array(let elements) = value { return elements[element] }
            return value
        }
    }
}
