import Timelines
import WidgetModel

extension GatewayConfiguration {
    mutating func visitPolicies(_ visitor: inout some SettingsVisitor) {
        var drafts = self.policies.map { PolicyDraft($0) }
        visitor.records("policies", &drafts, empty: PolicyDraft()) { draft, visitor in
            draft.visit(&visitor, isNamed: true)
        }
        self.policies = drafts.map(\.policy)
        visitor.scalars("policyFiles", &self.policyFiles, .fileName)
    }
}

/// A budget as an app or a kind chooses it: by name, or in full.
struct BudgetChoice: Sendable {
    private var name: String?
    private var own: PolicyDraft?

    init() {}

    init(_ policy: BudgetPolicy, named policies: [BudgetPolicy]) {
        if (policies + BudgetPolicy.presets).contains(policy) {
            self.name = policy.name
        } else {
            self.own = PolicyDraft(policy)
        }
    }

    /// The policy, or nil if none was chosen or the name is unknown.
    func policy(named policies: [BudgetPolicy]) -> BudgetPolicy? {
        if let own { return own.policy }
        return (policies + BudgetPolicy.presets).first { $0.name == self.name }
    }

    mutating func visit(_ key: String, _ visitor: inout some SettingsVisitor, named policies: [BudgetPolicy]) {
        visitor.nameOrSection(key, &self.name, &self.own, empty: PolicyDraft()) { draft, visitor in
            draft.visit(&visitor, isNamed: false)
        }
        guard let name, self.own == nil, self.policy(named: policies) == nil else { return }
        let known = (BudgetPolicy.presets + policies).map(\.name)
        let hint =
            known.closest(to: name).map { "; did you mean \($0)?" } ?? "; the policies are "
            + known.phrase(joinedBy: "and")
        visitor.fault(key, "there is no budget policy \(name.quotedForMessage)\(hint)")
    }
}

/// A budget policy as the file writes it: a preset and the differences from it.
struct PolicyDraft: Sendable {
    private enum WindowKind: Hashable, Sendable {
        case fixed(Interval)
        case tuned
        case none
    }

    private(set) var policy: BudgetPolicy
    private var preset: BudgetPolicy
    private var window: WindowKind
    private var anchor: BudgetPolicy.Anchor?

    init(_ policy: BudgetPolicy) {
        self.policy = policy
        self.preset = .widgetkit
        self.window = .none
        self.takeWindow()
    }

    /// The default preset, under a name that says whose it is now.
    init() {
        self.init(Self.based(on: .widgetkit))
    }

    private static func based(on preset: BudgetPolicy) -> BudgetPolicy {
        var policy = preset
        policy.name = "own"
        policy.source = "the operator, from \(preset.name)"
        return policy
    }

    private mutating func takeWindow() {
        self.anchor = nil
        switch self.policy.window {
        case .fixed(let length, let anchor):
            self.window = .fixed(length)
            self.anchor = anchor
        case .tuned: self.window = .tuned
        case .none: self.window = .none
        }
    }

    /// - Parameters:
    ///   - isNamed: Whether it needs a name of its own.
    ///   - isSourced: Whether it has to say where its numbers are from, and of when.
    mutating func visit(_ visitor: inout some SettingsVisitor, isNamed: Bool, isSourced: Bool = false) {
        let before = self.preset
        visitor.scalar("preset", &self.preset, .name(of: BudgetPolicy.presets.map { ($0.name, $0) }))
        if self.preset != before {
            self.policy = Self.based(on: self.preset)
            self.takeWindow()
        }
        visitor.scalar("name", &self.policy.name, .label, isRequired: isNamed)
        visitor.scalar("source", &self.policy.source, .label, isRequired: isSourced)
        visitor.scalar("date", &self.policy.date, .label, isRequired: isSourced)
        visitor.scalar("window", &self.window, Self.windowType)
        // The anchor that stands here is the preset's; a window that is not fixed has none.
        if case .fixed = self.window {} else { self.anchor = nil }
        visitor.optional("anchor", &self.anchor, .name(of: [("host", .hostHash), ("utc", .utc)]))
        switch self.window {
        case .fixed(let length): self.policy.window = .fixed(length: length, anchor: self.anchor ?? .hostHash)
        case .tuned: self.policy.window = .tuned
        case .none: self.policy.window = .none
        }
        if self.anchor != nil, self.policy.isUnlimited || self.policy.window == .tuned {
            visitor.fault("anchor", "only works with a window of fixed length; remove it or set window: 24h")
        }
        visitor.scalar("rare", &self.policy.rare, .integer(0...BudgetPolicy.allowanceMax))
        visitor.scalar("typical", &self.policy.typical, .integer(0...BudgetPolicy.allowanceMax))
        visitor.scalar("frequent", &self.policy.frequent, .integer(0...BudgetPolicy.allowanceMax))
        visitor.scalar("burstDivisor", &self.policy.burstDivisor, .integer(2...BudgetPolicy.allowanceMax))
        visitor.scalar("minimumInterval", &self.policy.minimumInterval, .duration(.zero ... .day))
        visitor.scalar("exemptInterval", &self.policy.exemptInterval, .duration(.zero ... .day))
        visitor.scalar("pushShare", &self.policy.pushShare, .share)
        visitor.section("learning") { visitor in
            visitor.scalar("factor", &self.policy.learning.factor, .share)
            visitor.scalar("days", &self.policy.learning.days, .integer(0...365))
        }
        visitor.scalar("scope", &self.policy.scope, .name(of: [("instance", .instance), ("host", .host)]))
        visitor.scalar("thinning", &self.policy.thinning, .integer(0...100))
        visitor.scalar(
            "atEnd",
            &self.policy.atEnd,
            .name(of: [("documentation", .documentation), ("wwdc21", .wwdc21)])
        )
        visitor.scalar("rolling", &self.policy.isRolling, .flag)
        visitor.scalar("smoothing", &self.policy.smoothing, .duration(.zero...BudgetPolicy.smoothingMax))
        visitor.scalar("lowPower", &self.policy.lowPower, .share)
        for fault in self.policy.faults() { visitor.fault(fault.field, fault.message) }
    }

    private static var windowType: SettingType<WindowKind> {
        let duration = SettingType<Interval>.duration(.minutes(1) ... .days(7))
        return SettingType(
            phrase: "a length in whole minutes from 1m to 7d (24h), tuned or none",
            isText: true,
            value: { text in
                switch text {
                case "tuned": .tuned
                case "none": WindowKind.none
                default: duration.value(text).map { .fixed($0) }
                }
            },
            json: { window in
                switch window {
                case .fixed(let length): duration.json(length)
                case .tuned: .string("tuned")
                case .none: .string("none")
                }
            },
            schema: JSONSchema.either(duration.schema, JSONSchema.choice([.string("tuned"), .string("none")]))
        )
    }
}

extension SettingType<BudgetPolicy.Share> {
    /// An exact fraction: `3/4`, or `1`.
    static let share = SettingType(
        phrase: "a fraction of two integers, such as 3/4",
        isText: true,
        value: { text in
            let parts = text.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count <= 2, let numerator = Int(parts[0]),
                let denominator = Int(parts.count == 2 ? parts[1] : "1"),
                (0...1_000_000).contains(numerator), (1...1_000_000).contains(denominator)
            else { return nil }
            return BudgetPolicy.Share(numerator, of: denominator)
        },
        json: { .string("\($0.numerator)/\($0.denominator)") },
        schema: JSONSchema.text("^[0-9]+(/[0-9]+)?$", orIntegersIn: 0...1_000_000)
    )
}
