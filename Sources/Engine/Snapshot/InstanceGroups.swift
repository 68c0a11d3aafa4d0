import Timelines
import WidgetModel

/// The groups of fields that a snapshot has of an instance: those in which a field does not have its first value.
struct InstanceGroups: OptionSet {
    let rawValue: UInt16

    /// ``InstanceDetails/ColdFields`` beside the tags, ``InstanceDetails/Content`` and ``InstanceDetails/Observed``.
    static let conditionOrControl = InstanceGroups(rawValue: 1 << 0)
    static let content = InstanceGroups(rawValue: 1 << 1)
    static let observed = InstanceGroups(rawValue: 1 << 2)
    /// The budget: the charges and the allowance.
    static let budget = InstanceGroups(rawValue: 1 << 3)
    /// Its row while it is not at rest.
    static let active = InstanceGroups(rawValue: 1 << 4)
    /// Whether and how often it is looked at.
    static let views = InstanceGroups(rawValue: 1 << 5)
    /// Fields that hardly any instance has.
    static let cold = InstanceGroups(rawValue: 1 << 6)

    static let details: InstanceGroups = [.conditionOrControl, .content, .observed]
    private static let known: InstanceGroups = [.details, .budget, .active, .views, .cold]

    init(rawValue: UInt16) { self.rawValue = rawValue }

    init(_ record: InstanceRecord, _ details: InstanceDetails.Whole) {
        var groups: InstanceGroups = []
        if let coldFields = details.coldFields, coldFields.isConditionOrControl {
            groups.insert(.conditionOrControl)
        }
        if details.content?.isBlank == false || details.confirmedBy != .start { groups.insert(.content) }
        if let observed = details.observed, !observed.isBlank { groups.insert(.observed) }
        let (resting, cold) = (record.resting, record.cold)
        if resting.budget != ReloadBudget() || resting.windowMinute != 0 || resting.allowance != 0 {
            groups.insert(.budget)
        }
        if resting.isActive { groups.insert(.active) }
        if resting.views != 0 || resting.rate != .typical || cold.visibleUntil != .distantPast { groups.insert(.views) }
        if !cold.rollingDay.isNone || resting.granted != 0 || cold.exemptReloads != 0
            || cold.freeSetupAt != .distantPast
        {
            groups.insert(.cold)
        }
        self = groups
    }

    func coded(by coder: inout some StateCoder) throws(ByteError) -> InstanceGroups {
        let groups = InstanceGroups(rawValue: try coder.number(self.rawValue))
        guard groups.isSubset(of: Self.known) else { throw coder.fault() }
        return groups
    }
}
