/// The limits of one match pattern. Beyond a limit the gateway refuses it with the place in the pattern.
package struct PatternLimits: Hashable, Sendable {
    /// The most objects inside one another, those of operators not counted. Default 8; more than 24 counts as 24.
    package var depthMax: Int
    /// The most conditions in all; each literal of an `anything-but` is one. Default 1,024.
    package var atomsMax: Int
    /// The most elements of one list, `$or` included. Default 512.
    package var listMax: Int
    /// The longest string in bytes of UTF-8. Default 1,024.
    package var stringBytesMax: Int
    /// The most stars of one wildcard. Default 8.
    package var starsMax: Int
    /// The most that asking it may cost, in steps, see ``MatchPattern/cost``. Default 512.
    package var costMax: Int
    /// The setting that ``costMax`` comes from, for messages.
    package var costSetting: String

    /// For conditions of instances, each of which a push may have to check: 64 steps.
    package static let conditions = PatternLimits(costMax: 64, costSetting: "limits.maxConditionCost")

    package init(
        depthMax: Int = 8,
        atomsMax: Int = 1024,
        listMax: Int = 512,
        stringBytesMax: Int = 1024,
        starsMax: Int = 8,
        costMax: Int = 512,
        costSetting: String = "limits.maxPatternCost"
    ) {
        self.depthMax = depthMax
        self.atomsMax = atomsMax
        self.listMax = listMax
        self.stringBytesMax = stringBytesMax
        self.starsMax = starsMax
        self.costMax = costMax
        self.costSetting = costSetting
    }
}
