import WidgetModel

extension ActiveRow: Coded {
    func coded(by coder: inout some StateCoder) throws(ByteError) -> ActiveRow {
        var row = ActiveRow()
        row.pending = try self.pending.coded(by: &coder)
        row.high = try coder.number(self.high)
        row.normal = try coder.number(self.normal)
        row.waiting = ReloadCauses(rawValue: try coder.number(self.waiting.rawValue))
        row.reason = try coder.choice(self.reason)
        row.decidesAt = try coder.date(self.decidesAt)
        row.minExpiry = try coder.date(self.minExpiry)
        row.heldUntil = try coder.date(self.heldUntil)
        row.outstanding.first = try coder.slot(self.outstanding.first)
        row.outstanding.last = try coder.slot(self.outstanding.last)
        row.outstanding.expires = try coder.date(self.outstanding.expires)
        return row
    }
}
