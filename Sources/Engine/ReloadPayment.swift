import WidgetModel

/// The cost of an issued reload for its instance.
enum ReloadPayment {
    case exempt(Exemption)
    /// A decision of its own, which conforms; `isPush` charges it to the pushes' share.
    case charged(isPush: Bool)
    /// Brought along by a push for another instance with the same token; `isPaid` if the budget that both share has
    /// paid for that already.
    case collateral(Collateral, isPaid: Bool)

    var exemption: Exemption? {
        if case .exempt(let exemption) = self { exemption } else { nil }
    }

    var collateral: Collateral? {
        if case .collateral(let collateral, _) = self { collateral } else { nil }
    }

    var reason: DecisionReason {
        switch self {
        case .exempt: .exempt
        case .charged: .conforms
        case .collateral(.conforming, _): .collateral
        case .collateral(.over, _): .collateralOver
        }
    }
}
