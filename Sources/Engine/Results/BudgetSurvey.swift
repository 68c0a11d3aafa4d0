package import WidgetModel

/// The rest of the budgets of a partition's instances, and the dates of their timelines' requests: sums over all of
/// them, a number of rows at a time. Surveys of partitions can be added.
package struct BudgetSurvey: Hashable, Sendable {
    /// How many hours ahead the forecast looks.
    package static let forecastHours = 24
    /// How many seconds ahead policy reloads are counted.
    package static let reloadForecastSeconds = 3600
    /// The rows of the histogram of the rest.
    package static let leftRows = 10

    /// The instances of one kind.
    package struct KindRow: Hashable, Sendable {
        package let app: BundleID
        package let kind: WidgetKind
        package var instances = 0
        package var pushEnabled = 0
        package var orphaned = 0
        /// Instances whose policy has no limit.
        package var unlimited = 0
        /// Those with nothing left in the present window.
        package var exhausted = 0
        /// Those for which anything waits, and how many pushes do.
        package var waiting = 0
        package var waitingPushes = 0
        /// Instances with a reload that is outstanding to a host without an open event stream.
        package var away = 0
        /// Sums over the instances with a limit.
        package var charged = 0
        package var allowance = 0
        /// By tenths of the allowance that is left.
        package var left = Array(repeating: 0, count: BudgetSurvey.leftRows)
        /// How many will have nothing left by the end of each coming hour, the ones that have nothing left now first.
        package var exhaustedWithin = Array(repeating: 0, count: BudgetSurvey.forecastHours + 1)

        /// The members that are one number each.
        static let numbers: [any WritableKeyPath<Self, Int> & Sendable] = [
            \.instances, \.pushEnabled, \.orphaned, \.unlimited, \.exhausted, \.waiting, \.waitingPushes, \.away,
            \.charged, \.allowance,
        ]

        package init(app: BundleID, kind: WidgetKind) {
            self.app = app
            self.kind = kind
        }

        /// Adds another survey's row of the same kind.
        package static func += (sum: inout KindRow, other: KindRow) {
            for number in Self.numbers { sum[keyPath: number] += other[keyPath: number] }
            for index in sum.left.indices { sum.left[index] += other.left[index] }
            for index in sum.exhaustedWithin.indices { sum.exhaustedWithin[index] += other.exhaustedWithin[index] }
        }
    }

    /// From when on policy reloads are counted.
    package let from: Instant
    /// By the partition's numbers of kinds, those without instances included.
    package internal(set) var kinds: [KindRow] = []
    /// Policy reloads by the second, from ``from`` on: when timelines ask for the next ones, and when that is done after
    /// smoothing. Only those that the gateway does: hosts that run their own timelines are not smoothed.
    package internal(set) var asked = Array(repeating: UInt32(0), count: BudgetSurvey.reloadForecastSeconds)
    package internal(set) var planned = Array(repeating: UInt32(0), count: BudgetSurvey.reloadForecastSeconds)

    /// Adds another partition's survey from the same instant.
    package static func += (sum: inout BudgetSurvey, other: BudgetSurvey) {
        for row in other.kinds where row.instances > 0 {
            if let index = sum.kinds.firstIndex(where: { $0.app == row.app && $0.kind == row.kind }) {
                sum.kinds[index] += row
            } else {
                sum.kinds.append(row)
            }
        }
        sum.addReloads(of: other)
    }

    /// Adds the next rows of the same partition, in which kinds have the same numbers.
    ///
    /// - Parameter isConnected: Whether a host has an open event stream; called for hosts with a reload that is
    ///   outstanding to a stream.
    package mutating func add(_ step: SurveyStep, isConnected: (HostKey) -> Bool = { _ in true }) {
        for (number, row) in step.survey.kinds.enumerated() {
            if number < self.kinds.count { self.kinds[number] += row } else { self.kinds.append(row) }
        }
        self.addReloads(of: step.survey)
        for out in step.out where !isConnected(out.host) { self.kinds[out.kind.index].away += 1 }
    }

    private mutating func addReloads(of other: BudgetSurvey) {
        for second in self.asked.indices {
            self.asked[second] += other.asked[second]
            self.planned[second] += other.planned[second]
        }
    }
}

extension BudgetSurvey {
    package init(from: Instant) { self.init(from: from, kinds: []) }
}

/// The contribution of some rows of a partition to a survey.
package struct SurveyStep: Hashable, Sendable {
    /// An instance with a reload that is outstanding to its host's event stream.
    package struct OutToHost: Hashable, Sendable {
        package let kind: KindNumber
        package let host: HostKey
    }

    /// Without ``BudgetSurvey/KindRow/away``, since engines do not know of streams.
    package let survey: BudgetSurvey
    package let out: [OutToHost]
    /// Where the next step begins; nil at the end.
    package let next: InstanceNumber?
}
