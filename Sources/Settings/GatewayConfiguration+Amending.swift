import APNSWire
package import Engine
package import WidgetModel

extension AmendedEntry {
    /// The list of the configuration that the entry is in.
    package var list: String {
        switch self {
        case .team: "teams"
        case .app: "apps"
        }
    }

    /// The key of the entry's name.
    private var nameKey: String {
        switch self {
        case .team: "id"
        case .app: "bundleID"
        }
    }

    private var name: String {
        switch self {
        case .team(let team): team.rawValue
        case .app(let app): app.rawValue
        }
    }

    /// The key of the list of an entry's parts, and the key of a part's name: a team's keys, an app's kinds.
    package var parts: (list: String, nameKey: String) {
        switch self {
        case .team: ("keys", "id")
        case .app: ("kinds", "kind")
        }
    }

    /// An entry with its name, which a request has in its path and may leave out of its body.
    package func named(_ value: JSONValue) -> JSONValue { value.named(self.nameKey, self.name) }
}

extension JSONValue {
    /// An object with a name as its first member, unless it has one.
    package func named(_ key: String, _ name: String) -> JSONValue {
        guard case .object(let members) = self, self[key] == nil else { return self }
        return .object([Member(name: key, value: .string(name))] + members)
    }

    /// The value at a path of keys and places, as in `apps[0].kinds[1]`.
    fileprivate func value(at path: Substring) -> JSONValue? {
        path.split(whereSeparator: { ".[]".contains($0) }).reduce(self as JSONValue?) { value, step in
            guard case .array(let elements) = value else { return value?[String(step)] }
            return Int(step).flatMap { elements.indices.contains($0) ? elements[$0] : nil }
        }
    }

    /// It and all objects in it.
    fileprivate var objects: Set<JSONValue> {
        switch self {
        case .object(let members): members.reduce(into: [self]) { $0.formUnion($1.value.objects) }
        case .array(let elements): elements.reduce(into: []) { $0.formUnion($1.objects) }
        default: []
        }
    }
}

/// Teams and apps as the file describes them and requests change them: both have one form, and one reader.
extension GatewayConfiguration {
    /// An entry in the form that the file has, every key with its value; nil if there is none.
    package func json(of entry: AmendedEntry) -> JSONValue? {
        var alone = self.alone
        switch entry {
        case .team(let team): alone.teams = self.teams.filter { $0.id == team }
        case .app(let app): alone.apps = self.apps.filter { $0.bundleID == app }
        }
        var printer = SettingsPrinter()
        alone.visit(entry, &printer)
        guard case .array(let found) = printer.object[entry.list] else { return nil }
        return found.first
    }

    /// An entry as a request gives it, in the form that ``json(of:)`` has.
    ///
    /// - Parameter current: The entry as it is now: it may go on naming the files that it names.
    /// - Throws: Its own faults, whatever else the configuration says.
    package func reading(
        _ value: JSONValue,
        as entry: AmendedEntry,
        keeping current: JSONValue? = nil
    ) throws(SettingsError) -> JSONValue {
        let alone = try self.parse(value, as: entry)
        let known = (self.json(of: entry)?.objects ?? []).union(current?.objects ?? [])
        let faults = alone.fileFaults(entry, known)
        guard faults.isEmpty else { throw self.faults(faults, of: entry) }
        guard let read = alone.json(of: entry) else {
            throw self.faults([("", "has another name than the path")], of: entry)
        }
        return read
    }

    /// This configuration, as the file has it, with operators' changes by requests.
    ///
    /// - Throws: The faults of an entry, or of the whole because of the entries.
    package func amended(by amendments: [StandingAmendment]) throws(SettingsError) -> GatewayConfiguration {
        guard !amendments.isEmpty else { return self }
        var whole = self
        var faults: [SettingFault] = []
        for amendment in amendments {
            do throws(SettingsError) {
                try whole.takeAmendment(amendment, self)
            } catch {
                faults += error.faults
            }
        }
        guard faults.isEmpty else { throw SettingsError(faults) }
        let found = whole.faults()
        guard found.isEmpty else {
            throw SettingsError(found.map { whole.fault($0.path, $0.sentence, amendments) })
        }
        return whole
    }

    // MARK: Parts

    /// A configuration with nothing but the policies that apps may name.
    private var alone: GatewayConfiguration {
        var alone = GatewayConfiguration()
        (alone.policies, alone.filePolicies) = (self.policies, self.filePolicies)
        return alone
    }

