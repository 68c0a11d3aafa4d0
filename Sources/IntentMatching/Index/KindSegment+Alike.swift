import WidgetModel

/// Filling a segment with many instances that are configured alike, as those of a snapshot are.
extension KindSegment {
    /// While a segment is loaded, it is seen after so many rows whether configurations repeat.
    private static let surveyedRows = 65_536

    /// How many rows there may be until it is seen whether configurations repeat.
    var rowsToSurvey: Int {
        guard case .observed(let least) = self.interning else { return Int.max }
        let surveyed = max(least, Self.surveyedRows)
        return self.table.rowCount < surveyed ? surveyed - self.table.rowCount : Int.max
    }

    /// Adds an instance that has the values of a row but for the host: nothing is looked up.
    ///
    /// - Returns: Its row; nil if the row is not one of a class, and nothing has changed.
    mutating func append(_ instance: UInt32, like row: UInt32, host: HostNumber) -> UInt32? {
        guard row & Self.sharedFlag != 0 else { return nil }
        let number = self.classes.classNumber(Int(row & ~Self.sharedFlag))
        self.classes.retain(number)
        return UInt32(self.classes.append(instance, number, host: self.code(ofHost: host))) | Self.sharedFlag
    }

    /// While loading: decides by the rows so far whether those that come become rows of classes at once, and makes them so.
    ///
    /// - Returns: The instances that have another row now.
    mutating func shareEarly() -> [(instance: UInt32, row: UInt32)] {
        guard case .observed(let least) = self.interning, !self.isShared,
            self.table.rowCount == max(least, Self.surveyedRows)
        else { return [] }
        guard self.shareLoaded(keepsLoading: true) else { return [] }
        return (0..<self.classes.rowCount).map { (self.classes.instances[$0], UInt32($0) | Self.sharedFlag) }
    }
}
