import Scenarios

extension Dice {
    /// The purpose of dice.
    enum Role: UInt64 {
        case host = 1
        case sender = 2
        case provider = 3
        case schedule = 4
    }

    /// Dice of their own for one of many.
    init(seed: UInt64, for role: Role, _ number: Int) {
        self.init(seed: seed, role: role.rawValue, number: number)
    }
}