    private mutating func visit(_ entry: AmendedEntry, _ visitor: inout some SettingsVisitor) {
        switch entry {
        case .team: self.visitSenders(&visitor)
        case .app: self.visitApps(&visitor)
        }
    }

    /// Puts an amended entry in the place of the file's, or behind the others.
    ///
    /// - Parameter file: The file's configuration.
    private mutating func takeAmendment(
        _ amendment: StandingAmendment,
        _ file: GatewayConfiguration
    ) throws(SettingsError) {
        let fresh = try amendment.value.map { (text) throws(SettingsError) in
            try file.parse(text: text, as: amendment.entry)
        }
        switch amendment.entry {
        case .team(let team): Self.replace(fresh?.teams ?? [], in: &self.teams) { $0.id == team }
        case .app(let app): Self.replace(fresh?.apps ?? [], in: &self.apps) { $0.bundleID == app }
        }
    }

    private static func replace<Entry>(_ fresh: [Entry], in all: inout [Entry], where isIt: (Entry) -> Bool) {
        let place = all.firstIndex(where: isIt) ?? all.count
        all.replaceSubrange(place..<min(place + 1, all.count), with: fresh)
    }

    private func parse(text: String, as entry: AmendedEntry) throws(SettingsError) -> GatewayConfiguration {
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONReader().parse(Array(text.utf8), limits: JSONLimits(bytesMax: text.utf8.count))
        } catch {
            throw self.faults([("", "is not JSON: \(error)")], of: entry)
        }
        return try self.parse(value, as: entry)
    }

    /// Reads an entry as the file's are read.
    private func parse(_ value: JSONValue, as entry: AmendedEntry) throws(SettingsError) -> GatewayConfiguration {
        let root = JSONValue.object([JSONValue.Member(name: entry.list, value: .array([value]))])
        var (alone, reader) = (self.alone, SettingsReader(name: entry.description))
        reader.read(root.node) { alone.visit(entry, &$0) }
        guard reader.faults.isEmpty else {
            throw self.faults(reader.faults.map { ($0.path, $0.sentence) }, of: entry)
        }
        return alone
    }

    /// Only the configuration file may name files: a caller of the API is not to read files by it, nor to send a secret elsewhere.
    ///
    /// - Parameter known: The sections that may name files.
    private func fileFaults(_ entry: AmendedEntry, _ known: Set<JSONValue>) -> [(path: String, sentence: String)] {
        var (alone, printer) = (self, SettingsPrinter())
        var resolver = FileNameResolver(places: [:], folders: ConfigurationFile.Folders())
        alone.visit(entry, &resolver)
        alone.visit(entry, &printer)
        return resolver.files.compactMap { named in
            let end = named.key.lastIndex(of: ".") ?? named.key.startIndex
            guard let section = printer.object.value(at: named.key[..<end]), !known.contains(section) else {
                return nil
            }
            let sentence =
                "names a file, which a request may only do if the configuration file has the same value; give a key as publicKey"
            return (named.key, sentence)
        }
    }

    /// A path in the entry that it begins with: `kinds[0].kind` for `apps[3].kinds[0].kind`.
    private static func inside(_ path: String) -> String {
        path.firstIndex(of: "]").map { String(path[$0...].dropFirst().drop { $0 == "." }) } ?? path
    }

    private func faults(_ found: [(path: String, sentence: String)], of entry: AmendedEntry) -> SettingsError {
        let place = SettingFault.Place.amendment(entry.description)
        return SettingsError(
            found.map { SettingFault(place: place, path: Self.inside($0.path), sentence: $0.sentence) }
        )
    }

    /// A fault of the whole, with the amendment that it is in.
    private func fault(_ path: String, _ sentence: String, _ amendments: [StandingAmendment]) -> SettingFault {
        let parts = path.split(whereSeparator: { "[]".contains($0) })
        let index = parts.count > 1 ? Int(parts[1]) : nil
        let entry: AmendedEntry? =
            switch (parts.first, index) {
            case ("teams", let index?): .team(self.teams[index].id)
            case ("apps", let index?): .app(self.apps[index].bundleID)
            default: nil
            }
        guard let entry, amendments[entry] != nil else {
            return SettingFault(place: .nowhere, path: path, sentence: sentence)
        }
        return SettingFault(place: .amendment(entry.description), path: Self.inside(path), sentence: sentence)
    }
}
