package import WidgetModel

/// The bytes of answers about a partition as a whole, see ``HostView/coding``.

extension EngineProgress: FieldCoded {
    package static let coding = Fields(Self.init, \.totals, \.nextTimer, \.runningHash)
}

extension OrphanCount: FieldCoded {
    package static let coding = Fields(Self.init, \.count, \.next)
}

extension RegistryUsage: FieldCoded {
    package static let coding = Fields(Self.init, \.hosts, \.instances, \.tombstones, \.textBytes)
}

extension AppUsage: FieldCoded {
    package static let coding = Fields(Self.init, \.app, \.team, \.usage)
}

extension TableBytes: ByteCoded {
    package func encode(into writer: inout ByteWriter) { EngineTable.allCases.map { self[$0] }.encode(into: &writer) }

    package init(from reader: inout ByteReader) throws(ByteFault) {
        self.init()
        let bytes: [Int] = try reader.readRow(of: EngineTable.allCases.count)
        for (table, count) in zip(EngineTable.allCases, bytes) { self[table] = count }
    }
}

extension SenderView: FieldCoded {
    package static let coding = Fields(
        Self.init,
        \.team,
        \.pushes,
        \.repeats,
        \.matched,
        \.unchanged,
        \.refused,
        \.charged,
        \.exempt,
        \.collateral,
        \.collateralOver
    )
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

    package init(from reader: inout ByteReader) throws(ByteFault) {
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
        writer.write(each: self.orders) { writer, order in
            order.encode(into: &writer)
            writer.write(order.isConfigured)
        }
        self.amendments.encode(into: &writer)
    }

    package init(from reader: inout ByteReader) throws(ByteFault) {
        self.settings = try EngineSettings?(from: &reader)
        self.orders = try reader.readEach { (reader) throws(ByteFault) in
            var order = try StandingOrder(from: &reader)
            order.isConfigured = try reader.readBool()
            return order
        }
        self.amendments = try Array(from: &reader)
    }
}

extension KindBehind: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        self.app.encode(into: &writer)
        self.kind.encode(into: &writer)
        self.instances.encode(into: &writer)
        self.counts.encode(into: &writer)
        self.late.encode(into: &writer)
        self.oldest.encode(into: &writer)
    }

    package init(from reader: inout ByteReader) throws(ByteFault) {
        self.init(
            app: try BundleID(from: &reader),
            kind: try WidgetKind(from: &reader),
            instances: try Int(from: &reader),
            counts: try reader.readRow(of: BehindReason.allCases.count),
            late: try Int(from: &reader),
            oldest: try Instant?(from: &reader)
        )
    }
}

// MARK: - Surveys

extension SurveyStep: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        self.survey.encode(into: &writer)
        self.out.encode(into: &writer)
        self.next.encode(into: &writer)
    }

    package init(from reader: inout ByteReader) throws(ByteFault) {
        let survey = try BudgetSurvey(from: &reader)
        let start = reader.offset
        let out = try [OutToHost](from: &reader)
        guard out.allSatisfy({ survey.kinds.indices.contains($0.kind.index) }) else { throw .invalid(offset: start) }
        self.init(survey: survey, out: out, next: try InstanceNumber?(from: &reader))
    }
}

extension SurveyStep.OutToHost: FieldCoded {
    package static let coding = Fields(Self.init, \.kind, \.host)
}

extension BudgetSurvey: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        writer.write(self.from)
        self.kinds.encode(into: &writer)
        self.asked.encode(into: &writer)
        self.planned.encode(into: &writer)
    }

    package init(from reader: inout ByteReader) throws(ByteFault) {
        self.init(from: try reader.readInstant())
        self.kinds = try Array(from: &reader)
        self.asked = try reader.readRow(of: self.asked.count)
        self.planned = try reader.readRow(of: self.planned.count)
    }
}

extension BudgetSurvey.KindRow: ByteCoded {
    private static let numbers: [any WritableKeyPath<Self, Int> & Sendable] = [
        \.instances, \.pushEnabled, \.orphaned, \.unlimited, \.exhausted, \.waiting, \.waitingPushes, \.away, \.charged,
        \.allowance,
    ]

    package func encode(into writer: inout ByteWriter) {
        self.app.encode(into: &writer)
        self.kind.encode(into: &writer)
        for number in Self.numbers { self[keyPath: number].encode(into: &writer) }
        self.left.encode(into: &writer)
        self.exhaustedWithin.encode(into: &writer)
    }

    package init(from reader: inout ByteReader) throws(ByteFault) {
        self.init(app: try BundleID(from: &reader), kind: try WidgetKind(from: &reader))
        for number in Self.numbers { self[keyPath: number] = try Int(from: &reader) }
        self.left = try reader.readRow(of: self.left.count)
        self.exhaustedWithin = try reader.readRow(of: self.exhaustedWithin.count)
    }
}

// MARK: - Counts

extension OutcomeCounts: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        PushOutcome.allCases.map { self[$0] }.encode(into: &writer)
        FailureReason.allCases.map { self[$0] }.encode(into: &writer)
    }

    package init(from reader: inout ByteReader) throws(ByteFault) {
        self.init()
        let counts: [Int] = try reader.readRow(of: PushOutcome.allCases.count)
        for (outcome, count) in zip(PushOutcome.allCases, counts) { self[outcome] = count }
        let failures: [Int] = try reader.readRow(of: FailureReason.allCases.count)
        for (reason, count) in zip(FailureReason.allCases, failures) { self[reason] = count }
    }
}

extension ByteReader {
    /// A list of exactly so many.
    mutating func readRow<Element: ByteCoded>(of count: Int) throws(ByteFault) -> [Element] {
        let start = self.offset
        let row = try [Element](from: &self)
        guard row.count == count else { throw .invalid(offset: start) }
        return row
    }
}
