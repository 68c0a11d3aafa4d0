package import WidgetModel

/// The bytes of answers about a partition as a whole, see ``HostView/coding``.

extension EngineProgress: FieldCoded {
    package static let coding = Fields(Self.init, \.totals, \.nextTimer, \.runningHash)
}

extension OrphanCount: FieldCoded {
    package static let coding = Fields(Self.init, \.count, \.next)
}

extension AppUsage: FieldCoded {
    package static let coding = Fields(Self.init, \.app, \.team, \.usage)
}

extension SenderView: FieldCoded {
    package static let coding = Fields(Self.init, \.team, \.counts)
}

extension Freshness: ByteCoded {}

extension EngineStats: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        self.position.encode(into: &writer)
        writer.write(self.time)
        self.rememberedSince.encode(into: &writer)
        for stat in EngineStat.all { self[keyPath: stat.member].encode(into: &writer) }
        self.outcomes.encode(into: &writer)
        self.reloadsExempt.encode(into: &writer)
        self.reloadsByCause.encode(into: &writer)
        self.freshness.encode(into: &writer)
        self.acknowledgement.encode(into: &writer)
        writer.write(varint: self.decisions)
    }

    package init(from reader: inout ByteReader) throws(ByteError) {
        self.init()
        self.position = try LogPosition(from: &reader)
        self.time = try reader.readInstant()
        self.rememberedSince = try Instant?(from: &reader)
        for stat in EngineStat.all { self[keyPath: stat.member] = try Int(from: &reader) }
        self.outcomes = try OutcomeCounts(from: &reader)
        self.reloadsExempt = try reader.readRow(of: self.reloadsExempt.count)
        self.reloadsByCause = try reader.readRow(of: self.reloadsByCause.count)
        self.freshness = try Freshness(from: &reader)
        self.acknowledgement = try Freshness(from: &reader)
        self.decisions = try reader.readVarint()
    }
}

extension InForce: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        self.settings.encode(into: &writer)
        self.settingsVersion.encode(into: &writer)
        self.rules.encode(into: &writer)
        writer.write(each: self.orders) { writer, order in
            order.encode(into: &writer)
            writer.write(order.isConfigured)
        }
        self.amendments.encode(into: &writer)
    }

    package init(from reader: inout ByteReader) throws(ByteError) {
        self.settings = try EngineSettings?(from: &reader)
        self.settingsVersion = try Int(from: &reader)
        self.rules = try Int(from: &reader)
        self.orders = try reader.readEach { (reader) throws(ByteError) in
            var order = try StandingOrder(from: &reader)
            order.isConfigured = try reader.readBool()
            return order
        }
        self.amendments = try Array(from: &reader)
    }
}

extension KindBehind: FieldCoded {
    package static let coding = Fields(Self.init, \.app, \.kind, \.instances, \.counts, \.late, \.oldest)
    package var isPossible: Bool { self.counts.count == BehindReason.allCases.count }
}

// MARK: - Surveys

extension SurveyStep: FieldCoded {
    package static let coding = Fields(Self.init, \.survey, \.out, \.next)
    package var isPossible: Bool { self.out.allSatisfy { self.survey.kinds.indices.contains($0.kind.index) } }
}

extension SurveyStep.OutToHost: FieldCoded {
    package static let coding = Fields(Self.init, \.kind, \.host)
}

extension BudgetSurvey: FieldCoded {
    package static let coding = Fields(Self.init, \.from, \.kinds, \.asked, \.planned)
    package var isPossible: Bool {
        self.asked.count == Self.reloadForecastSeconds && self.planned.count == Self.reloadForecastSeconds
    }
}

extension BudgetSurvey.KindRow: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        self.app.encode(into: &writer)
        self.kind.encode(into: &writer)
        for number in Self.numbers { self[keyPath: number].encode(into: &writer) }
        self.left.encode(into: &writer)
        self.exhaustedWithin.encode(into: &writer)
    }

    package init(from reader: inout ByteReader) throws(ByteError) {
        self.init(app: try BundleID(from: &reader), kind: try WidgetKind(from: &reader))
        for number in Self.numbers { self[keyPath: number] = try Int(from: &reader) }
        self.left = try reader.readRow(of: self.left.count)
        self.exhaustedWithin = try reader.readRow(of: self.exhaustedWithin.count)
    }
}

extension ByteReader {
    /// A list of exactly so many.
    mutating func readRow<Element: ByteCoded>(of count: Int) throws(ByteError) -> [Element] {
        let start = self.offset
        let row = try [Element](from: &self)
        guard row.count == count else { throw .invalid(offset: start) }
        return row
    }
}
