import Storage
package import WidgetModel

/// The data of a reload that leaves as a push to a token, in addition to its effect.
package struct OutgoingPush: Hashable, Sendable {
    /// The host's newest token, or the control's own.
    package let token: DeviceToken
    /// Whether the token is a control's.
    package let isControl: Bool
    /// The highest of the pushes that the reload serves; nil if it serves none.
    package let priority: Priority?
    /// That of the push that made the reload happen; nil if it has none.
    package let collapseID: CollapseID?
    package let expiresAt: Instant
    /// Whether the upstream may keep the push until then: false if none of its pushes may wait.
    package var mayWait: Bool
}

extension Engine {
    /// The push for an outstanding reload; nil if it has ended, or if its host has no token any more.
    ///
    /// O(instances of the host + pushes that the reload serves).
    package func outgoingPush(for id: ReloadID) -> OutgoingPush? {
        guard let instance = self.liveInstance(of: id),
            let reload = self.findReload(id.position, of: instance)
        else { return nil }
        let isControl = self.registry[coldFields: instance].controlToken != nil
        guard let token = self.token(of: instance) else { return nil }
        let row = self.reloads[reload]
        var collapseID: [UInt8] = []
        var mayWait = !row.causes.isSubset(of: ReloadCauses(.push))
        self.reloads.forEach(in: row.pushes) { number, match in
            mayWait = mayWait || match.expiresAt > row.issuedAt
            if number == row.primary { collapseID = self.ledger.pushes.collapseID(of: match.push) }
        }
        return OutgoingPush(
            token: token,
            isControl: isControl,
            priority: self.reloads.highestPriority(in: row.pushes),
            collapseID: collapseID.isEmpty ? nil : CollapseID(bytes: collapseID),
            expiresAt: row.expiresAt,
            mayWait: mayWait
        )
    }
}
