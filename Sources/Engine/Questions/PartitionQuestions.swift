import IntentMatching
import Storage
package import WidgetModel

/// The totals of a partition.
package struct TotalsQuestion: EngineQuestion {
    package static let coding = Fields(Self.init)

    package init() {}

    package func answer(from engine: borrowing Engine) -> EngineStats { engine.stats() }
}

/// The memory of each table of a partition, see ``Engine/tables``.
package struct TablesQuestion: EngineQuestion {
    package static let coding = Fields(Self.init)

    package init() {}

    package func answer(from engine: borrowing Engine) -> TableBytes { engine.tables }
}

/// How far a partition is, between two entries.
package struct ProgressQuestion: EngineQuestion {
    package static let coding = Fields(Self.init)

    package init() {}

    package var moment: QuestionMoment { .betweenEntries }

    package func answer(from engine: borrowing Engine) -> EngineProgress {
        EngineProgress(totals: engine.stats(), nextTimer: engine.nextTimer, runningHash: engine.runningHash)
    }
}

/// How far a partition's engine is.
package struct EngineProgress: Hashable, Sendable {
    /// The position and the log's time among them.
    package let totals: EngineStats
    /// When something is due if nothing is logged before; nil for never.
    package let nextTimer: Instant?
    /// Equal for equal histories.
    package let runningHash: UInt64
}

/// The settings, the pauses and the amendments in force, which are every partition's.
package struct InForceQuestion: EngineQuestion {
    package static let coding = Fields(Self.init)

    package init() {}

    package func answer(from engine: borrowing Engine) -> InForce {
        InForce(
            settings: engine.settings,
            settingsVersion: engine.settingsVersion,
            rules: engine.rules,
            orders: engine.standingOrders,
            amendments: engine.amendments
        )
    }
}

/// The settings that decisions depend on, and changes of the configuration by requests.
package struct InForce: Hashable, Sendable {
    /// Nil before the first.
    package let settings: EngineSettings?
    /// See ``Engine/settingsVersion``.
    package let settingsVersion: Int
    /// The decision rules by which the partition decides.
    package let rules: Int
    /// The pauses, in the order in which they were given.
    package let orders: [StandingOrder]
    /// The operators' changes of the configuration, in the order in which they began.
    package let amendments: [StandingAmendment]
}

/// Whether the subject of an order exists, see ``Engine/knows(_:)``.
package struct ExistenceQuestion: EngineQuestion {
    package static let coding = Fields(Self.init, \.scope)
    package let scope: OrderScope

    package init(of scope: OrderScope) { self.scope = scope }

    package func answer(from engine: borrowing Engine) -> Bool { engine.knows(self.scope) }
}

/// The costs of each sender's pushes here, in the order of the teams.
package struct SendersQuestion: EngineQuestion {
    package static let coding = Fields(Self.init)

    package init() {}

    package func answer(from engine: borrowing Engine) -> [SenderView] { engine.senders() }
}

/// Each app's part of the registry here, see ``Engine/appUsages``.
package struct UsagesQuestion: EngineQuestion {
    package static let coding = Fields(Self.init)

    package init() {}

    package func answer(from engine: borrowing Engine) -> [AppUsage] { engine.appUsages }
}

/// How many widgets are behind, by kind, see ``Engine/behind(longerThan:now:)``.
package struct BehindQuestion: EngineQuestion {
    package static let coding = Fields(Self.init, \.goal, \.now)
    /// How long one may be behind.
    package let goal: Interval
    /// The wall clock's time, if it is later than the log's.
    package let now: Instant

    package init(longerThan goal: Interval, now: Instant) { (self.goal, self.now) = (goal, now) }

    package func answer(from engine: borrowing Engine) -> [KindBehind] {
        engine.behind(longerThan: self.goal, now: self.now)
    }
}

/// The broadcast channels of an app, in the order of their ids: all of them, or the one with an id; none if this partition is not
/// the app's home.
package struct ChannelsQuestion: EngineQuestion {
    package static let coding = Fields(Self.init, \.app, \.id)
    package let app: BundleID
    package let id: ChannelID?

    package init(of app: BundleID, _ id: ChannelID? = nil) { (self.app, self.id) = (app, id) }

    package func answer(from engine: borrowing Engine) -> [Channel] {
        guard let id = self.id else { return engine.channels(app: self.app) }
        return engine.channel(id, app: self.app).map { [$0] } ?? []
    }
}

/// A part of a survey of budgets: some rows, from a number on.
package struct SurveyQuestion: EngineQuestion {
    package static let coding = Fields(Self.init, \.from, \.start)
    /// From when on policy reloads are counted.
    package let from: Instant
    /// Zero at first, then ``SurveyStep/next``.
    package let start: InstanceNumber

    package init(from: Instant, at start: InstanceNumber) { (self.from, self.start) = (from, start) }

    package func answer(from engine: borrowing Engine) -> SurveyStep {
        engine.survey(from: self.from, at: self.start, count: Engine.rowsPerAnswer)
    }
}

/// How many instances fit now and would not under other settings: of some rows, from a number on.
package struct OrphansQuestion: EngineQuestion {
    package static let coding = Fields(Self.init, \.settings, \.start)
    package let settings: EngineSettings
    /// Zero at first, then ``OrphanCount/next``.
    package let start: InstanceNumber

    package init(under settings: EngineSettings, at start: InstanceNumber) {
        (self.settings, self.start) = (settings, start)
    }

    package func answer(from engine: borrowing Engine) -> OrphanCount {
        var schemas: [BundleID: [WidgetKind: KindSchema]] = [:]
        for app in self.settings.apps {
            for kind in app.kinds { schemas[app.app, default: [:]][kind.schema.kind] = kind.schema }
        }
        let range = engine.registry.instanceNumbers(from: self.start, atMost: Engine.rowsPerAnswer)
        let count = range.count { instance in
            let row = engine.registry[instance]
            guard row.isLive, !row.isOrphaned else { return false }
            let kind = engine.catalogue[row.kind]
            let schema = schemas[engine.catalogue[kind.app].id]?[kind.name]
            return schema?.accepts(engine.registry.configuration(of: instance)) != true
        }
        let end = range.upperBound
        return OrphanCount(count: count, next: end.index < engine.registry.instanceEnd ? end : nil)
    }
}

/// How many of some instances would not fit.
package struct OrphanCount: Hashable, Sendable {
    package let count: Int
    /// Where the next step begins; nil at the end.
    package let next: InstanceNumber?
}
