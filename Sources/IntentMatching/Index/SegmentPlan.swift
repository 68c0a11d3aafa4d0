/// How the rows of one table are found.
struct SegmentPlan: Sendable {
    /// One walk over a list of candidate rows. A row may be on several.
    struct Pass: Sendable {
        let column: Int
        let code: UInt32
        /// The number of candidates.
        let length: Int
        /// The checks that a candidate must pass.
        var filters: [RowCheck] = []
    }

    enum Path: Sendable {
        case nothing
        case everything
        /// Lists of rows by code, their rows verified on columns.
        case postings([Pass])
        /// A bit for each row, 65,536 rows at a time, from columns and lists.
        case dense(DenseProgram)
    }

    var path: Path
    /// Rows that are looked at.
    var candidates: Int

    /// Whether rows are found: once each, and ascending.
    var findsRows: Bool {
        if case .nothing = self.path { false } else { true }
    }
}
