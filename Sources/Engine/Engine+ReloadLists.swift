import WidgetModel

/// The list of the reloads that are out for an instance, oldest first.
extension Engine {
    /// Gives each reload of an instance's row to `body`, the oldest first.
    @inline(__always)
    func forEachReload(of instance: borrowing InstanceTable.Row, _ body: (ReloadTable.Row) -> Void) {
        var reload = instance.firstReload
        while !reload.isNone {
            let row = self.reloads[reload]
            body(row)
            reload = row.next
        }
    }

    /// The reload of an instance that was issued at a position, if it is still out.
    ///
    /// They lie in the order of their positions. The newest is looked at first, the others from the oldest on, and only as
    /// far as they are older: while a provider is down, thousands may be out for one instance. O(those that are older).
    @inline(__always)
    func reload(_ position: LogPosition, of instance: InstanceNumber) -> ReloadNumber? {
        let last = self.instances[instance].lastReload
        guard !last.isNone else { return nil }
        var found = self.reloads[stored: last].position
        guard found > position else { return found == position ? last : nil }
        var slot = self.instances[instance].firstReload
        found = self.reloads[stored: slot].position
        while found < position {
            slot = self.reloads[stored: slot].next
            found = self.reloads[stored: slot].position
        }
        return found == position ? slot : nil
    }

    /// Makes a reload the newest of an instance.
    mutating func append(_ row: ReloadTable.Row, to instance: InstanceNumber) {
        let last = self.instances[instance].lastReload
        let slot = self.reloads.insert(row)
        if last.isNone {
            self.instances[instance].firstReload = slot
        } else {
            self.reloads.link(last, to: slot)
        }
        self.instances[instance].lastReload = slot
        let expires = row.expiresAt.milliseconds
        if expires < self.instances[instance].reloadsExpire { self.instances[instance].reloadsExpire = expires }
    }

    /// Takes a reload out of its instance's list, and forgets it. O(reloads that are out for the instance).
    mutating func unlink(_ reload: ReloadNumber, from instance: InstanceNumber) {
        var previous = ReloadNumber.none
        var slot = self.instances[instance].firstReload
        var earliest = Int64.max
        while !slot.isNone {
            let row = self.reloads[stored: slot]
            if slot == reload {
                if previous.isNone {
                    self.instances[instance].firstReload = row.next
                } else {
                    self.reloads.link(previous, to: row.next)
                }
                if row.next.isNone { self.instances[instance].lastReload = previous }
            } else {
                earliest = min(earliest, row.expiresAt.milliseconds)
                previous = slot
            }
            slot = row.next
        }
        self.instances[instance].reloadsExpire = earliest
        self.reloads.release(reload)
    }
}
