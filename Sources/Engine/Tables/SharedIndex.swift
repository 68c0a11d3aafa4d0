import IntentMatching

/// An intent index in a value that is copied as an engine is: copies share it until one of them changes it.
struct SharedIndex: Sendable {
    /// Sound as `Sendable`: the index is changed only by a value that is its single owner.
    private final class Box: @unchecked Sendable {
        var index: IntentIndex

        init(_ index: consuming IntentIndex) { self.index = index }
    }

    private var box: Box

    init(_ index: consuming IntentIndex) { self.box = Box(index) }

    var index: IntentIndex {
        _read { yield self.box.index }
        _modify {
            if !isKnownUniquelyReferenced(&self.box) { self.box = Box(self.box.index.duplicate()) }
            yield &self.box.index
        }
    }
}
