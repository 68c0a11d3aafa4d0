import WidgetModel

/// The list of the reloads that are out for an instance, oldest first. One of them has a number that means something only
/// together with the instance: its own.
extension Engine {
    /// A reload whole, by its number.
    @inline(__always)
    func reload(_ reload: UInt32, of instance: UInt32) -> ReloadTable.Row {
        reload == ReloadTable.own ? ReloadTable.Row(own: self.instances[instance].ownReload) : self.reloads[reload]
    }

    /// What every reload has, by its number.
    @inline(__always)
    func stored(_ reload: UInt32, of instance: UInt32) -> ReloadTable.Stored {
        reload == ReloadTable.own ? self.instances[instance].ownReload : self.reloads[stored: reload]
    }

    /// Gives each reload of an instance's row to `body`, the oldest first.
    @inline(__always)
    func forEachReload(of instance: borrowing InstanceTable.Row, _ body: (ReloadTable.Row) -> Void) {
        var reload = instance.firstReload
        while reload != ReloadTable.none {
            let row =
                reload == ReloadTable.own ? ReloadTable.Row(own: instance.ownReload) : self.reloads[reload]
            body(row)
            reload = row.next
        }
    }

    /// The reload of an instance that was issued at a position, if it is still out.
    ///
    /// They lie in the order of their positions. The newest is looked at first, the others from the oldest on, and only as
    /// far as they are older: while a provider is down, thousands may be out for one instance. O(those that are older).
    @inline(__always)
    func reload(_ position: LogPosition, of instance: UInt32) -> UInt32? {
        let last = self.instances[instance].lastReload
        guard last != ReloadTable.none else { return nil }
        var found = self.stored(last, of: instance).position
        guard found > position else { return found == position ? last : nil }
        var slot = self.instances[instance].firstReload
        found = self.stored(slot, of: instance).position
        while found < position {
            slot = self.stored(slot, of: instance).next
            found = self.stored(slot, of: instance).position
        }
        return found == position ? slot : nil
    }

    /// Makes a reload the newest of an instance. It lies in the instance's row if it is the only one and serves no push.
    mutating func append(_ row: ReloadTable.Row, to instance: UInt32) {
        let last = self.instances[instance].lastReload
        if last == ReloadTable.none, let own = ReloadTable.own(row) {
            return self.instances.keepReload(instance, own)
        }
        let slot = self.reloads.insert(row)
        if last == ReloadTable.none {
            self.instances[instance].firstReload = slot
        } else {
            self.link(last, to: slot, of: instance)
        }
        self.instances[instance].lastReload = slot
        let expires = row.expiresAt.milliseconds
        if expires < self.instances[instance].reloadsExpire { self.instances[instance].reloadsExpire = expires }
    }

    private mutating func link(_ reload: UInt32, to next: UInt32, of instance: UInt32) {
        if reload == ReloadTable.own {
            self.instances.linkOwnReload(instance, to: next)
        } else {
            self.reloads.link(reload, to: next)
        }
    }

    /// Takes a reload out of its instance's list, and forgets it. O(reloads that are out for the instance).
    mutating func unlink(_ reload: UInt32, from instance: UInt32) {
        var previous = ReloadTable.none
        var slot = self.instances[instance].firstReload
        var earliest = Int64.max
        while slot != ReloadTable.none {
            let row = self.stored(slot, of: instance)
            if slot == reload {
                if previous == ReloadTable.none {
                    self.instances[instance].firstReload = row.next
                } else {
                    self.link(previous, to: row.next, of: instance)
                }
                if row.next == ReloadTable.none { self.instances[instance].lastReload = previous }
            } else {
                earliest = min(earliest, row.expiresAt.milliseconds)
                previous = slot
            }
            slot = row.next
        }
        self.instances[instance].reloadsExpire = earliest
        if reload == ReloadTable.own { self.instances.dropReload(instance) } else { self.reloads.release(reload) }
    }
}
