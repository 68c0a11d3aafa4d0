import Timelines
import WidgetModel

/// Which groups of fields a snapshot says of an instance: those in which anything is not as at first.
struct InstanceGroups: OptionSet {
    let rawValue: UInt16

    /// ``InstanceDetails/Particulars`` beside the tags, ``InstanceDetails/Content`` and ``InstanceDetails/Observed``.
    static let conditionOrControl = InstanceGroups(rawValue: 1 << 0)
    static let content = InstanceGroups(rawValue: 1 << 1)
    static let observed = InstanceGroups(rawValue: 1 << 2)
    /// What is charged and may be.
    static let budget = InstanceGroups(rawValue: 1 << 3)
    /// What it has while it is not at rest.
    static let active = InstanceGroups(rawValue: 1 << 4)
    /// Whether and how often it is looked at.
    static let views = InstanceGroups(rawValue: 1 << 5)
    /// What hardly any has.
    static let cold = InstanceGroups(rawValue: 1 << 6)

    static let details: InstanceGroups = [.conditionOrControl, .content, .observed]
    private static let known: InstanceGroups = [.details, .budget, .active, .views, .cold]

    init(rawValue: UInt16) { self.rawValue = rawValue }

    init(_ row: InstanceTable.Row, _ details: InstanceDetails.Whole) {
        var groups: InstanceGroups = []
        if let particulars = details.particulars, particulars.isConditionOrControl {
            groups.insert(.conditionOrControl)
        }
        if details.content?.isBlank == false || details.confirmedBy != .start { groups.insert(.content) }
        if let observed = details.observed, !observed.isBlank { groups.insert(.observed) }
        if row.budget != ReloadBudget() || row.windowMinute != 0 || row.allowance != 0 { groups.insert(.budget) }
        if row.isActive { groups.insert(.active) }
        if row.views != 0 || row.rate != .typical || row.visibleUntil != .min { groups.insert(.views) }
        if !row.rollingDay.isNone || row.granted != 0 || row.exemptReloads != 0
            || row.freeSetupAt != .min
        {
            groups.insert(.cold)
        }
        self = groups
    }

    func coded(by coder: inout some StateCoder) throws(ByteFault) -> InstanceGroups {
        let groups = InstanceGroups(rawValue: try coder.number(self.rawValue))
        guard groups.isSubset(of: Self.known) else { throw coder.fault() }
        return groups
    }
}
